#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fmbem/bem/boundary_operator.hpp"
#include "fmbem/bem/capacitance.hpp"
#include "fmbem/solvers/linear_solver.hpp"

namespace fmbem {

struct CapacitanceOptions {
  /// Groups to join; every other group is a conductor by itself.
  std::vector<Conductor> conductors{};
  double permittivity = 1.0;      ///< relative, of the space around the conductors; > 0
  double tolerance = 1e-6;        ///< of the solver; -ksp_rtol beats it
  double operator_tolerance = 0;  ///< 0: a tenth of the solver's
  OperatorOptions::Choice operator_kind = OperatorOptions::Choice::automatic;
  std::optional<Precision> precision{};  ///< see OperatorOptions
  int max_leaf = 64;                     ///< panels in a leaf of the preconditioner, at most
  Progress assembly_progress{};
  std::function<void(int iteration, double residual)> solve_progress{};
};

/// The solved exterior Dirichlet problem of a set of conductors.
struct CapacitanceSolution {
  std::vector<Conductor> conductors;
  SquareMatrix maxwell;  ///< farads
  /// [n conductors][n panels] in the mesh's order, C/m²: with conductor j at 1 V, the others at 0.
  /// On open surfaces the sum of both faces.
  std::vector<std::vector<double>> charge_density;
  std::vector<SolveReport> solves;  ///< one for each conductor
  bool converged = false;           ///< all of them
  OperatorInfo op;
  std::size_t leaves = 0;
  std::int64_t preconditioner_bytes = 0;
  std::string ksp_type, pc_type;
  double solver_tolerance = 0, operator_tolerance = 0;  ///< in force
  double setup_seconds = 0, assembly_seconds = 0, preconditioner_seconds = 0, solve_seconds = 0,
         product_median_seconds = 0;
};

/// Capacitance matrix of the conductors of a mesh in a homogeneous unbounded space: V σ = φ by
/// collocation with constant densities, φ = 1 on one conductor at a time.
/// Throws InputError for options out of range.
CapacitanceSolution solve_capacitance(const SurfaceMesh& mesh, const CapacitanceOptions& options);

}  // namespace fmbem
