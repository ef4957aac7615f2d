// Prints a hash of the bits of products, solves and evaluations, and the milliseconds that each
// took. All choices of a plan are set by hand, so two builds that are to give the same results
// print the same hashes. --backend cuda does it on the GPU.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/operator_choice.hpp"
#include "bench/surfaces.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/solvers/linear_solver.hpp"
#include "tests/unit/points.hpp"

using namespace fmbem;

namespace {

struct Options {
  std::string backend = "cpu";
  double panels = 6000, points = 30000;
  int repeat = 1, threads = 0;
  bool solves = true;
  bool on_gpu() const { return backend == "cuda"; }
};

/// FNV-1a of the bytes.
template <class T>
std::uint64_t hash_of(std::span<const T> values) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const std::byte b : std::as_bytes(values))
    hash = (hash ^ static_cast<std::uint64_t>(b)) * 1099511628211ULL;
  return hash;
}

/// The median of so many runs, in milliseconds.
double median_ms(int repeat, const std::function<void()>& run) {
  std::vector<double> ms;
  for (int k = 0; k < repeat; ++k) {
    const Timer timer;
    run();
    ms.push_back(1e3 * timer.seconds());
  }
  std::nth_element(ms.begin(), ms.begin() + repeat / 2, ms.end());
  return ms[repeat / 2];
}

void row(const std::string& what, std::uint64_t hash, double ms) {
  std::printf("%-58s %016llx %10.2f\n", what.c_str(), static_cast<unsigned long long>(hash), ms);
  std::fflush(stdout);
}

void hash_operator(const Options& options, const std::string& name, const Panels& panels,
                   double tolerance, OperatorOptions::NearField near_field) {
  OperatorOptions how{.kind = OperatorOptions::Choice::fmm, .near_field = near_field};
  how.tolerance = tolerance;
  how.order = tolerance > 1e-5 ? 7 : 14;
  how.max_leaf = 40;
  if (options.on_gpu()) how.processor = Processor::gpu;
  const bool lean = near_field == OperatorOptions::NearField::lean;
  char label[100];
  std::snprintf(label, sizeof label, "%s %zu, %.0e, %s: ", name.c_str(), panels.size(), tolerance,
                lean ? "lean" : "stored");
  const Timer setup;
  const auto v = make_single_layer(panels, how);
  row(label + std::string("setup"), 0, 1e3 * setup.seconds());
  const std::size_t n = panels.size();
  const std::vector<double> x = test::signed_charges(3 * n, 7);
  std::vector<double> y(3 * n);
  v->apply(x.data(), y.data(), {.vectors = 1});
  const double ms =
      median_ms(options.repeat, [&] { v->apply(x.data(), y.data(), {.vectors = 1}); });
  row(label + std::string("V x"), hash_of<double>(std::span(y).first(n)), ms);
  v->apply(x.data(), y.data(), {.vectors = 3});
  row(label + std::string("V X of 3 vectors"), hash_of<double>(y), 0);
  const double accurate = median_ms(options.repeat, [&] {
    v->apply(x.data(), y.data(), {.vectors = 1, .tolerance = v->accurate_tolerance()});
  });
  row(label + std::string("accurate product"), hash_of<double>(std::span(y).first(n)), accurate);
  if (!options.solves) return;
  LinearSolver solver({.tolerance = 10 * tolerance, .host_vectors = true});
  solver.set_operator(v, panels.leaf_begin);
  std::vector<double> sigma(n);
  const Timer solve;
  solver.solve(std::vector<double>(n, 1.0), sigma);
  row(label + std::string("solution"), hash_of<double>(sigma), 1e3 * solve.seconds());
}

void hash_points(const Options& options, const std::string& name, const std::vector<Vec3d>& sources,
                 const std::vector<Vec3d>& targets, Precision precision, bool gradient,
                 bool dipoles) {
  const bool single = precision == Precision::single_precision;
  fmm::PlanOptions how{.tolerance = single ? 1e-4 : 1e-9, .precision = precision};
  how.gradient = gradient;
  how.dipoles = dipoles;
  how.order = single ? 7 : 15;
  how.max_leaf = 50;
  how.inflation = 1.26;
  const bool same = &sources == &targets;
  const fmm::Plan plan =
      options.on_gpu()
          ? (same ? cuda::make_fmm_plan(sources, how) : cuda::make_fmm_plan(sources, targets, how))
          : (same ? fmm::Plan(sources, how) : fmm::Plan(sources, targets, how));
  const std::vector<double> charges = test::signed_charges(sources.size(), 5);
  const std::vector<Vec3d> moments = test::random_dipoles(dipoles ? sources.size() : 0, 11);
  std::vector<double> potential(targets.size());
  std::vector<Vec3d> gradients(gradient ? targets.size() : 0);
  const auto evaluate = [&] {
    plan.evaluate({.charges = charges, .dipoles = moments},
                  {.potential = potential, .gradient = gradients});
  };
  evaluate();
  const double ms = median_ms(options.repeat, evaluate);
  const std::string label = name + " " + std::to_string(sources.size()) +
                            (single ? ", single" : ", double") + (dipoles ? ", dipoles" : "") +
                            (same ? "" : ", other targets");
  row(label + ": potential", hash_of<double>(potential), ms);
  if (gradient) row(label + ": gradient", hash_of<Vec3d>(gradients), 0);
}

void hash_surfaces(const Options& options) {
  using NearField = OperatorOptions::NearField;
  for (const std::string name : {"sphere", "icosphere", "cube", "bracket", "plate", "spheres"}) {
    const Panels panels = make_panels(bench::surfaces().at(name).make(options.panels),
                                      options.on_gpu() ? Processor::gpu : Processor::cpu);
    for (const double tolerance : {1e-4, 1e-8}) {
      hash_operator(options, name, panels, tolerance, NearField::stored);
      if (options.on_gpu()) hash_operator(options, name, panels, tolerance, NearField::lean);
    }
  }
}

void hash_clouds(const Options& options) {
  const auto n = static_cast<std::size_t>(options.points);
  const std::pair<const char*, std::vector<Vec3d>> clouds[] = {
      {"cube", test::cube_points(n, 1)},
      {"sphere", test::sphere_points(n, 2)},
      {"ellipsoid", test::ellipsoid_points(n, 3)},
      {"plummer", test::plummer_points(n, 4)}};
  for (const auto& [name, points] : clouds) {
    for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
      hash_points(options, name, points, points, precision, false, false);
      hash_points(options, name, points, points, precision, true, false);
      hash_points(options, name, points, points, precision, true, true);
      hash_points(options, name, points, clouds[0].second, precision, true, false);
    }
  }
}

void run_all(const Options& options) {
  bench::start_run(options.backend, options.threads);
  if (options.panels >= 1) hash_surfaces(options);
  if (options.points >= 1) hash_clouds(options);
}

}  // namespace

int main(int argc, char** argv) {
  using bench::between;
  Options options;
  CLI::App app("Hashes of results whose bits are to stay, and their times in ms");
  app.add_option("--backend", options.backend)->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--panels", options.panels, "of each surface, about")->check(between(0.0, 2e8));
  app.add_option("--points", options.points, "of each cloud")->check(between(0.0, 1e8));
  app.add_option("--solves", options.solves, "solve for a density, too");
  app.add_option("--repeat", options.repeat, "of which the median time is told")
      ->check(between(1, 1000));
  app.add_option("--threads", options.threads)->check(between(1, 1024));
  return bench::run_main(app, argc, argv, [&] { run_all(options); });
}
