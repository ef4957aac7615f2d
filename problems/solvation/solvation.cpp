#include "fmbem/problems/solvation/solvation.hpp"

#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/tasks.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/problems/given_tolerance.hpp"
#include "fmbem/problems/solvation/solvation_problem.hpp"

namespace fmbem {
namespace {

/// So many right-hand sides share products.
constexpr std::size_t sites_at_a_time = 4;

void solve_for_sites(LinearSolver& solver, const PoissonBoltzmannOperator& op,
                     SolvationProblem& problem, std::span<const ChargeSet> sites,
                     Solvation& result) {
  const std::vector<std::vector<PointCharges>> sets = problem.charges_of(sites);
  result.site_energies = SquareMatrix(sets.size());
  const std::size_t n = 2 * result.panels.size();
  for (std::size_t begin = 0; begin < sets.size(); begin += sites_at_a_time) {
    const std::size_t count = std::min(sites_at_a_time, sets.size() - begin);
    std::vector<double> b, x(count * n);
    for (std::size_t k = 0; k < count; ++k) {
      const std::vector<double> one =
          op.right_hand_side(problem.potentials_of(sets[begin + k], op.processor()));
      b.insert(b.end(), one.begin(), one.end());
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
  LinearSolver solver(options.solver);
  if (options.started) options.started(mesh.triangles.size());
  const Timer setup;
  result.scale_to_m = mesh.scale_to_m;
  result.solver_tolerance = solver.tolerance();
  result.operator_tolerance =
      options.op.tolerance > 0 ? options.op.tolerance : 0.1 * solver.tolerance();
  OperatorOptions how = options.op;
  how.tolerance = result.operator_tolerance;
  if (!how.processor) how.processor = faster_processor(mesh.triangles.size(), how);
  result.panels = solvation_panels(mesh, *how.processor);
  result.regions = find_solute_regions(mesh, result.panels, molecule);
  SolvationProblem problem(molecule, result.solver_tolerance, result);

  // They need nothing of the operator.
  std::vector<RegionCharges> of_charges;
  const bool gpu_works = how.processor == Processor::gpu;
  std::future<void> charges = start_beside(
      gpu_works, [&] { of_charges = problem.potentials_of(problem.charges(), *how.processor); });
  const Timer assembly;
  const auto op = made_to_tolerance(options.op.tolerance, result.solver_tolerance,
                                    [&] { return problem.make_operator(how); });
  result.assembly_seconds = assembly.seconds();
  // What needs nothing of the preconditioner, whose systems leave the host idle.
  std::vector<double> b;
  std::future<void> right_hand_side = start_beside(gpu_works, [&] {
    charges.get();
    b = op->right_hand_side(of_charges);
    problem.find_coulomb_energy();
  });
  const Timer preconditioner;
  result.leaves = result.panels.leaves();
  solver.set_operator(op, op->leaf_begin());
  result.preconditioner_seconds = preconditioner.seconds();
  right_hand_side.get();
  result.krylov = solver.krylov();
  result.pc_type = solver.pc_type();
  result.preconditioner_bytes = solver.preconditioner_bytes();
  result.setup_seconds = setup.seconds();

  const Timer solve;
  LargeVector<double> x(b.size());
  result.solves = {solver.solve(b, x)};
  result.product_median_seconds = solver.median_product_seconds();
  result.op = op->info();
  if (result.op.processor == Processor::gpu) result.device_bytes = peak_device_memory();
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
