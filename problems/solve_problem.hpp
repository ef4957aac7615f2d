#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fmbem/bem/layer/field.hpp"
#include "fmbem/meshes/mesh.hpp"
#include "fmbem/problems/boundary_problem.hpp"
#include "fmbem/problems/solve_conductors.hpp"

namespace fmbem {

/// What a solution says of surfaces, in the mesh's order. Flux densities are in C/m² or A/m², and
/// enter the region on that side; 0 where there is none. E·n is that over −c, n out of the region.
struct SurfaceValues {
  std::vector<double> potential;        ///< [n panels], V, at centroids
  std::vector<double> inside, outside;  ///< [n panels], flux densities into the regions there
};

/// Of one right-hand side.
struct ProblemResult {
  std::string name;
  bool applied = true;           ///< whether the problem's sources and field count
  bool is_imaginary = false;     ///< an imaginary part
  int conductor_at_1_volt = -1;  ///< with all other data 0, in solve_basis() of real problems
  /// [conductors], C or A that they give off. By ProblemFormulation::second_kind NaN, as what else
  /// is of normal fields, unless the conductor is one of the closed surfaces that the region
  /// surrounds.
  std::vector<double> conductor_flux;
  std::vector<double> flux_inside, flux_outside;  ///< [groups], into the regions there, C or A
  /// [regions]: all that enters, sources included, less what goes to infinity; 0 in truth. NaN
  /// where a ground plane takes a part.
  std::vector<double> imbalance;
  /// [regions]: what that is to be compared with: the sum of absolute values.
  std::vector<double> throughput;
  /// ½ ∫ c |∇φ|² in J or, with conductivities, ∫ c |∇φ|² in W, without what sources have by
  /// themselves; NaN with a uniform field. Of amplitudes |∇φ| the mean energy is half of the real
  /// part, and ω times the imaginary part's opposite the mean power that is lost.
  double energy = 0;
  std::vector<double> constant;  ///< [regions], V: to be added to φ there
  SurfaceValues surface;
};

/// With conductivities charges are currents, A, in what it has of conductors, too. With complex
/// permittivities all values are amplitudes, and each problem has two results, one after the other:
/// real parts and imaginary ones.
struct ProblemSolution : ConductorSolution {
  BoundaryProblem problem;
  std::vector<std::string> groups;     ///< names
  std::vector<ProblemResult> results;  ///< [n problems], or twice as many
  AppliedField imaginary_applied;      ///< the imaginary part of what is applied, as `applied`
  /// [n problems][n panels], in the order of panels: V, of the double layer that other formulations
  /// than the single layer have besides σ. For that it is empty.
  std::vector<std::vector<double>> dipoles;
  std::vector<std::string> solve_names;  ///< [solves]
  /// Of conductors whose charge or current is given between two media: each was solved for at 1 V,
  /// once, as these superpose to what is given.
  std::vector<int> driven;
  std::vector<SolveReport> driven_solves;  ///< [driven]
  std::vector<std::string> notices;        ///< one sentence each

  /// Results of each problem.
  std::size_t parts() const { return problem.has_losses() ? 2 : 1; }
};

/// Of conductors without a BoundaryProblem: it has no results.
inline ProblemSolution without_problem(ConductorSolution solution) {
  ProblemSolution result;
  static_cast<ConductorSolution&>(result) = std::move(solution);
  return result;
}

/// A problem on a mesh, by densities that are constant on each panel and collocated at centroids:
/// by one single layer on all surfaces (MediaSystem has the equations), or by another formulation
/// (DirichletEquations). Operators and preconditioner are kept for any number of right-hand sides.
/// Complex permittivities and other formulations are for the CPU.
class ProblemSolver {
 public:
  /// Throws InputError for problems that make no sense, such as bounded regions that are not closed
  /// or sources on surfaces: every sentence of docs/problems.md.
  ProblemSolver(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                const LayerOptions& options);
  ~ProblemSolver();
  ProblemSolver(const ProblemSolver&) = delete;
  ProblemSolver& operator=(const ProblemSolver&) = delete;

  /// The problem as it is. Throws InputError for Neumann data that are incompatible.
  void solve();
  /// One for each conductor: it at 1 V, all other data, sources and charges 0.
  void solve_basis();
  /// Others in place of the conditions' data, without sources: [k][n panels] in the mesh's order,
  /// on each panel V where φ is given and else the flux density that it gives off, C/m² or A/m²
  /// (of interfaces to both sides together). What floats has no charge, whatever is given there.
  void solve_for(const std::vector<std::vector<double>>& data);

  const ProblemSolution& solution() const;
  /// Ends the solver, and gives its GPU's memory back.
  static ProblemSolution end(ProblemSolver&& solver);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// ProblemSolver::solve() and its solution.
ProblemSolution solve_problem(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                              const LayerOptions& options = {});

/// Potential in V and field in V/m of one result, at points in the unit of the mesh, with the
/// region of each. Where there is none, both are NaN. Throws InputError as evaluate_field() does.
struct ProblemField : Field {
  std::vector<int> region;  ///< [n points], number in BoundaryProblem::regions, −1 for none
};
ProblemField problem_field(const SurfaceMesh& mesh, const ProblemSolution& solution,
                           std::size_t result, std::span<const Vec3d> points,
                           const FieldOptions& options = {});

/// [conductors][conductors]: what each gives off with another one at 1 V, F or S; of the results
/// from `first` on, which solve_basis() has made, or of their imaginary parts from that one on.
SquareMatrix basis_matrix(const ProblemSolution& solution, std::size_t first);

}  // namespace fmbem
