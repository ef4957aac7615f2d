#include "fmbem/problems/solvation/solvation.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
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

// CODATA 2018
constexpr double gas_constant = 8.31446261815324e-3;  // kJ/(mol K)
constexpr double avogadro = 6.02214076e23, elementary_charge = 1.602176634e-19,
                 boltzmann = 1.380649e-23;

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

  /// The rows of solutes: what their charges make at centroids.
  std::vector<double> right_hand_side() const {
    const Panels& panels = result_.panels;
    std::vector<double> b(2 * panels.size());
    for (const SoluteRegion& region : result_.regions.regions) {
      if (region.kind != SoluteRegion::Kind::solute) continue;
      std::vector<Vec3d> centroids;
      for (const std::int32_t i : region.panels)
        centroids.push_back(panels.centroid(i) + panels.origin);
      const std::vector<double> potential =
          charges_in(region, molecule_.atoms).potential_at(centroids, tolerance_);
      for (std::size_t k = 0; k < region.panels.size(); ++k)
        b[2 * static_cast<std::size_t>(region.panels[k]) + (region.sign[k] > 0 ? 0 : 1)] =
            potential[k] / model_.permittivity_in(region.kind);
    }
    return b;
  }

  /// From unknowns to what is asked for.
  void evaluate(const std::vector<double>& x) {
    const std::size_t n = result_.panels.size();
    const double unit = model_.unit_of_potential();
    for (std::size_t i = 0; i < n; ++i) {
      result_.potential.push_back(unit * x[2 * i]);
      result_.normal_field.push_back(-unit * x[2 * i + 1]);
    }
    result_.reaction.resize(molecule_.atoms.size());
    for (const SoluteRegion& region : result_.regions.regions) {
      if (region.kind != SoluteRegion::Kind::solute) continue;
      const PointCharges charges = charges_in(region, molecule_.atoms);
      const std::vector<double> reaction =
          surface_field(result_, region, {result_.potential, result_.normal_field}, charges.places)
              .potential;
      const std::vector<double> coulomb = charges.potential(tolerance_);
      for (std::size_t k = 0; k < reaction.size(); ++k) {
        result_.reaction[region.atoms[k]] = reaction[k];
        result_.solvation_energy += 0.5 * charges.q[k] * reaction[k];
        result_.coulomb_energy +=
            0.5 * unit * charges.q[k] * coulomb[k] / model_.permittivity_in(region.kind);
      }
    }
  }

 private:
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

double SolvationModel::permittivity_in(SoluteRegion::Kind kind) const {
  return kind == SoluteRegion::Kind::solute ? permittivity_inside : permittivity_outside;
}
double SolvationModel::kappa_in(SoluteRegion::Kind kind) const {
  return kind == SoluteRegion::Kind::solvent ? kappa : 0;
}
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
  const auto op = std::make_shared<PoissonBoltzmannOperator>(
      result.panels, screened_regions(result.regions, model), result.regions.inside,
      result.regions.outside, on_cpu.op);
  result.assembly_seconds = assembly.seconds();
  const Timer preconditioner;
  result.leaves = result.panels.leaves();
  solver.set_operator(op, op->leaf_begin());
  result.preconditioner_seconds = preconditioner.seconds();
  result.krylov = solver.krylov();
  result.pc_type = solver.pc_type();
  result.preconditioner_bytes = solver.preconditioner_bytes();
  const std::vector<double> b = problem.right_hand_side();
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
  problem.evaluate(x);
  result.potential_seconds = potentials.seconds();
  return result;
}

}  // namespace fmbem
