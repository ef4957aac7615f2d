#include "fmbem/problems/solve_problem.hpp"

#include <cmath>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/problem_equations.hpp"
#include "fmbem/problems/problem_layout.hpp"

namespace fmbem {
namespace {

/// Complex densities, and other formulations, are for the CPU.
LayerOptions options_of(const BoundaryProblem& problem, LayerOptions options) {
  options.planes = problem.planes;
  const bool is_real_layer =
      problem.formulation == ProblemFormulation::single && !problem.has_losses();
  if (is_real_layer) return options;
  FMBEM_REQUIRE(options.op.processor != Processor::gpu,
                (problem.has_losses() ? "complex permittivities are"
                                      : "formulations other than the single layer are")
                    << " for the CPU: use the backend cpu");
  options.op.processor = Processor::cpu;
  return options;
}

}  // namespace

/// In the order in which each needs those before it.
struct ProblemSolver::Impl {
  Impl(const SurfaceMesh& the_mesh, const BoundaryProblem& problem, const LayerOptions& options)
      : mesh(the_mesh),
        groups(resolve_groups(mesh, start(problem))),
        is_grounded(check_regions_closed(mesh, problem, groups)),
        solver(mesh, options_of(problem, options), solution),
        panels(solution.panels),
        layout(mesh, solution.problem, groups, is_grounded, panels, solution.notices) {
    solution.applied = layout.applied;
    solution.conductors = layout.conductors.all;
    for (const Group& group : mesh.groups) solution.groups.push_back(group.name);
    equations = problem.formulation == ProblemFormulation::single
                    ? make_layer_equations(layout.parts, solver, solution)
                    : make_dirichlet_problem(layout.parts, solver, solution);
  }

  const BoundaryProblem& start(const BoundaryProblem& problem) {
    return solution.problem = problem;
  }

  const SurfaceMesh& mesh;
  ProblemSolution solution;
  std::vector<ResolvedGroup> groups;
  std::vector<bool> is_grounded;  ///< [regions]
  LayerSolver solver;
  const Panels& panels;
  ProblemLayout layout;
  std::unique_ptr<ProblemEquations> equations;
};

ProblemSolver::ProblemSolver(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                             const LayerOptions& options)
    : impl_(std::make_unique<Impl>(mesh, problem, options)) {}
ProblemSolver::~ProblemSolver() = default;

void ProblemSolver::solve() { impl_->equations->solve({"the problem"}, {impl_->layout.data()}); }

void ProblemSolver::solve_basis() {
  std::vector<std::string> names;
  std::vector<PanelData> data;
  for (std::size_t c = 0; c < impl_->layout.conductors.all.size(); ++c) {
    const Conductor& conductor = impl_->layout.conductors.all[c];
    FMBEM_REQUIRE(!impl_->layout.conductors.given[c].has_charge,
                  "the conductor \"" << conductor.name
                                     << "\" floats: one solution for each conductor at 1 V is for "
                                        "conductors at potentials");
    names.push_back(conductor.name + " at 1 V");
    data.push_back(impl_->layout.conductor_at_1_volt(c));
  }
  FMBEM_REQUIRE(!data.empty(), "there is no conductor to be at 1 V");
  impl_->equations->solve(names, data);
  if (impl_->solution.parts() > 1) return;
  std::vector<ProblemResult>& results = impl_->solution.results;
  for (std::size_t c = 0; c < data.size(); ++c)
    results[results.size() - data.size() + c].conductor_at_1_volt = static_cast<int>(c);
}

void ProblemSolver::solve_for(const std::vector<std::vector<double>>& data) {
  const std::size_t n = impl_->panels.size();
  const double to_volts = impl_->mesh.scale_to_m / impl_->solution.problem.unit();
  std::vector<std::string> names;
  std::vector<PanelData> all;
  for (std::size_t k = 0; k < data.size(); ++k) {
    FMBEM_REQUIRE(data[k].size() == n, "right-hand side " << k << " has " << data[k].size()
                                                          << " values for " << n << " panels");
    names.push_back("right-hand side " + std::to_string(k));
    all.push_back(impl_->layout.without_data());
    all.back().given = impl_->panels.from_input_order(data[k]);
    for (std::size_t i = 0; i < n; ++i) {
      double& value = all.back().given[i];
      FMBEM_REQUIRE(std::isfinite(value), "right-hand side "
                                              << k << " has a value that is not finite for panel "
                                              << impl_->panels.input_index[i]);
      if (impl_->equations->gives_flux(i)) value *= to_volts;
      if (impl_->equations->has_charge_given(i)) value = 0;
    }
  }
  impl_->equations->solve(names, all);
}

const ProblemSolution& ProblemSolver::solution() const { return impl_->solution; }

ProblemSolution ProblemSolver::end(ProblemSolver&& solver) {
  const std::unique_ptr<Impl> impl = std::move(solver.impl_);
  ProblemSolution solution = std::move(impl->solution);
  solution.panels.on_device.reset();
  return solution;
}

ProblemSolution solve_problem(const SurfaceMesh& mesh, const BoundaryProblem& problem,
                              const LayerOptions& options) {
  ProblemSolver solver(mesh, problem, options);
  solver.solve();
  return ProblemSolver::end(std::move(solver));
}

SquareMatrix basis_matrix(const ProblemSolution& solution, std::size_t first) {
  const std::size_t n = solution.conductors.size();
  SquareMatrix matrix(n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i)
      matrix(i, j) = solution.results[first + solution.parts() * j].conductor_flux[i];
  return matrix;
}

}  // namespace fmbem
