#pragma once

#include <string>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/problems/capacitance.hpp"
#include "fmbem/solvers/linear_solver.hpp"

namespace fmbem {

struct ConductorOptions {
  /// Groups to join; every other group is a conductor by itself.
  std::vector<Conductor> conductors{};
  double permittivity = 1.0;  ///< relative, of the space around the conductors; > 0
  /// How V is applied. A tolerance of 0, as by default here, is a tenth of the solver's.
  OperatorOptions op{.tolerance = 0};
  SolverOptions solver{};
  int block_panels = 64;  ///< panels in a block of PETSc's preconditioners, at most
};

/// Exterior Dirichlet problems of a set of conductors, one for each list of voltages.
struct ConductorSolution {
  std::vector<Conductor> conductors;
  Panels panels;
  double scale_to_m = 1.0;  ///< metres in the unit of the mesh and the panels
  /// [n problems][n panels] in the order of panels: V σ = φ, volts per length of the mesh. On open
  /// surfaces the sum of both faces.
  std::vector<std::vector<double>> sigma;
  /// [n problems][n panels] in the mesh's order, C/m².
  std::vector<std::vector<double>> charge_density;
  std::vector<SolveReport> solves;  ///< one for each problem
  bool converged = false;           ///< all of them
  OperatorInfo op;                  ///< after the solve
  std::size_t leaves = 0;
  std::int64_t preconditioner_bytes = 0;
  std::int64_t device_bytes = 0;  ///< peak_device_memory() where V is applied there
  std::string ksp_type, pc_type;
  double solver_tolerance = 0, operator_tolerance = 0;  ///< in force
  double setup_seconds = 0, assembly_seconds = 0, preconditioner_seconds = 0, solve_seconds = 0,
         product_median_seconds = 0;
};

/// Solves V σ = φ by collocation with constant densities, φ constant on each conductor, in a
/// homogeneous unbounded space. voltages are [n problems][n conductors], in the order of
/// make_conductors(mesh, options.conductors). Throws InputError for options out of range and for
/// conductors that this refuses.
ConductorSolution solve_conductors(const SurfaceMesh& mesh, const ConductorOptions& options,
                                   const std::vector<std::vector<double>>& voltages);

}  // namespace fmbem
