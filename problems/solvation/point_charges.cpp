#include "fmbem/problems/solvation/point_charges.hpp"

#include <algorithm>

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

std::vector<double> PointCharges::potential(double tolerance) const {
  std::vector<double> result(places.size());
  if (places.empty()) return result;
  const fmm::Plan plan(places, options_for(tolerance, places.size(), places.size()));
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
