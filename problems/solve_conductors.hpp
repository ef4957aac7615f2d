#pragma once

#include <string>
#include <vector>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/problems/capacitance.hpp"
#include "fmbem/problems/media.hpp"
#include "fmbem/solvers/linear_solver.hpp"

namespace fmbem {

struct ConductorOptions {
  /// Groups to join; every other group is a conductor by itself.
  std::vector<Conductor> conductors{};
  double permittivity = 1.0;  ///< relative, of the space where media say nothing else; > 0
  /// Groups that are no conductors but borders of dielectrics, whose media are given.
  std::vector<std::string> interfaces{};
  /// What lies on the sides of groups: of interfaces, and of conductors that are not in
  /// `permittivity`. Of a closed conductor what lies ahead counts; give that for both sides.
  std::vector<Media> media{};
  /// Conductors whose charge is given, not their potential.
  std::vector<std::string> floating{};
  AppliedField applied{};
  /// Symmetry and ground planes, on one side of which the mesh lies: charges, and forces, are those
  /// of what is there. A conductor that touches a ground plane has to be at 0 V. On the CPU.
  SymmetryPlanes planes{};
  /// How V is applied. A tolerance of 0, as by default here, is a tenth of the solver's.
  OperatorOptions op{.tolerance = 0};
  SolverOptions solver{};
  int block_panels = 64;  ///< panels in a block of PETSc's preconditioners, at most
};

/// Problems of a set of conductors, one for each list of voltages.
struct ConductorSolution {
  std::vector<Conductor> conductors;
  AppliedField applied;     ///< with the images of its charges
  Panels panels;            ///< with their images, if there are planes
  double scale_to_m = 1.0;  ///< metres in the unit of the mesh and the panels
  /// [n problems][n panels] in the order of panels: V σ and the applied potential add up to φ,
  /// volts per length of the mesh. On open surfaces the sum of both faces.
  std::vector<std::vector<double>> sigma;
  /// [n problems][n panels] in the mesh's order, C/m²: free charge on conductors, bound charge on
  /// interfaces.
  std::vector<std::vector<double>> charge_density;
  /// [n problems][n conductors]: volts; those of floating ones are found.
  std::vector<std::vector<double>> potential;
  std::vector<double> rhs_norm;  ///< [n problems], of the right-hand sides of the system
  /// [n problems]: what a residual's norm is times at the most in a charge of another problem with
  /// this one's conductors at 1 V, farads.
  std::vector<double> residual_weight;
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

/// Solves for the charges of conductors, φ constant on each, in unbounded space by a single layer
/// on all surfaces, constant on each panel and collocated at centroids: V σ = φ, and the equations
/// of MediaSystem where there are dielectrics, floating conductors or an applied field. `given` is
/// [n problems][n conductors], in the order of make_conductors(): volts or, of those that float,
/// coulombs. Throws InputError for options out of range and for conductors that make_conductors()
/// refuses.
ConductorSolution solve_conductors(const SurfaceMesh& mesh, const ConductorOptions& options,
                                   const std::vector<std::vector<double>>& given);

/// [n problems][n conductors]: coulombs, on both faces together where a surface is open.
std::vector<std::vector<double>> conductor_charges(const SurfaceMesh& mesh,
                                                   const ConductorSolution& solution);

}  // namespace fmbem
