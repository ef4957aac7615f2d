// Prints ‖Ã−A‖/‖A‖ of the FMM operator V or K (of K: over 1/2) by its order on the surfaces of
// tests/adversary, by power iterations of (Ã−A)ᵀ(Ã−A): fmbem-bench-operator-norm [LAYER [PANELS
// [SEED [KIND [ORDER…]]]]], KIND being a part of the surface's name.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "bench/main.hpp"
#include "fmbem/bem/layer/cpu_engine.hpp"
#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
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

struct Options {
  std::string layer = "V", kind;
  int panels = 3000;
  std::uint64_t seed = 1;
  std::vector<int> orders{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24};
};

void print_table(const Options& options) {
  std::vector<AdverseSurface> surfaces = adverse_surfaces(options.panels, options.seed);
  std::erase_if(surfaces, [&](const AdverseSurface& surface) {
    return surface.name.find(options.kind) == std::string::npos;
  });
  FMBEM_REQUIRE(!surfaces.empty(),
                "no surface has \"" << options.kind << "\" in its name: give \"\" for all");
  std::printf("| surface | panels | crowding |");
  for (const int order : options.orders) std::printf(" %d |", order);
  std::printf("\n|---|---|---|");
  for (std::size_t k = 0; k < options.orders.size(); ++k) std::printf("---|");
  std::printf("\n");
  const Layer layer = options.layer == double_layer.name() ? double_layer : single_layer;
  for (const AdverseSurface& surface : surfaces) row(surface, layer, options.orders);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Norms of the FMM operator's errors by order, on adverse surfaces");
  Options options;
  app.add_option("LAYER", options.layer)->capture_default_str()->check(CLI::IsMember({"V", "K"}));
  app.add_option("PANELS", options.panels, "of each surface, about")
      ->capture_default_str()
      ->check(bench::between<int>(20, dense_panels_at_most));
  app.add_option("SEED", options.seed, "of the surfaces")
      ->capture_default_str()
      ->check(bench::between<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()));
  app.add_option("KIND", options.kind, "surfaces with this in their names (default: all)");
  app.add_option("ORDER", options.orders, "of expansions")
      ->capture_default_str()
      ->check(bench::between(1, fmm::highest_order));
  return bench::run_main(app, argc, argv, [&] { print_table(options); });
}
