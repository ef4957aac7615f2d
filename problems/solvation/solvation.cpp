#include "fmbem/problems/solvation/solvation.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <utility>

#include "fmbem/bem/layer/double_layer_field.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/bem/layer/potential_at.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/solvation/poisson_boltzmann_operator.hpp"
#include "fmbem/solvers/norm.hpp"

namespace fmbem {
namespace {

/// Of the preconditioner.
constexpr int panels_in_leaf = 32;

// CODATA 2018
constexpr double gas_constant = 8.31446261815324e-3;  // kJ/(mol K)
constexpr double avogadro = 6.02214076e23, elementary_charge = 1.602176634e-19,
                 boltzmann = 1.380649e-23;

/// Whether so many pairs are added up faster without an FMM.
bool are_few(std::size_t sources, std::size_t targets) {
  constexpr double few_pairs = 1e8;
  return static_cast<double>(sources) * static_cast<double>(targets) <= few_pairs;
}

/// Σ_j q_j/(4π|x_i − y_j|), and its gradients if they are asked for, with an accuracy that is
/// beyond that of the solve.
std::vector<double> potential_of(std::span<const Vec3d> charges, std::span<const double> q,
                                 std::span<const Vec3d> points, bool same, double tolerance,
                                 std::span<Vec3d> gradient = {}) {
  std::vector<double> result(points.size());
  if (charges.empty() || points.empty()) return result;
  fmm::PlanOptions options{.tolerance = std::clamp(0.1 * tolerance, 1e-12, 1e-4),
                           .precision = Precision::double_precision,
                           .gradient = !gradient.empty()};
  // Few pairs take less time than making operators.
  const std::size_t most = std::max(charges.size(), points.size());
  if (are_few(charges.size(), points.size())) options.max_leaf = static_cast<int>(most);
  const fmm::Plan plan = same ? fmm::Plan(points, options) : fmm::Plan(charges, points, options);
  plan.evaluate({.charges = q}, {.potential = result, .gradient = gradient});
  return result;
}

/// The atoms of a solute.
struct Charges {
  std::vector<Vec3d> places;
  std::vector<double> q;
};
Charges charges_of(const SoluteRegion& region, const std::vector<Atom>& atoms) {
  Charges result;
  for (const std::int32_t a : region.atoms) {
    result.places.push_back(atoms[a].place);
    result.q.push_back(atoms[a].charge);
  }
  return result;
}

void refuse_coincident_charges(const Molecule& molecule) {
  std::vector<std::size_t> order;
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a)
    if (molecule.atoms[a].charge != 0) order.push_back(a);
  const auto key = [&](std::size_t a) {
    const Vec3d x = molecule.atoms[a].place;
    return std::tuple(x.x, x.y, x.z);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(key(a), a) < std::pair(key(b), b);
  });
  for (std::size_t k = 1; k < order.size(); ++k) {
    const Atom& a = molecule.atoms[order[k - 1]];
    const Atom& b = molecule.atoms[order[k]];
    FMBEM_REQUIRE(key(order[k - 1]) != key(order[k]),
                  molecule.file << ", line " << b.line << ": the atom " << b.title()
                                << " has a charge at the place of " << a.title() << ", line "
                                << a.line);
  }
}

double permittivity_of(const SoluteRegion& region, const SolvationModel& model) {
  return region.kind == SoluteRegion::Kind::solute ? model.permittivity_inside
                                                   : model.permittivity_outside;
}

std::vector<ScreenedRegion> screened_regions(const SoluteRegions& found,
                                             const SolvationModel& model) {
  std::vector<ScreenedRegion> result;
  for (const SoluteRegion& region : found.regions)
    result.push_back({permittivity_of(region, model),
                      region.kind == SoluteRegion::Kind::solvent ? model.kappa : 0, region.panels,
                      region.sign});
  return result;
}

/// One molecule in its surfaces; potentials are those of charges in e with 1/(4πεr), e/Å.
class Problem {
 public:
  Problem(const Molecule& molecule, const SolvationModel& model, double tolerance,
          Solvation& result)
      : molecule_(molecule), model_(model), tolerance_(tolerance), result_(result) {}

  /// What the charges of each region make at its panels.
  std::vector<RegionCharges> charges_at_panels(bool with_flux) const {
    const Panels& panels = result_.panels;
    std::vector<RegionCharges> result(result_.regions.regions.size());
    for (std::size_t r = 0; r < result.size(); ++r) {
      const SoluteRegion& region = result_.regions.regions[r];
      if (region.kind != SoluteRegion::Kind::solute) continue;
      const auto [places, q] = charges_of(region, molecule_.atoms);
      std::vector<Vec3d> centroids;
      for (const std::int32_t i : region.panels)
        centroids.push_back(panels.centroid(i) + panels.origin);
      const double over = 1 / permittivity_of(region, model_);
      std::vector<Vec3d> gradient(with_flux ? centroids.size() : 0);
      result[r].potential = potential_of(places, q, centroids, false, tolerance_, gradient);
      for (double& potential : result[r].potential) potential *= over;
      for (std::size_t k = 0; k < gradient.size(); ++k)
        result[r].flux.push_back(over * dot(panels.triangle(region.panels[k]).normal, gradient[k]));
    }
    return result;
  }

  /// From unknowns to what is asked for.
  void evaluate(const std::vector<double>& x) {
    const std::size_t n = result_.panels.size();
    const double unit = 4 * std::numbers::pi * model_.energy_constant;
    for (std::size_t i = 0; i < n; ++i) {
      result_.potential.push_back(unit * x[2 * i]);
      result_.normal_field.push_back(-unit * x[2 * i + 1]);
    }
    result_.reaction.resize(molecule_.atoms.size());
    for (const SoluteRegion& region : result_.regions.regions) {
      if (region.kind != SoluteRegion::Kind::solute) continue;
      const auto [places, q] = charges_of(region, molecule_.atoms);
      const std::vector<double> reaction = reaction_potential(region, x, places);
      const std::vector<double> coulomb = potential_of(places, q, places, true, tolerance_);
      for (std::size_t k = 0; k < places.size(); ++k) {
        result_.reaction[region.atoms[k]] = unit * reaction[k];
        result_.solvation_energy += 0.5 * unit * q[k] * reaction[k];
        result_.coulomb_energy += 0.5 * unit * q[k] * coulomb[k] / permittivity_of(region, model_);
      }
    }
  }

 private:
  /// Green's identity in a solute, without the potential of its own charges.
  std::vector<double> reaction_potential(const SoluteRegion& region, const std::vector<double>& x,
                                         std::span<const Vec3d> places) const {
    const Panels& panels = result_.panels;
    std::vector<double> sigma(panels.size()), mu(panels.size());
    for (std::size_t k = 0; k < region.panels.size(); ++k) {
      const std::int32_t i = region.panels[k];
      const SoluteRegion& back = result_.regions.regions[result_.regions.inside[i]];
      const double flux = permittivity_of(back, model_) / permittivity_of(region, model_);
      sigma[i] = region.sign[k] * flux * x[2 * static_cast<std::size_t>(i) + 1];
      mu[i] = -region.sign[k] * x[2 * static_cast<std::size_t>(i)];
    }
    const double tolerance = std::clamp(0.1 * tolerance_, 1e-9, 1e-5);
    if (are_few(region.panels.size(), places.size()))
      return potential_at(panels, region.panels, sigma, mu, places, tolerance);
    const FieldOptions options{.tolerance = tolerance};
    std::vector<double> potential = evaluate_field(panels, sigma, places, options).potential;
    const Field of_mu = evaluate_double_layer(panels, mu, places, options);
    for (std::size_t k = 0; k < places.size(); ++k) potential[k] += of_mu.potential[k];
    return potential;
  }

  const Molecule& molecule_;
  const SolvationModel& model_;
  double tolerance_;
  Solvation& result_;
};

void require_positive(double value, const char* what) {
  FMBEM_REQUIRE(value > 0 && std::isfinite(value),
                "the " << what << " must be positive, not " << value);
}

}  // namespace

double SolvationModel::thermal_energy() const {
  return gas_constant / kilojoules_in_kilocalorie * temperature;
}

void SolvationModel::check() const {
  require_positive(permittivity_inside, "permittivity of the solute");
  require_positive(permittivity_outside, "permittivity of the solvent");
  require_positive(temperature, "temperature");
  require_positive(energy_constant, "energy constant");
  FMBEM_REQUIRE(kappa >= 0 && std::isfinite(kappa), "κ must be 0 or positive, not " << kappa);
}

double kappa_of(double ionic_strength, double permittivity, double temperature) {
  FMBEM_REQUIRE(ionic_strength >= 0 && std::isfinite(ionic_strength),
                "the ionic strength must be 0 or positive, not " << ionic_strength);
  require_positive(permittivity, "permittivity of the solvent");
  require_positive(temperature, "temperature");
  const double per_square_metre = 2000 * avogadro * elementary_charge * elementary_charge *
                                  ionic_strength /
                                  (epsilon_0 * permittivity * boltzmann * temperature);
  return 1e-10 * std::sqrt(per_square_metre);
}

Solvation solvate(const SurfaceMesh& mesh, const Molecule& molecule, const SolvationModel& model,
                  const LayerOptions& options) {
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
  const std::vector<double> b = op->right_hand_side(problem.charges_at_panels(op->takes_fluxes()));
  result.setup_seconds = setup.seconds();

  const Timer solve;
  std::vector<double> x(b.size());
  result.rhs_norm = {norm_of(b)};
  result.solves = {solver.solve(b, x)};
  result.solve_seconds = solve.seconds();
  result.product_median_seconds = solver.median_product_seconds();
  result.op = op->info();
  result.converged = result.solves[0].converged;
  if (options.inspect) options.inspect({*op, result.panels, b, x});
  const Timer potentials;
  op->to_direct(x);
  problem.evaluate(x);
  result.potential_seconds = potentials.seconds();
  return result;
}

}  // namespace fmbem
