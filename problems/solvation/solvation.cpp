#include "fmbem/problems/solvation/solvation.hpp"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/solvation/point_charges.hpp"
#include "fmbem/problems/solvation/poisson_boltzmann_operator.hpp"
#include "fmbem/problems/solvation/solvation_field.hpp"
#include "fmbem/solvers/norm.hpp"

namespace fmbem {
namespace {

/// Of the preconditioner.
constexpr int panels_in_leaf = 32;

std::vector<ScreenedRegion> screened_regions(const SoluteRegions& found,
                                             const SolvationModel& model) {
  std::vector<ScreenedRegion> result;
  for (const SoluteRegion& region : found.regions)
    result.push_back({model.permittivity_in(region.kind), model.kappa_in(region.kind),
                      region.panels, region.sign});
  return result;
}

/// One molecule in its surfaces; potentials are those of charges in e with 1/(4πεr), e/Å.
class Problem {
 public:
  Problem(const Molecule& molecule, const SolvationModel& model, double tolerance,
          Solvation& result)
      : molecule_(molecule), model_(model), tolerance_(tolerance), result_(result) {}

  /// What charges make at the centroids of their region's panels. `charges`: [regions].
  std::vector<double> right_hand_side(const PoissonBoltzmannOperator& op,
                                      std::span<const PointCharges> charges) const {
    const Panels& panels = result_.panels;
    std::vector<RegionCharges> at_panels(charges.size());
    for (std::size_t r = 0; r < charges.size(); ++r) {
      if (charges[r].q.empty()) continue;
      const SoluteRegion& region = result_.regions.regions[r];
      std::vector<Vec3d> centroids;
      for (const std::int32_t i : region.panels)
        centroids.push_back(panels.centroid(i) + panels.origin);
      const double over = 1 / model_.permittivity_in(region.kind);
      std::vector<Vec3d> gradient(op.takes_fluxes() ? centroids.size() : 0);
      at_panels[r].potential = charges[r].potential_at(centroids, tolerance_, gradient);
      for (double& potential : at_panels[r].potential) potential *= over;
      for (std::size_t k = 0; k < gradient.size(); ++k)
        at_panels[r].flux.push_back(over *
                                    dot(panels.triangle(region.panels[k]).normal, gradient[k]));
    }
    return op.right_hand_side(at_panels);
  }

  /// [regions]: the molecule's charges.
  std::vector<PointCharges> charges() const {
    std::vector<PointCharges> result;
    for (const SoluteRegion& region : result_.regions.regions)
      result.push_back(charges_in(region, molecule_.atoms));
    return result;
  }

  /// From unknowns to what is asked for.
  void evaluate(std::span<const double> x) {
    const double unit = model_.unit_of_potential();
    std::tie(result_.potential, result_.normal_field) = boundary_values(x);
    result_.reaction.resize(molecule_.atoms.size());
    for (const SoluteRegion& region : result_.regions.regions) {
      if (region.kind != SoluteRegion::Kind::solute) continue;
      const PointCharges charges = charges_in(region, molecule_.atoms);
      const std::vector<double> reaction = surface_potential(
          result_, region, {result_.potential, result_.normal_field}, charges.places);
      const std::vector<double> coulomb = charges.potential(tolerance_);
      for (std::size_t k = 0; k < reaction.size(); ++k) {
        result_.reaction[region.atoms[k]] = reaction[k];
        result_.solvation_energy += 0.5 * charges.q[k] * reaction[k];
        result_.coulomb_energy +=
            0.5 * unit * charges.q[k] * coulomb[k] / model_.permittivity_in(region.kind);
      }
    }
  }

  /// [sets][regions]: the charges of each set.
  std::vector<std::vector<PointCharges>> charges_of(std::span<const ChargeSet> sets) const {
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

  /// Column `column` of the matrix of sites, from what solves for that set.
  void evaluate_sites(std::span<const double> x, std::span<const std::vector<PointCharges>> sets,
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
        for (const double q : sets[row][r].q)
          result_.site_energies(row, column) += q * reaction[k++];
    }
  }

 private:
  /// φ and −∂φ/∂n, in kcal/(mol e).
  std::pair<std::vector<double>, std::vector<double>> boundary_values(
      std::span<const double> x) const {
    const double unit = model_.unit_of_potential();
    std::vector<double> potential, normal_field;
    for (std::size_t i = 0; i < result_.panels.size(); ++i) {
      potential.push_back(unit * x[2 * i]);
      normal_field.push_back(-unit * x[2 * i + 1]);
    }
    return {potential, normal_field};
  }

  const Molecule& molecule_;
  const SolvationModel& model_;
  double tolerance_;
  Solvation& result_;
};

/// So many right-hand sides share products.
constexpr std::size_t sites_at_a_time = 4;

void solve_for_sites(LinearSolver& solver, const PoissonBoltzmannOperator& op, Problem& problem,
                     std::span<const ChargeSet> sites, Solvation& result) {
  const std::vector<std::vector<PointCharges>> sets = problem.charges_of(sites);
  result.site_energies = SquareMatrix(sets.size());
  const std::size_t n = 2 * result.panels.size();
  for (std::size_t begin = 0; begin < sets.size(); begin += sites_at_a_time) {
    const std::size_t count = std::min(sites_at_a_time, sets.size() - begin);
    std::vector<double> b, x(count * n);
    for (std::size_t k = 0; k < count; ++k) {
      const std::vector<double> one = problem.right_hand_side(op, sets[begin + k]);
      b.insert(b.end(), one.begin(), one.end());
      result.rhs_norm.push_back(norm_of(one));
    }
    for (SolveReport& report : solver.solve(b, x, static_cast<int>(count))) {
      result.converged = result.converged && report.converged;
      result.solves.push_back(std::move(report));
    }
    for (std::size_t k = 0; k < count; ++k) op.to_direct(std::span(x).subspan(k * n, n));
    for (std::size_t k = 0; k < count; ++k)
      problem.evaluate_sites(std::span(x).subspan(k * n, n), sets, begin + k);
  }
}

}  // namespace

Solvation solvate(const SurfaceMesh& mesh, const Molecule& molecule, const SolvationModel& model,
                  const LayerOptions& options, std::span<const ChargeSet> sites) {
  model.check();
  refuse_coincident_charges(molecule);
  Solvation result;
  result.model = model;
  LayerOptions on_cpu = options;
  on_cpu.op.processor = Processor::cpu;
  LinearSolver solver(options.solver);
  if (options.started) options.started(mesh.triangles.size());
  const Timer setup;
  result.scale_to_m = mesh.scale_to_m;
  result.solver_tolerance = solver.tolerance();
  result.operator_tolerance =
      options.op.tolerance > 0 ? options.op.tolerance : 0.1 * solver.tolerance();
  on_cpu.op.tolerance = result.operator_tolerance;
  result.panels = make_panels(mesh, Processor::cpu, panels_in_leaf);
  result.regions = find_solute_regions(mesh, result.panels, molecule);
  Problem problem(molecule, result.model, result.solver_tolerance, result);

  const Timer assembly;
  const auto op = make_poisson_boltzmann(result.panels, screened_regions(result.regions, model),
                                         result.regions.inside, result.regions.outside,
                                         model.formulation, on_cpu.op);
  result.assembly_seconds = assembly.seconds();
  const Timer preconditioner;
  result.leaves = result.panels.leaves();
  solver.set_operator(op, op->leaf_begin());
  result.preconditioner_seconds = preconditioner.seconds();
  result.krylov = solver.krylov();
  result.pc_type = solver.pc_type();
  result.preconditioner_bytes = solver.preconditioner_bytes();
  const std::vector<double> b = problem.right_hand_side(*op, problem.charges());
  result.setup_seconds = setup.seconds();

  const Timer solve;
  std::vector<double> x(b.size());
  result.rhs_norm = {norm_of(b)};
  result.solves = {solver.solve(b, x)};
  result.product_median_seconds = solver.median_product_seconds();
  result.op = op->info();
  result.converged = result.solves[0].converged;
  if (options.inspect) options.inspect({*op, result.panels, b, x});
  solve_for_sites(solver, *op, problem, sites, result);
  result.solve_seconds = solve.seconds();
  const Timer potentials;
  op->to_direct(x);
  problem.evaluate(x);
  result.potential_seconds = potentials.seconds();
  return result;
}

}  // namespace fmbem
