#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fmbem/problems/capacitance.hpp"
#include "fmbem/problems/layer_solution.hpp"
#include "fmbem/problems/media.hpp"

namespace fmbem {

struct ConductorOptions : LayerOptions {
  /// Groups to join; every other group is a conductor by itself.
  std::vector<Conductor> conductors{};
  double permittivity = 1.0;  ///< relative, of the space where media say nothing else; > 0
  /// Groups that are no conductors but borders of dielectrics, whose media are given.
  std::vector<std::string> interfaces{};
  /// What lies on the sides of groups: of interfaces, and of conductors that are not in
  /// `permittivity`. Of a closed conductor what lies ahead counts; give that for both sides.
  std::vector<Media> media{};
  /// Conductors whose charge is given, not their potential. No interface may touch them.
  std::vector<std::string> floating{};
  AppliedField applied{};
};

/// Problems of a set of conductors, one for each list of voltages.
struct ConductorSolution : LayerSolution {
  std::vector<Conductor> conductors;
  /// [n problems][n panels] in the mesh's order, C/m²: free charge on conductors, bound charge on
  /// interfaces.
  std::vector<std::vector<double>> charge_density;
  /// [n problems][n conductors]: volts; those of floating ones are found.
  std::vector<std::vector<double>> potential;
  /// [n problems], farads: ‖r‖ of another problem times this bounds the error of the charge on this
  /// problem's 1 V conductors.
  std::vector<double> residual_weight;
};

/// Solves for the charges of conductors, φ constant on each, in unbounded space by a single layer
/// on all surfaces, constant on each panel and collocated at centroids: V σ = φ, and the equations
/// of MediaSystem where there are dielectrics, floating conductors or an applied field. `given` is
/// [n problems][n conductors], in the order of make_conductors(): volts or, of those that float,
/// coulombs. Throws InputError for options out of range, for conductors that make_conductors()
/// refuses, and for those that float_between_media(), which ProblemSolver solves for.
ConductorSolution solve_conductors(const SurfaceMesh& mesh, const ConductorOptions& options,
                                   const std::vector<std::vector<double>>& given);

/// [n problems][n conductors]: coulombs, on both faces together where a surface is open.
std::vector<std::vector<double>> conductor_charges(const SurfaceMesh& mesh,
                                                   const ConductorSolution& solution);

}  // namespace fmbem
