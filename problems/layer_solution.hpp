#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/geometry/symmetry.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/problems/media.hpp"
#include "fmbem/solvers/linear_solver.hpp"

namespace fmbem {

/// A x = b as it was solved, for who wants to look at it.
struct SolvedSystem {
  const BoundaryOperator& op;
  const Panels& panels;
  std::span<const double> b, x;  ///< [n problems][n panels], in the order of panels
};

/// How systems of densities on panels are solved.
struct LayerOptions {
  /// How operators are applied. A tolerance of 0, as by default here, is a tenth of the solver's.
  OperatorOptions op{.tolerance = 0};
  SolverOptions solver{};
  /// Symmetry and ground planes, on one side of which the mesh lies: charges, and forces, are those
  /// of what is there. A conductor that touches a ground plane has to be at 0 V. On the CPU.
  SymmetryPlanes planes{};
  int block_panels = 64;  ///< panels in a block of PETSc's preconditioners, at most
  /// Called before anything else is done on a mesh, with the number of its panels.
  std::function<void(std::size_t panels)> started{};
  /// Called after each solve, of every level where there are several.
  std::function<void(const SolvedSystem&)> inspect{};
};

/// Densities of a single layer that solve a problem or several, and how they were found.
struct LayerSolution {
  AppliedField applied;     ///< with the images of its sources, where there are planes
  Panels panels;            ///< with theirs
  double scale_to_m = 1.0;  ///< metres in the unit of the mesh and the panels
  /// [n problems][n panels] in the order of panels: V σ and the applied potential add up to φ,
  /// volts per length of the mesh. On open surfaces the sum of both faces.
  std::vector<std::vector<double>> sigma;
  std::vector<SolveReport> solves;  ///< one for each problem
  bool converged = false;           ///< all of them
  OperatorInfo op;                  ///< after the solve
  std::size_t leaves = 0;
  std::int64_t preconditioner_bytes = 0;
  std::int64_t device_bytes = 0;  ///< peak_device_memory() where V is applied there
  KrylovChoice krylov;
  std::string pc_type;
  double solver_tolerance = 0, operator_tolerance = 0;  ///< in force
  double setup_seconds = 0, assembly_seconds = 0, preconditioner_seconds = 0, solve_seconds = 0,
         product_median_seconds = 0;
};

/// [leaves + 1] of the panels, where there are as many unknowns; of twice as many, real and
/// imaginary parts, both have these leaves.
std::vector<std::int64_t> leaves_of_unknowns(const Panels& panels, std::size_t unknowns);

/// An operator on the panels of a mesh with its solver, kept for any number of right-hand sides.
class LayerSolver {
 public:
  using MakeOperator =
      std::function<std::shared_ptr<const BoundaryOperator>(const OperatorOptions&)>;

  /// Makes the panels of `result`, in which the solver keeps what becomes of everything, and which
  /// has to outlive it. Throws InputError for options out of range.
  LayerSolver(const SurfaceMesh& mesh, const LayerOptions& options, LayerSolution& result);

  /// Of the operator that will be made, its processor included, but for panels with planes.
  const OperatorOptions& operator_options() const { return op_options_; }
  /// Makes operator and preconditioner.
  void set_up(const MakeOperator& make_operator);

  /// [k][unknowns]; adds norms and reports to the result, and returns what solves.
  std::vector<std::vector<double>> solve(const std::vector<std::vector<double>>& rhs);

 private:
  LayerSolution& result_;
  LinearSolver solver_;
  double given_tolerance_;  ///< of the operator; 0 where none is
  OperatorOptions op_options_;
  std::function<void(const SolvedSystem&)> inspect_;
  std::shared_ptr<const BoundaryOperator> op_;
};

}  // namespace fmbem
