// Prints the table of docs/performance.md: solves on surfaces of growing size, by phase.
// fmbem-bench-solve --surface sphere,cube --panels 1e4,1e5 --tolerance 1e-6
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/main.hpp"
#include "bench/operator_choice.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/solvers/linear_solver.hpp"
#include "fmbem/solvers/petsc.hpp"

using namespace fmbem;

namespace {

struct Options {
  std::vector<std::string> surfaces{"sphere", "cube", "bracket"};
  std::vector<double> panels{1e4, 1e5, 1e6};
  std::vector<double> tolerances{1e-6};
  bench::OperatorChoice choice;
  std::string data = "source", kind = "fmm", vectors_on = "gpu";
  double operator_tolerance = 0;  // a tenth of the tolerance
  int vectors = 1, threads = 0;
};

/// Seconds since the timer was set; sets it anew.
double lap(Timer& timer) { return std::exchange(timer, Timer()).seconds(); }

std::vector<double> right_hand_sides(const Options& options, const Panels& panels, Vec3d source) {
  std::vector<double> b;
  for (int v = 0; v < options.vectors; ++v) {
    for (std::size_t i = 0; i < panels.size(); ++i)
      b.push_back(options.data == "constant"
                      ? 1.0
                      : 1 / norm(panels.centroid(i) + panels.origin - (1 - 0.1 * v) * source));
  }
  return b;
}

void run(const Options& options, const std::string& name, double n, double tolerance) {
  const bench::Surface& surface = bench::surfaces().at(name);
  reset_peak_device_memory();
  std::optional<SurfaceMesh> mesh = surface.make(n);
  OperatorOptions operator_options;
  operator_options.kind =
      options.kind == "dense" ? OperatorOptions::Choice::dense : OperatorOptions::Choice::fmm;
  operator_options.tolerance =
      options.operator_tolerance > 0 ? options.operator_tolerance : 0.1 * tolerance;
  options.choice.set(operator_options);
  Timer timer;
  const Panels panels = make_panels(*mesh, *operator_options.processor);
  mesh.reset();  // some gigabytes
  const double panel_seconds = lap(timer);
  const auto v = make_single_layer(panels, operator_options);
  const double operator_seconds = lap(timer);
  const bool host_vectors = options.vectors_on == "host";
  LinearSolver solver({.tolerance = tolerance, .host_vectors = host_vectors});
  solver.set_operator(v, panels.leaf_begin);
  const double inverse_seconds = lap(timer);
  const std::vector<double> b = right_hand_sides(options, panels, surface.source);
  std::vector<double> x(b.size());
  lap(timer);
  const SolveReport report = solver.solve(b, x, options.vectors).front();
  const double solve_seconds = lap(timer);
  OperatorInfo info = v->info();
  double charge = 0;  // over 4π: with data 1 the capacitance over 4πε₀
  for (std::size_t i = 0; i < panels.size(); ++i) charge += inv_4pi * x[i] * panels.area(i);
  std::printf(
      "| %s | %zu | %s | %.0e | %d | %d | %.0f | %.2f | %.2f | %.2f | %.2f | **%.2f** | **%.4f** | "
      "%d | **%.2f** | %.1e | %.6f | %.2f | %.2f | %.2f | %.2f |\n",
      name.c_str(), panels.size(), host_vectors ? VECSTANDARD : vec_type_for(*v), tolerance,
      info.order, info.max_leaf, double(info.near_entries) / double(panels.size()), panel_seconds,
      info.setup_seconds["far field"], info.setup_seconds["near field"], inverse_seconds,
      panel_seconds + operator_seconds + inverse_seconds, solver.median_product_seconds(),
      report.iterations, solve_seconds, report.true_residual, charge,
      double(info.memory_bytes) / 1e9, double(solver.preconditioner_bytes()) / 1e9,
      double(peak_memory()) / 1e9, double(peak_device_memory()) / 1e9);
  std::fflush(stdout);
}

void run_all(const Options& options) {
  bench::start_run(options.choice.backend, options.threads);
  bench::print_heading(
      "| surface | panels | vectors | tolerance | order | leaf | near/row | panels s | far s | "
      "near s | "
      "preconditioner s | **setup** | **product** | iterations | **solve, true residual included** "
      "| true residual | charge/4π | operator GB | preconditioner GB | peak GB | GPU peak GB |");
  for (const std::string& name : options.surfaces)
    for (const double tolerance : options.tolerances)
      for (const double n : options.panels) run(options, name, n, tolerance);
}

}  // namespace

int main(int argc, char** argv) {
  using bench::between;
  Options options;
  CLI::App app("Solves V x = b on surfaces of growing size; times in seconds, memory in GB");
  bench::add_surface_option(app, options.surfaces);
  options.choice.add_options(app);
  app.add_option("--panels", options.panels, "about as many")
      ->delimiter(',')
      ->check(between(20.0, 2e8));
  app.add_option("--tolerance", options.tolerances, "of the solve")
      ->delimiter(',')
      ->check(between(1e-13, 0.5));
  app.add_option("--operator-tolerance", options.operator_tolerance,
                 "default: a tenth of the solve's")
      ->check(between(1e-14, 0.5));
  app.add_option("--data", options.data, "potential of a point charge, or 1")
      ->check(CLI::IsMember({"source", "constant"}));
  app.add_option("--operator", options.kind)->check(CLI::IsMember({"fmm", "dense"}));
  app.add_option("--vectors", options.vectors, "right-hand sides")->check(between(1, 64));
  app.add_option(
         "--vectors-on", options.vectors_on,
         "PETSc's, of an operator on the GPU; gpu takes a PETSc with CUDA, and host is what "
         "happens without one")
      ->check(CLI::IsMember({"gpu", "host"}));
  app.add_option("--threads", options.threads)->check(between(1, 1024));
  return bench::run_main(app, argc, argv, [&] { run_all(options); });
}
