#include "fmbem/problems/solvation/point_charges.hpp"

#include <algorithm>

#include "fmbem/fmm/plan.hpp"

namespace fmbem {
namespace {

fmm::PlanOptions options_for(double tolerance) {
  return {.tolerance = std::clamp(0.1 * tolerance, 1e-12, 1e-4),
          .precision = Precision::double_precision};
}

}  // namespace

std::vector<double> PointCharges::potential_at(std::span<const Vec3d> points,
                                               double tolerance) const {
  std::vector<double> result(points.size());
  if (places.empty() || points.empty()) return result;
  const fmm::Plan plan(places, points, options_for(tolerance));
  plan.evaluate({.charges = q}, {.potential = result});
  return result;
}

std::vector<double> PointCharges::potential(double tolerance) const {
  std::vector<double> result(places.size());
  if (places.empty()) return result;
  const fmm::Plan plan(places, options_for(tolerance));
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
