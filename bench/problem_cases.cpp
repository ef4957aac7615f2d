#include "bench/problem_cases.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/larger_error.hpp"

namespace fmbem::bench {
namespace {

LayerOptions closely() {
  LayerOptions options;
  options.solver.tolerance = 1e-8;
  return options;
}

void remove_mean(std::vector<double>& values) {
  double mean = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  for (double& v : values) v -= mean;
}

}  // namespace

Solved::Solved(SurfaceMesh mesh, const BoundaryProblem& problem)
    : mesh_(std::move(mesh)), solution_(solve_problem(mesh_, problem, closely())) {
  FMBEM_REQUIRE(solution_.converged, "a problem of the table did not converge");
}

double Solved::flux_of(const std::string& conductor) const {
  for (std::size_t c = 0; c < solution_.conductors.size(); ++c)
    if (solution_.conductors[c].name == conductor) return result().conductor_flux[c];
  throw InputError("no conductor is called " + conductor);
}

std::vector<double> Solved::potentials(std::span<const Vec3d> points) const {
  return problem_field(mesh_, solution_, 0, points).potential;
}

Result Solved::with(std::vector<Result::Error> errors) const {
  return {mesh_.triangles.size(), solution_.solves[0].iterations, std::move(errors)};
}

double relative_error(std::vector<double> values, std::vector<double> exact,
                      bool up_to_a_constant) {
  if (up_to_a_constant) {
    remove_mean(values);
    remove_mean(exact);
  }
  double error = 0, largest = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    error = test::larger_error(error, std::abs(values[k] - exact[k]));
    largest = std::max(largest, std::abs(exact[k]));
  }
  return error / largest;
}

double root_mean_square_error(const std::vector<double>& values, const std::vector<double>& exact) {
  double difference = 0, size = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    difference += (values[k] - exact[k]) * (values[k] - exact[k]);
    size += exact[k] * exact[k];
  }
  return std::sqrt(difference / size);
}

Result compare(const Solved& solved, std::span<const Vec3d> points,
               const std::function<double(Vec3d)>& exact, bool up_to_a_constant) {
  std::vector<double> values;
  for (const Vec3d& x : points) values.push_back(exact(x));
  return solved.with({{"φ", relative_error(solved.potentials(points), values, up_to_a_constant)}});
}

}  // namespace fmbem::bench
