// Prints ‖Ã−A‖/‖A‖ of the FMM operator V or K (of K: over 1/2) by its order on the surfaces of
// tests/adversary, by power iterations of (Ã−A)ᵀ(Ã−A): fmbem-bench-operator-norm [V|K [PANELS
// [SEED [KIND [ORDER…]]]]], KIND being a part of the surface's name.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "fmbem/bem/layer/cpu_engine.hpp"
#include "fmbem/bem/layer/dense_operator.hpp"
#include "tests/adversary/surfaces.hpp"
#include "tests/unit/vectors.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

/// Moments and near integrals are exact up to rounding here, so that only the order's error is
/// seen.
void row(const AdverseSurface& surface, const Layer& layer, const std::vector<int>& orders) {
  constexpr double rounding = 1e-15;
  constexpr Precision in_double = Precision::double_precision;
  const Panels panels = make_panels(surface.mesh);
  const std::size_t n = panels.size();
  const auto dense = make_dense_operator(panels, layer, {});
  const double norm = layer == single_layer
                          ? two_norm(n,
                                     [&](const Vector& x, bool transposed) {
                                       Vector y(n);
                                       dense->apply(x.data(), y.data(), {.transposed = transposed});
                                       return y;
                                     })
                          : 0.5;
  OperatorOptions options;
  options.tolerance = rounding;
  options.max_leaf = 24;
  fmm::Seconds seconds;
  fmm::Stopwatch watch(seconds);
  const double close = crowding(panels);
  CpuEngine engine(
      panels, {options, {}, layer, is_crowded(close), orders.back(), in_double, in_double}, watch);
  engine.set_near({rounding, in_double}, {});
  std::printf("| %s | %zu | %.2f |", surface.name.c_str(), n, close);
  for (const int order : orders) {
    engine.set_far({order, in_double, rounding});
    const double error = two_norm(n, [&](const Vector& x, bool transposed) {
      Vector y(n), exact(n);
      engine.multiply(x.data(), y.data(), {.transposed = transposed});
      dense->apply(x.data(), exact.data(), {.transposed = transposed});
      return difference(y, exact);
    });
    std::printf(" %.1e |", error / norm);
    std::fflush(stdout);
  }
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const Layer layer = argc > 1 && argv[1] == double_layer.name() ? double_layer : single_layer;
  const int n = argc > 2 ? std::atoi(argv[2]) : 3000;
  const auto seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  std::vector<int> orders{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24};
  const std::string kind = argc > 4 ? argv[4] : "";
  if (argc > 5) orders.clear();
  for (int k = 5; k < argc; ++k) orders.push_back(std::atoi(argv[k]));
  std::printf("| surface | panels | crowding |");
  for (const int order : orders) std::printf(" %d |", order);
  std::printf("\n|---|---|---|%s\n",
              [&] {
                std::string bars;
                for (std::size_t k = 0; k < orders.size(); ++k) bars += "---|";
                return bars;
              }()
                  .c_str());
  for (const AdverseSurface& surface : adverse_surfaces(n, seed))
    if (surface.name.find(kind) != std::string::npos) row(surface, layer, orders);
}
