#include "fmbem/problems/solvation/solvation_field.hpp"

#include <algorithm>

#include "fmbem/bem/layer/double_layer_field.hpp"
#include "fmbem/bem/layer/potential_at.hpp"
#include "fmbem/problems/solvation/point_charges.hpp"

namespace fmbem {
namespace {

/// The charges and dipoles that Green's identity has on a region's panels, [n panels].
struct Densities {
  LargeVector<double> sigma, mu;
  Densities(const Solvation& solved, const SoluteRegion& region, const BoundaryValues& values)
      : sigma(solved.panels.size()), mu(solved.panels.size()) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < sigma.size(); ++i) sigma[i] = mu[i] = 0;
    const SolvationModel& model = solved.model;
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < region.panels.size(); ++k) {
      const std::int32_t i = region.panels[k];
      const SoluteRegion& back = solved.regions.regions[solved.regions.inside[i]];
      const double sign = back.outer == region.outer ? 1 : -1,  // 1 where the normal leads out
          flux = model.permittivity_in(back.kind) / model.permittivity_in(region.kind);
      sigma[i] = -sign * flux * values.normal_field[i];
      mu[i] = -sign * values.potential[i];
    }
  }
};

double tolerance_of(const Solvation& solved) {
  return std::clamp(0.1 * solved.solver_tolerance, 1e-9, 1e-5);
}

}  // namespace

std::vector<double> surface_potential(const Solvation& solved, const SoluteRegion& region,
                                      const BoundaryValues& values, std::span<const Vec3d> points,
                                      std::optional<double> tolerance) {
  const Densities densities(solved, region, values);
  return potential_at(solved.panels, region.panels, {densities.sigma, densities.mu}, points,
                      tolerance.value_or(tolerance_of(solved)), solved.model.kappa_in(region.kind),
                      solved.op.processor);
}

Field surface_field(const Solvation& solved, const SoluteRegion& region,
                    const BoundaryValues& values, std::span<const Vec3d> points,
                    std::optional<double> tolerance) {
  const Densities densities(solved, region, values);
  const FieldOptions options{.tolerance = tolerance.value_or(tolerance_of(solved)),
                             .kappa = solved.model.kappa_in(region.kind),
                             .processor = solved.op.processor};
  Field result = evaluate_field(solved.panels, densities.sigma, points, options);
  const Field of_mu = evaluate_double_layer(solved.panels, densities.mu, points, options);
  for (std::size_t i = 0; i < points.size(); ++i) {
    result.potential[i] += of_mu.potential[i];
    result.e[i] += of_mu.e[i];
  }
  return result;
}

std::vector<double> potential_at(const Solvation& solved, const Molecule& molecule,
                                 std::span<const Vec3d> points, double least_distance) {
  const std::vector<int> region_of = regions_of_points(solved.panels, solved.regions, points);
  std::vector<double> result(points.size());
  for (std::size_t r = 0; r < solved.regions.regions.size(); ++r) {
    const SoluteRegion& region = solved.regions.regions[r];
    std::vector<std::size_t> chosen;
    std::vector<Vec3d> places;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (region_of[i] == static_cast<int>(r)) {
        chosen.push_back(i);
        places.push_back(points[i]);
      }
    if (chosen.empty()) continue;
    const std::vector<double> of_surfaces =
        surface_potential(solved, region, {solved.potential, solved.normal_field}, places);
    const PointCharges charges = charges_in(region, molecule.atoms);
    std::vector<double> own =
        charges.potential_at(places, solved.solver_tolerance, {}, solved.op.processor);
    if (least_distance > 0) charges.limit_close_potentials(places, least_distance, own);
    const double unit =
        solved.model.unit_of_potential() / solved.model.permittivity_in(region.kind);
    for (std::size_t k = 0; k < chosen.size(); ++k)
      result[chosen[k]] = of_surfaces[k] + unit * own[k];
  }
  return result;
}

}  // namespace fmbem
