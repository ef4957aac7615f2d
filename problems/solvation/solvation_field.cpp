#include "fmbem/problems/solvation/solvation_field.hpp"

#include <algorithm>

#include "fmbem/bem/layer/double_layer_field.hpp"
#include "fmbem/problems/solvation/point_charges.hpp"

namespace fmbem {

Field surface_field(const Solvation& solved, const SoluteRegion& region,
                    const BoundaryValues& values, std::span<const Vec3d> points,
                    std::optional<double> tolerance) {
  const SolvationModel& model = solved.model;
  std::vector<double> sigma(solved.panels.size()), mu(solved.panels.size());
  for (std::size_t k = 0; k < region.panels.size(); ++k) {
    const std::int32_t i = region.panels[k];
    const SoluteRegion& back = solved.regions.regions[solved.regions.inside[i]];
    const double flux = model.permittivity_in(back.kind) / model.permittivity_in(region.kind);
    sigma[i] = -region.sign[k] * flux * values.normal_field[i];
    mu[i] = -region.sign[k] * values.potential[i];
  }
  const double of_solve = std::clamp(0.1 * solved.solver_tolerance, 1e-9, 1e-5);
  const FieldOptions options{.tolerance = tolerance.value_or(of_solve),
                             .kappa = model.kappa_in(region.kind)};
  Field result = evaluate_field(solved.panels, sigma, points, options);
  const Field of_mu = evaluate_double_layer(solved.panels, mu, points, options);
  for (std::size_t i = 0; i < points.size(); ++i) result.potential[i] += of_mu.potential[i];
  if (options.kappa > 0)
    result.e.clear();
  else
    for (std::size_t i = 0; i < points.size(); ++i) result.e[i] += of_mu.e[i];
  return result;
}

std::vector<double> potential_at(const Solvation& solved, const Molecule& molecule,
                                 std::span<const Vec3d> points) {
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
    const Field field =
        surface_field(solved, region, {solved.potential, solved.normal_field}, places);
    const PointCharges charges = charges_in(region, molecule.atoms);
    const std::vector<double> own = charges.potential_at(places, solved.solver_tolerance);
    const double unit =
        solved.model.unit_of_potential() / solved.model.permittivity_in(region.kind);
    for (std::size_t k = 0; k < chosen.size(); ++k)
      result[chosen[k]] = field.potential[k] + unit * own[k];
  }
  return result;
}

}  // namespace fmbem
