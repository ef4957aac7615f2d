#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/problems/dirichlet_equations.hpp"
#include "fmbem/solvers/linear_solver.hpp"

namespace fmbem {

struct DirichletOptions {
  DirichletFormulation formulation = DirichletFormulation::direct;
  /// A tolerance of 0, as by default here, is a tenth of the solver's.
  OperatorOptions op{.tolerance = 0};
  SolverOptions solver{};
};

/// What Dirichlet data make.
struct DirichletSolution : DirichletDensities {
  SolveReport report;
};

/// Δu = 0 in a region of closed surfaces with u = g on them, vanishing at infinity where the region
/// reaches there; on the CPU. Operators and preconditioner serve any number of g. Uniquely solvable
/// for all g, as infinity and every surface says what u is. With symmetry planes of the panels
/// surfaces may end on them.
class RegionDirichlet {
 public:
  /// `side`: [n panels]; all of them bound the region. Throws InputError for surfaces that are not
  /// closed or change their side, and as operators do.
  RegionDirichlet(const Panels& panels, std::span<const RegionSide> side,
                  const DirichletOptions& options = {});
  ~RegionDirichlet();
  RegionDirichlet(const RegionDirichlet&) = delete;
  RegionDirichlet& operator=(const RegionDirichlet&) = delete;

  /// values: [k][n panels], g at centroids in the order of Panels.
  std::vector<DirichletSolution> solve(const std::vector<std::vector<double>>& values);

  /// Surfaces that were given a charge; none by DirichletFormulation::direct.
  std::size_t completed() const;
  OperatorInfo info() const;  ///< of the operator that is solved with

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// u and −∇u of a solution at points of the region; what comes out elsewhere means nothing. Close
/// to the boundary, within a panel's size, −∇u is that of double layers that jump from panel to
/// panel (evaluate_double_layer()). `options.side`: of points on the boundary the one of the
/// region.
Field dirichlet_field(const Panels& panels, const DirichletDensities& solution,
                      std::span<const Vec3d> points, const FieldOptions& options = {});

}  // namespace fmbem
