#include "fmbem/problems/solvation/solvation_forces.hpp"

#include <algorithm>

#include "fmbem/problems/solvation/point_charges.hpp"
#include "fmbem/problems/solvation/solvation_field.hpp"
#include "fmbem/problems/solvation/surface_gradient.hpp"

namespace fmbem {
namespace {

std::vector<Vec3d> forces_on_atoms(const Solvation& solved, const Molecule& molecule) {
  std::vector<Vec3d> force(molecule.atoms.size());
  for (const SoluteRegion& region : solved.regions.regions) {
    if (region.kind != SoluteRegion::Kind::solute) continue;
    const PointCharges charges = charges_in(region, molecule.atoms);
    const Field reaction =
        surface_field(solved, region, {solved.potential, solved.normal_field}, charges.places);
    for (std::size_t k = 0; k < charges.q.size(); ++k)
      force[region.atoms[k]] = charges.q[k] * reaction.e[k];
  }
  return force;
}

void add_pressures(const Solvation& solved, std::span<const Vec3d> slope, SolvationForces& result) {
  const SolvationModel& model = solved.model;
  const double half_c = 0.5 / model.unit_of_potential();
  for (std::size_t i = 0; i < solved.panels.size(); ++i) {
    const SoluteRegion::Kind behind = solved.regions.regions[solved.regions.inside[i]].kind;
    const SoluteRegion::Kind ahead = solved.regions.regions[solved.regions.outside[i]].kind;
    const double eps_b = model.permittivity_in(behind), eps_a = model.permittivity_in(ahead);
    const double kappa_b = model.kappa_in(behind), kappa_a = model.kappa_in(ahead);
    const double displacement = eps_b * solved.normal_field[i], potential = solved.potential[i];
    result.dielectric_pressure.push_back(half_c *
                                         (displacement * displacement * (1 / eps_a - 1 / eps_b) -
                                          (eps_a - eps_b) * norm2(slope[i])));
    result.osmotic_pressure.push_back(
        -half_c * (eps_a * kappa_a * kappa_a - eps_b * kappa_b * kappa_b) * potential * potential);
  }
}

/// What a force acts on as one: a surface with all that lies in it, and the region around it.
struct SoluteBody {
  int surface;
  std::size_t around;
  std::vector<char> has_region;  ///< [regions]: whether it lies in the surface
};

/// From outside in: the surfaces of solutes, but the layer's where a solute is alone in one.
std::vector<SoluteBody> solute_bodies(const std::vector<SoluteRegion>& regions) {
  std::vector<SoluteBody> bodies;
  const auto inside = [](int surface) { return static_cast<std::size_t>(surface) + 1; };
  const auto is_solute = [&](int surface) {
    return regions[inside(surface)].kind == SoluteRegion::Kind::solute;
  };
  const auto mark = [&](const auto& self, std::size_t region, std::vector<char>& marked) -> void {
    marked[region] = true;
    for (const int inner : regions[region].inner) self(self, inside(inner), marked);
  };
  const auto add_in = [&](const auto& self, std::size_t region, bool is_layer_of_one) -> void {
    for (const int surface : regions[region].inner) {
      const SoluteRegion& within = regions[inside(surface)];
      const bool holds_one =
          !is_solute(surface) && within.kind != SoluteRegion::Kind::solvent &&
          std::count_if(within.inner.begin(), within.inner.end(), is_solute) == 1;
      if (holds_one || (is_solute(surface) && !is_layer_of_one)) {
        bodies.push_back({surface, region, std::vector<char>(regions.size())});
        mark(mark, inside(surface), bodies.back().has_region);
      }
      self(self, inside(surface), holds_one);
    }
  };
  add_in(add_in, 0, false);
  return bodies;
}

/// Force and torque of all else, through the region around the body. `own`: panels of its surface.
void add_force_of_others(const Solvation& solved, const SoluteRegion& around,
                         std::span<const std::int32_t> own, std::span<const Vec3d> slope,
                         SoluteForce& result) {
  LargeVector<double> potential = solved.potential, normal_field = solved.normal_field;
  for (const std::int32_t i : own) potential[i] = normal_field[i] = 0;
  std::vector<Vec3d> centroids;
  for (const std::int32_t i : own)
    centroids.push_back(solved.panels.centroid(i) + solved.panels.origin);
  constexpr double tolerance = 1e-7;
  const Field others =
      surface_field(solved, around, {potential, normal_field}, centroids, tolerance);
  const SolvationModel& model = solved.model;
  const double kappa = model.kappa_in(around.kind);
  const double outside = model.permittivity_in(around.kind);
  const double factor = outside / model.unit_of_potential();
  for (std::size_t k = 0; k < own.size(); ++k) {
    const std::int32_t i = own[k];
    const Triangle triangle = solved.panels.triangle(i);
    const Vec3d n = triangle.normal, e_o = others.e[k];
    const SoluteRegion::Kind behind = solved.regions.regions[solved.regions.inside[i]].kind;
    const double e_n = model.permittivity_in(behind) / outside * solved.normal_field[i];
    const Vec3d e_s = e_n * n - slope[i] - e_o;
    const double phi_o = others.potential[k], phi_s = solved.potential[i] - phi_o;
    const Vec3d traction =
        dot(e_o, n) * e_s + dot(e_s, n) * e_o - (dot(e_s, e_o) + kappa * kappa * phi_s * phi_o) * n;
    const Vec3d force = (factor * triangle.area) * traction;
    result.force += force;
    result.torque += cross(solved.panels.centroid(i) + solved.panels.origin - result.about, force);
  }
}

}  // namespace

SolvationForces find_solvation_forces(const Solvation& solved, const Molecule& molecule) {
  SolvationForces result;
  result.on_atoms = forces_on_atoms(solved, molecule);
  const std::vector<Vec3d> slope = surface_gradient(solved.panels, solved.potential);
  add_pressures(solved, slope, result);

  const std::vector<SoluteRegion>& regions = solved.regions.regions;
  for (const SoluteBody& body : solute_bodies(regions)) {
    SoluteForce force;
    force.name = solved.regions.surfaces[body.surface];
    double atoms = 0;
    for (std::size_t r = 1; r < regions.size(); ++r) {
      if (!body.has_region[r]) continue;
      for (const std::int32_t a : regions[r].atoms) {
        force.about += molecule.atoms[a].place;
        force.on_charges += result.on_atoms[a];
        ++atoms;
      }
    }
    force.about = (1 / atoms) * force.about;
    std::vector<std::int32_t> own;
    for (std::size_t i = 0; i < solved.panels.size(); ++i) {
      if (!body.has_region[solved.regions.inside[i]]) continue;
      const Triangle triangle = solved.panels.triangle(i);
      const double pressure = result.dielectric_pressure[i] + result.osmotic_pressure[i];
      force.on_surfaces += (pressure * triangle.area) * triangle.normal;
      if (!body.has_region[solved.regions.outside[i]]) own.push_back(static_cast<std::int32_t>(i));
    }
    const SoluteRegion& around = regions[body.around];
    if (around.panels.size() > own.size()) add_force_of_others(solved, around, own, slope, force);
    result.solutes.push_back(force);
  }
  return result;
}

}  // namespace fmbem
