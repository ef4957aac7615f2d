#pragma once

// Boundary value problems with known solutions, for bench/problems.cpp: meshes, conditions, and how
// far what fmbem finds is from what is known.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fmbem/problems/boundary_problem.hpp"
#include "fmbem/problems/solve_problem.hpp"

namespace fmbem::bench {

/// What a mesh gives.
struct Result {
  std::size_t panels = 0;
  int iterations = 0;
  struct Error {
    std::string quantity;
    double value;  ///< relative
  };
  std::vector<Error> errors;
};

struct Case {
  std::string problem;
  std::function<Result(int level)> at;  ///< a level has four times the panels of the one before
  int first = 2;                        ///< level
};

std::vector<Case> harmonic_cases();  ///< fields of charges on sphere and torus, halves of a sphere
std::vector<Case> formulation_cases();  ///< the same by other equations; complex permittivities
std::vector<Case> dielectric_cases();   ///< shells and a half space
std::vector<Case> plane_cases();        ///< a ball over a plane and in a corner
std::vector<Case> current_cases();      ///< resistances, and a dipole in a head of three spheres
std::vector<Case> force_cases();

/// A problem on a mesh, solved to 1e-8.
class Solved {
 public:
  Solved(SurfaceMesh mesh, const BoundaryProblem& problem);
  const SurfaceMesh& mesh() const { return mesh_; }
  const ProblemSolution& solution() const { return solution_; }
  const ProblemResult& result() const { return solution_.results[0]; }
  /// What a conductor gives off, C or A.
  double flux_of(const std::string& conductor) const;
  std::vector<double> potentials(std::span<const Vec3d> points) const;
  Result with(std::vector<Result::Error> errors) const;

 private:
  SurfaceMesh mesh_;
  ProblemSolution solution_;
};

/// The largest difference by the largest exact value; of values that are known up to a constant
/// less their means.
double relative_error(std::vector<double> values, std::vector<double> exact,
                      bool up_to_a_constant = false);
double root_mean_square_error(const std::vector<double>& values, const std::vector<double>& exact);
/// Of potentials at the points, φ.
Result compare(const Solved& solved, std::span<const Vec3d> points,
               const std::function<double(Vec3d)>& exact, bool up_to_a_constant = false);

}  // namespace fmbem::bench
