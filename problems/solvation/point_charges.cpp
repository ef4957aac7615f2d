#include "fmbem/problems/solvation/point_charges.hpp"

#include <algorithm>
#include <numbers>

#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/base/touched.hpp"
#include "fmbem/fmm/plan.hpp"

namespace fmbem {
namespace {

/// Few pairs take less time than making operators: all are in one leaf then.
fmm::PlanOptions options_for(double tolerance, std::size_t sources, std::size_t targets) {
  constexpr double few_pairs = 1e8;
  fmm::PlanOptions options{.tolerance = std::clamp(0.1 * tolerance, 1e-12, 1e-4),
                           .precision = Precision::double_precision};
  if (static_cast<double>(sources) * static_cast<double>(targets) <= few_pairs)
    options.max_leaf = static_cast<int>(std::max(sources, targets));
  return options;
}

}  // namespace

std::vector<double> PointCharges::potential_at(std::span<const Vec3d> points, double tolerance,
                                               std::span<Vec3d> gradient,
                                               Processor processor) const {
  std::vector<double> result;
  resize_touched(result, points.size());
  if (places.empty() || points.empty()) return result;
  fmm::PlanOptions options = options_for(tolerance, places.size(), points.size());
  options.gradient = !gradient.empty();
  if (processor == Processor::gpu) options.max_leaf.reset();
  const fmm::Plan plan = processor == Processor::gpu ? cuda::make_fmm_plan(places, points, options)
                                                     : fmm::Plan(places, points, options);
  plan.evaluate({.charges = q}, {.potential = result, .gradient = gradient});
  return result;
}

void PointCharges::limit_close_potentials(std::span<const Vec3d> points, double least_distance,
                                          std::span<double> potential) const {
  std::vector<Vec3d> by_x = places;
  std::sort(by_x.begin(), by_x.end(), [](Vec3d a, Vec3d b) { return a.x < b.x; });
  const auto is_close_to_one = [&](Vec3d x) {
    auto place = std::lower_bound(by_x.begin(), by_x.end(), x.x - least_distance,
                                  [](Vec3d a, double least) { return a.x < least; });
    for (; place != by_x.end() && place->x <= x.x + least_distance; ++place)
      if (norm(x - *place) < least_distance) return true;
    return false;
  };
#pragma omp parallel for schedule(dynamic, 64)
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!is_close_to_one(points[i])) continue;
    double sum = 0;
    for (std::size_t j = 0; j < places.size(); ++j)
      sum += q[j] / std::max(norm(points[i] - places[j]), least_distance);
    potential[i] = sum / (4 * std::numbers::pi);
  }
}

std::vector<double> PointCharges::potential() const {
  std::vector<double> result(places.size());
  if (places.empty()) return result;
  const fmm::Plan plan(places, options_for(10 * tolerance_of_own, places.size(), places.size()));
  plan.evaluate({.charges = q}, {.potential = result});
  return result;
}

PointCharges charges_in(const SoluteRegion& region, const std::vector<Atom>& atoms) {
  PointCharges result;
  for (const std::int32_t a : region.atoms) {
    result.places.push_back(atoms[a].place);
    result.q.push_back(atoms[a].charge);
  }
  return result;
}

}  // namespace fmbem
