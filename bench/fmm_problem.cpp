#include "bench/fmm_problem.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/xyz_file.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::bench {
namespace {

/// Refuses numbers of points that would not fit before the plan can say so.
void require_memory(std::size_t n) {
  constexpr double bytes_per_point = sizeof(Vec3d) + 2 * sizeof(double);  // with charge and result
  if (static_cast<double>(n) * bytes_per_point > static_cast<double>(available_memory()))
    throw ResourceError(counted(n, "point") +
                        " do not fit into the memory that is left: use fewer");
}

double norm2(double x) { return x * x; }

/// |u − u_ref|² / |u_ref|² of charge vector k of `u` [count][n] and `k_ref` of `reference`
/// [vectors][targets]; 0 for results that were not asked for.
template <class T>
double squared_error(const std::vector<T>& u, std::size_t n, std::size_t k,
                     const std::vector<T>& reference, std::size_t k_ref,
                     const std::vector<std::size_t>& targets) {
  if (u.empty()) return 0;
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const T exact = reference[k_ref * targets.size() + i];
    difference += norm2(u[k * n + targets[i]] - exact);
    size += norm2(exact);
  }
  return difference == 0 ? 0 : difference / size;
}

/// How many of the problem's charge vectors are evaluated at once: all, or one if memory is short.
int batch_size(const Problem& problem, const fmm::PlanInfo& info) {
  const double n = static_cast<double>(problem.points.size());
  const double expansions =
      2.0 * static_cast<double>(info.boxes) * (info.order + 1) * (info.order + 1) * sizeof(double);
  const double bytes = expansions + 2 * n * (2 * sizeof(double) + sizeof(Vec3d));
  const int all = problem.vectors();
  return all * bytes < 0.5 * static_cast<double>(available_memory()) ? all : 1;
}

}  // namespace

std::vector<double> Problem::charges(int first, int count) const {
  if (!file_charges.empty()) return file_charges;
  std::vector<double> all;
  all.reserve(count * points.size());
  for (int k = first; k < first + count; ++k) {
    const std::vector<double> q = test::signed_charges(points.size(), seed + 1 + k);
    all.insert(all.end(), q.begin(), q.end());
  }
  return all;
}

Problem seeded_problem(const std::string& distribution, std::size_t n, std::uint64_t seed) {
  require_memory(n);
  return {distribution, test::points_by_name(distribution, n, seed), {}, seed};
}

Problem problem_of_file(const std::string& file, std::uint64_t seed) {
  PointFile content = read_xyz_file(file);
  return {file, std::move(content.points), std::move(content.charges), seed};
}

Reference reference_of(const Problem& problem, Outputs outputs, int check, std::uint64_t seed,
                       double kappa) {
  std::vector<std::size_t> all(problem.targets().size()), targets;
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::mt19937_64 random(seed + 100);
  std::sample(all.begin(), all.end(), std::back_inserter(targets), check, random);

  std::vector<Vec3d> places;
  for (const std::size_t i : targets) places.push_back(problem.points[i]);
  const int count = problem.vectors();
  Reference reference{targets, Results(count * targets.size(), outputs)};
  const std::vector<double> charges = problem.charges(0, count);
  if (!targets.empty())
    fmm::direct_sum(problem.points, places, {charges, {}, count}, reference.results.fields(),
                    kappa);
  return reference;
}

Errors measure_errors(FmmRun& plan, const Problem& problem, const Reference& reference,
                      Outputs outputs) {
  if (reference.targets.empty()) return {};
  const std::size_t n = problem.targets().size();
  const int batch = batch_size(problem, plan.info());
  double potential = 0, gradient = 0, hessian = 0;
  Results results(batch * n, outputs);
  for (int first = 0; first < problem.vectors(); first += batch) {
    const std::vector<double> charges = problem.charges(first, batch);
    plan.evaluate({charges, {}, batch}, results.fields());
    for (int k = 0; k < batch; ++k) {
      potential += squared_error(results.potential, n, k, reference.results.potential, first + k,
                                 reference.targets);
      gradient += squared_error(results.gradient, n, k, reference.results.gradient, first + k,
                                reference.targets);
      hessian += squared_error(results.hessian, n, k, reference.results.hessian, first + k,
                               reference.targets);
    }
  }
  Errors errors;
  if (outputs.potential) errors.potential = std::sqrt(potential / problem.vectors());
  if (outputs.gradient) errors.gradient = std::sqrt(gradient / problem.vectors());
  if (outputs.hessian) errors.hessian = std::sqrt(hessian / problem.vectors());
  return errors;
}

}  // namespace fmbem::bench
