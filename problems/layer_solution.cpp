#include "fmbem/problems/layer_solution.hpp"

#include <algorithm>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/tasks.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/problems/given_tolerance.hpp"

namespace fmbem {
namespace {

const LayerOptions& checked(const LayerOptions& options) {
  FMBEM_REQUIRE(options.op.tolerance >= 0 && options.op.tolerance <= 0.5,
                "the operator's tolerance must be between 0 and 0.5, not " << options.op.tolerance);
  FMBEM_REQUIRE(
      options.op.kappa == 0,
      "charges and fields of conductors and dielectrics are those of Laplace's kernel: set "
      "OperatorOptions::kappa to 0");
  return options;
}

LargeVector<double> one_behind_the_other(const std::vector<std::vector<double>>& vectors) {
  const std::size_t n = vectors.empty() ? 0 : vectors.front().size();
  LargeVector<double> all(n * vectors.size());
  for (std::size_t k = 0; k < vectors.size(); ++k)
    copy_numbers(vectors[k], std::span(all).subspan(k * n, n));
  return all;
}

}  // namespace

std::vector<std::int64_t> leaves_of_unknowns(const Panels& panels, std::size_t unknowns) {
  std::vector<std::int64_t> result(panels.leaf_begin.begin(), panels.leaf_begin.end());
  for (std::size_t first = panels.size(); first < unknowns; first += panels.size())
    for (const std::int64_t begin : panels.leaf_begin.subspan(1))
      result.push_back(static_cast<std::int64_t>(first) + begin);
  return result;
}

LayerSolver::LayerSolver(const SurfaceMesh& mesh, const LayerOptions& options,
                         LayerSolution& result)
    : result_(result),
      solver_(checked(options).solver),
      given_tolerance_(options.op.tolerance),
      op_options_(options.op),
      inspect_(options.inspect) {
  if (options.started) options.started(mesh.triangles.size());
  const Timer setup;
  result_.scale_to_m = mesh.scale_to_m;
  result_.solver_tolerance = solver_.tolerance();
  if (op_options_.tolerance == 0) op_options_.tolerance = 0.1 * solver_.tolerance();
  result_.operator_tolerance = op_options_.tolerance;
  op_options_.relaxes = options.solver.loose_products;
  if (options.planes.empty()) {
    op_options_.processor =
        options.op.processor.value_or(faster_processor(mesh.triangles.size(), op_options_));
    result_.panels = make_panels(mesh, *op_options_.processor, options.block_panels);
  } else {
    result_.panels = make_panels(mesh, options.planes, options.block_panels);
  }
  result_.leaves = result_.panels.leaves();
  result_.setup_seconds = setup.seconds();
}

void LayerSolver::set_up(const MakeOperator& make_operator) {
  const Timer setup, assembly;
  op_ = made_to_tolerance(given_tolerance_, result_.solver_tolerance,
                          [&] { return make_operator(op_options_); });
  result_.assembly_seconds = assembly.seconds();
  const Timer preconditioner;
  solver_.set_operator(op_, leaves_of_unknowns(result_.panels, op_->size()));
  result_.preconditioner_seconds = preconditioner.seconds();
  result_.krylov = solver_.krylov();
  result_.pc_type = solver_.pc_type();
  result_.preconditioner_bytes = solver_.preconditioner_bytes();
  result_.setup_seconds += setup.seconds();
}

std::vector<std::vector<double>> LayerSolver::solve(const std::vector<std::vector<double>>& rhs) {
  const Timer solve;
  const auto problems = static_cast<std::int64_t>(rhs.size());
  std::vector<std::vector<double>> sigma(problems);
  for_tasks(problems, [&](std::int64_t k) { sigma[k].resize(op_->size()); });
  std::vector<SolveReport> reports =
      solver_.solve(std::vector<std::span<const double>>(rhs.begin(), rhs.end()),
                    std::vector<std::span<double>>(sigma.begin(), sigma.end()));
  std::move(reports.begin(), reports.end(), std::back_inserter(result_.solves));
  result_.solve_seconds += solve.seconds();
  result_.op = op_->info();
  if (op_->processor() == Processor::gpu) result_.device_bytes = peak_device_memory();
  result_.product_median_seconds = solver_.median_product_seconds();
  result_.converged = std::all_of(result_.solves.begin(), result_.solves.end(),
                                  [](const SolveReport& report) { return report.converged; });
  if (inspect_)
    inspect_({*op_, result_.panels, one_behind_the_other(rhs), one_behind_the_other(sigma)});
  return sigma;
}

}  // namespace fmbem
