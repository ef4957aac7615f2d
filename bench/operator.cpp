// Prints the error of the FMM operator V or K by its order and overhang, relative to its norm (of
// K: 1/2), against the dense operator: the tables behind far_order_for(). fmbem-bench-operator [V|K
// [PANELS [ORDER…]]]: with orders, these at the operator's own overhang; without, 2, 4 … 22 at
// three overhangs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "fmbem/bem/layer/cpu_engine.hpp"
#include "fmbem/bem/layer/dense_operator.hpp"
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

}  // namespace

int main(int argc, char** argv) {
  const Layer layer = argc > 1 && argv[1] == double_layer.name() ? double_layer : single_layer;
  const double n = argc > 2 ? std::strtod(argv[2], nullptr) : 8000;
  Choice choice{layer, {0.1, 0.2, 0.3}, {2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}};
  if (argc > 3) choice = {layer, {overhang_for(layer.source, false, false)}, {}};
  for (int k = 3; k < argc; ++k) choice.orders.push_back(std::atoi(argv[k]));
  std::printf(
      "| surface | panels | overhang | near/row | order | constant | smooth | random | local |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  table("plate", plate(std::lround(std::sqrt(n / 2))), choice);
  table("sphere", sphere(std::lround(std::log2(n / 8) / 2)), choice);
  table("cube", cube(std::lround(std::sqrt(n / 12))), choice);
  table("bracket", bracket(std::lround(std::sqrt(n / 28))), choice);
}
