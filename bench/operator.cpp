// Prints the error of the FMM operator V or K by its order and overhang, relative to its norm (of
// K: 1/2), against the dense operator: the tables behind far_order_for(). fmbem-bench-operator
// [LAYER [PANELS [ORDER…]]]: with orders, these at the operator's own overhang; without, 2, 4 … 22
// at three overhangs.
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "bench/main.hpp"
#include "fmbem/bem/layer/cpu_engine.hpp"
#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

/// Constant, smooth and random vectors, and one that is not zero only on a few neighbours.
std::vector<Vector> test_vectors(const Panels& panels) {
  const std::size_t n = panels.size();
  std::vector<Vector> xs{Vector(n, 1.0), Vector(n), signed_charges(n, 1), Vector(n)};
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3d x = panels.centroid(i) / panels.extent;
    xs[1][i] = std::cos(5 * x.x + 1) * std::exp(x.y) + x.z;
    xs[3][i] = i / 64 == n / 128;
  }
  return xs;
}

struct Choice {
  Layer layer;
  std::vector<double> overhangs;
  std::vector<int> orders;
};

/// Moments and near integrals are exact up to rounding here, so that only the order's error is
/// seen.
void table(const std::string& name, const SurfaceMesh& mesh, const Choice& choice) {
  constexpr double rounding = 1e-15;
  constexpr Precision in_double = Precision::double_precision;
  const Panels panels = make_panels(mesh);
  const auto dense = make_dense_operator(panels, choice.layer, {});
  const double norm = choice.layer == single_layer ? norm_of(*dense) : 0.5;
  const std::vector<Vector> xs = test_vectors(panels);
  std::vector<Vector> exact;
  for (const Vector& x : xs) exact.push_back(product(*dense, x));
  for (const double overhang : choice.overhangs) {
    OperatorOptions options;
    options.tolerance = rounding;
    options.overhang = overhang;
    options.max_leaf = 24;
    fmm::Seconds seconds;
    fmm::Stopwatch watch(seconds);
    CpuEngine engine(panels,
                     {options, {}, choice.layer, false, choice.orders.back(), in_double, in_double},
                     watch);
    engine.set_near({rounding, in_double}, {});
    for (const int order : choice.orders) {
      engine.set_far({order, in_double, rounding});
      OperatorInfo info;
      engine.describe(info);
      std::printf("| %s | %zu | %g | %.0f | %d |", name.c_str(), panels.size(), overhang,
                  double(info.near_entries) / double(panels.size()), order);
      for (std::size_t k = 0; k < xs.size(); ++k) {
        Vector y(panels.size());
        engine.multiply(xs[k].data(), y.data(), {});
        std::printf(" %.1e |", norm_of(difference(y, exact[k])) / (norm * norm_of(xs[k])));
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  }
}

void print_tables(const std::string& name, double n, const std::vector<int>& orders) {
  const Layer layer = name == double_layer.name() ? double_layer : single_layer;
  Choice choice{layer, {0.1, 0.2, 0.3}, {2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}};
  if (!orders.empty()) choice = {layer, {overhang_for(layer.source, false, false)}, orders};
  std::printf(
      "| surface | panels | overhang | near/row | order | constant | smooth | random | local |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  table("plate", plate(std::lround(std::sqrt(n / 2))), choice);
  table("sphere", sphere(std::lround(std::log2(n / 8) / 2)), choice);
  table("cube", cube(std::lround(std::sqrt(n / 12))), choice);
  table("bracket", bracket(std::lround(std::sqrt(n / 28))), choice);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Errors of the FMM operator by order and overhang, against the dense operator");
  std::string layer = "V";
  double panels = 8000;
  std::vector<int> orders;
  app.add_option("LAYER", layer)->capture_default_str()->check(CLI::IsMember({"V", "K"}));
  app.add_option("PANELS", panels, "of each surface, about")
      ->capture_default_str()
      ->check(bench::between<double>(200, dense_panels_at_most));
  app.add_option("ORDER", orders, "at the operator's own overhang (default: 2, 4 … 22 at three)")
      ->check(bench::between(1, fmm::highest_order));
  return bench::run_main(app, argc, argv, [&] { print_tables(layer, panels, orders); });
}
