#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/solvers/linear_solver.hpp"

namespace fmbem {

/// On which side of a panel a region lies: inside and outside of a closed surface whose normals
/// point outward.
enum class RegionSide : std::int8_t { behind = 1, ahead = -1 };

/// How Δu = 0 with u = g on the boundary of a region becomes an integral equation. s is 1 on panels
/// that have the region behind them, −1 where it is ahead.
enum class Formulation {
  /// Green's identity, u = V(s ∂ₙu) − K(s u) in the region: V(s ∂ₙu) = ½ g + K(s g). The unknown is
  /// ∂ₙu along the panels' normals.
  direct,
  /// A double layer, u = Kμ + Σ_b V q_b: (K − s/2) μ + Σ_b V q_b = g. Around each closed surface b
  /// of which the region lies outside, constant μ have no field in it, and no μ has a net flux; so
  /// b has a charge of even density q_b = mean_b(μ)/mean_b(V 1_b). Source: Mikhlin 1957, "Integral
  /// Equations", section 31, with the charge at a point inside.
  second_kind,
};

struct DirichletOptions {
  Formulation formulation = Formulation::direct;
  /// A tolerance of 0, as by default here, is a tenth of the solver's.
  OperatorOptions op{.tolerance = 0};
  SolverOptions solver{};
};

/// What Dirichlet data make: in the region u = V σ + K μ, with constants on panels.
struct DirichletSolution {
  std::vector<double> sigma, mu;  ///< [n panels], in the order of Panels
  /// [n panels] of Formulation::direct: ∂u/∂n, n the panel's normal; first order in the panels'
  /// size at each of them. Else empty.
  std::vector<double> normal_derivative;
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

  /// Surfaces that were given a charge; none by Formulation::direct.
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
Field dirichlet_field(const Panels& panels, const DirichletSolution& solution,
                      std::span<const Vec3d> points, const FieldOptions& options = {});

}  // namespace fmbem
