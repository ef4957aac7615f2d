#include "fmbem/problems/solvation/solvation_problem.hpp"

#include <tuple>
#include <utility>

#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/solvation/solvation_field.hpp"

namespace fmbem {
namespace {

std::vector<ScreenedRegion> screened_regions(const SoluteRegions& found,
                                             const SolvationModel& model) {
  std::vector<ScreenedRegion> result;
  for (const SoluteRegion& region : found.regions)
    result.push_back({model.permittivity_in(region.kind), model.kappa_in(region.kind),
                      copied<std::int32_t>(region.panels)});
  return result;
}

}  // namespace

Panels solvation_panels(const SurfaceMesh& mesh, Processor processor) {
  constexpr int panels_in_leaf = 32;
  return make_panels(mesh, processor, panels_in_leaf);
}

std::shared_ptr<PoissonBoltzmannOperator> SolvationProblem::make_operator(
    const OperatorOptions& options) const {
  return make_poisson_boltzmann(result_.panels, screened_regions(result_.regions, result_.model),
                                result_.regions.inside, result_.regions.outside,
                                result_.model.formulation, options);
}

std::vector<RegionCharges> SolvationProblem::potentials_of(std::span<const PointCharges> charges,
                                                           Processor processor) const {
  const Panels& panels = result_.panels;
  std::vector<RegionCharges> at_panels(charges.size());
  for (std::size_t r = 0; r < charges.size(); ++r) {
    if (charges[r].q.empty()) continue;
    const SoluteRegion& region = result_.regions.regions[r];
    const std::size_t n = region.panels.size();
    LargeVector<Vec3d> centroids(n);
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < n; ++k)
      centroids[k] = panels.centroid(region.panels[k]) + panels.origin;
    const double over = 1 / result_.model.permittivity_in(region.kind);
    std::vector<Vec3d> gradient(takes_fluxes(result_.model.formulation) ? n : 0);
    at_panels[r].potential = charges[r].potential_at(centroids, tolerance_, gradient, processor);
    for (double& potential : at_panels[r].potential) potential *= over;
    at_panels[r].flux.resize(gradient.size());
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < gradient.size(); ++k)
      at_panels[r].flux[k] = over * dot(panels.triangle(region.panels[k]).normal, gradient[k]);
  }
  return at_panels;
}

std::vector<PointCharges> SolvationProblem::charges() const {
  std::vector<PointCharges> result;
  for (const SoluteRegion& region : result_.regions.regions)
    result.push_back(charges_in(region, molecule_.atoms));
  return result;
}

void SolvationProblem::find_coulomb_energy() {
  const double unit = result_.model.unit_of_potential();
  result_.coulomb_energy = 0;
  // Sums over pairs are much larger than what is left of them, and take little time.
  for (const SoluteRegion& region : result_.regions.regions) {
    const PointCharges charges = charges_in(region, molecule_.atoms);
    const std::vector<double> potential = charges.potential();
    for (std::size_t k = 0; k < potential.size(); ++k)
      result_.coulomb_energy +=
          0.5 * unit * charges.q[k] * potential[k] / result_.model.permittivity_in(region.kind);
  }
}

void SolvationProblem::evaluate(std::span<const double> x) {
  std::tie(result_.potential, result_.normal_field) = boundary_values(x);
  result_.solvation_energy = 0;
  result_.reaction.resize(molecule_.atoms.size());
  for (const SoluteRegion& region : result_.regions.regions) {
    if (region.kind != SoluteRegion::Kind::solute) continue;
    const PointCharges charges = charges_in(region, molecule_.atoms);
    const std::vector<double> reaction = surface_potential(
        result_, region, {result_.potential, result_.normal_field}, charges.places);
    for (std::size_t k = 0; k < reaction.size(); ++k) {
      result_.reaction[region.atoms[k]] = reaction[k];
      result_.solvation_energy += 0.5 * charges.q[k] * reaction[k];
    }
  }
}

std::vector<std::vector<PointCharges>> SolvationProblem::charges_of(
    std::span<const ChargeSet> sets) const {
  const std::vector<SoluteRegion>& regions = result_.regions.regions;
  std::vector<std::vector<PointCharges>> result;
  for (const ChargeSet& set : sets) {
    std::vector<Vec3d> places;
    for (const Atom& atom : set.atoms) places.push_back(atom.place);
    const std::vector<int> region_of = regions_of_points(result_.panels, result_.regions, places);
    result.emplace_back(regions.size());
    for (std::size_t k = 0; k < places.size(); ++k) {
      FMBEM_REQUIRE(regions[region_of[k]].kind == SoluteRegion::Kind::solute,
                    "the site " << set.name << " has its atom " << set.atoms[k].name << " at "
                                << place(places[k]) << " (line " << set.atoms[k].line
                                << "), which is in no molecule");
      PointCharges& charges = result.back()[region_of[k]];
      charges.places.push_back(places[k]);
      charges.q.push_back(set.atoms[k].charge);
    }
  }
  return result;
}

void SolvationProblem::evaluate_sites(std::span<const double> x,
                                      std::span<const std::vector<PointCharges>> sets,
                                      std::size_t column) {
  const auto [potential, normal_field] = boundary_values(x);
  for (std::size_t r = 0; r < result_.regions.regions.size(); ++r) {
    std::vector<Vec3d> places;
    for (const std::vector<PointCharges>& set : sets)
      places.insert(places.end(), set[r].places.begin(), set[r].places.end());
    if (places.empty()) continue;
    const std::vector<double> reaction =
        surface_potential(result_, result_.regions.regions[r], {potential, normal_field}, places);
    std::size_t k = 0;
    for (std::size_t row = 0; row < sets.size(); ++row)
      for (const double q : sets[row][r].q) result_.site_energies(row, column) += q * reaction[k++];
  }
}

std::pair<LargeVector<double>, LargeVector<double>> SolvationProblem::boundary_values(
    std::span<const double> x) const {
  const double unit = result_.model.unit_of_potential();
  const std::size_t n = result_.panels.size();
  LargeVector<double> potential(n), normal_field(n);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    potential[i] = unit * x[2 * i];
    normal_field[i] = -unit * x[2 * i + 1];
  }
  return {std::move(potential), std::move(normal_field)};
}

}  // namespace fmbem
