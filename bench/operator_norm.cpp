// Prints ‖Ã−A‖/‖A‖ of the FMM operator V, K or K' (of the latter two: over 1/2) on the surfaces of
// tests/adversary, by power iterations of (Ã−A)ᵀ(Ã−A): fmbem-bench-operator-norm [LAYER [PANELS
// [SEED [KIND [ORDER…]]]]], KIND being a part of the surface's name. By order, or with --tolerance
// of operators that choose orders themselves, beside their times.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bench/main.hpp"
#include "bench/operator_choice.hpp"
#include "fmbem/bem/layer/cpu_engine.hpp"
#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/meshes/text.hpp"
#include "tests/adversary/operator_errors.hpp"
#include "tests/adversary/surfaces.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

struct Options {
  std::string layer = "V", kind;
  int panels = 3000;
  std::uint64_t seed = 1;
  std::vector<int> orders{2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24};
  std::vector<double> tolerances, kappas{0};
};

/// A surface with its exact operator.
struct Exact {
  Panels panels;
  OperatorOptions how;
  std::shared_ptr<BoundaryOperator> dense;
  double norm;

  Exact(const SurfaceMesh& mesh, const Layer& layer, double kappa) : panels(make_panels(mesh)) {
    how.kappa = kappa / panels.extent;
    dense = make_dense_operator(panels, layer, how);
    norm = reference_norm(*dense, layer);
  }
};

/// Moments and near integrals are exact up to rounding here, so that only the order's error is
/// seen.
void print_orders(const Exact& exact, const Layer& layer, const std::vector<int>& orders) {
  constexpr double rounding = 1e-15;
  constexpr Precision in_double = Precision::double_precision;
  OperatorOptions options = exact.how;
  options.tolerance = rounding;
  options.max_leaf = 24;
  fmm::Seconds seconds;
  fmm::Stopwatch watch(seconds);
  const bool crowded = is_crowded(crowding(exact.panels, options.kappa));
  CpuEngine engine(exact.panels, {options, {}, layer, crowded, orders.back(), in_double, in_double},
                   watch);
  engine.set_near({rounding, in_double}, {});
  const OperatorError error(exact.panels, layer, *exact.dense);
  for (const int order : orders) {
    engine.set_far({order, in_double, rounding});
    const double norm = two_norm(exact.panels.size(), [&](const Vector& x, bool transposed) {
      return error(x, transposed, [&](const double* from, double* to) {
        engine.multiply(from, to, {.transposed = transposed});
      });
    });
    std::printf(" %.1e |", norm / exact.norm);
    std::fflush(stdout);
  }
}

/// In leaves so small that much is far field on meshes of which there is a dense operator.
void print_tolerances(const Exact& exact, const Layer& layer,
                      const std::vector<double>& tolerances) {
  const std::size_t n = exact.panels.size();
  const OperatorError error(exact.panels, layer, *exact.dense);
  for (const double tolerance : tolerances) {
    OperatorOptions options = exact.how;
    options.kind = OperatorOptions::Choice::fmm;
    options.tolerance = tolerance;
    options.max_leaf = 24;
    const Timer setup;
    const auto fast = make_boundary_operator(exact.panels, layer, options);
    const double setup_seconds = setup.seconds();
    const double norm = two_norm(
        n, [&](const Vector& x, bool transposed) { return error(x, transposed, *fast, 0); });
    const Vector x(n, 1.0);
    Vector y(n);
    const Timer product;
    fast->apply(x.data(), y.data());
    std::printf(" %d | %.1e | %.2f | %.1f |", fast->info().order, norm / exact.norm, setup_seconds,
                1e3 * product.seconds());
    std::fflush(stdout);
  }
}

void print_table(const Options& options) {
  std::vector<AdverseSurface> surfaces = adverse_surfaces(options.panels, options.seed);
  std::erase_if(surfaces, [&](const AdverseSurface& surface) {
    return surface.name.find(options.kind) == std::string::npos;
  });
  FMBEM_REQUIRE(!surfaces.empty(),
                "no surface has \"" << options.kind << "\" in its name: give \"\" for all");
  std::string heading = "| surface | panels | kappa | crowding |";
  for (const double tolerance : options.tolerances)
    heading += " " + decimal(tolerance) + ": order | error | setup s | product ms |";
  if (options.tolerances.empty())
    for (const int order : options.orders) heading += " " + std::to_string(order) + " |";
  bench::print_heading(heading);
  const Layer layer = bench::layer_of(options.layer);
  for (const AdverseSurface& surface : surfaces)
    for (const double kappa : options.kappas) {
      const Exact exact(surface.mesh, layer, kappa);
      std::printf("| %s | %zu | %g | %.2f |", surface.name.c_str(), exact.panels.size(), kappa,
                  crowding(exact.panels, exact.how.kappa));
      if (options.tolerances.empty())
        print_orders(exact, layer, options.orders);
      else
        print_tolerances(exact, layer, options.tolerances);
      std::printf("\n");
    }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Norms of the FMM operator's errors by order, on adverse surfaces");
  Options options;
  app.add_option("LAYER", options.layer)
      ->capture_default_str()
      ->check(CLI::IsMember({"V", "K", "K'"}));
  app.add_option("PANELS", options.panels, "of each surface, about")
      ->capture_default_str()
      ->check(bench::between<int>(20, dense_panels_at_most));
  app.add_option("SEED", options.seed, "of the surfaces")
      ->capture_default_str()
      ->check(bench::between<std::uint64_t>(0, std::numeric_limits<std::uint64_t>::max()));
  app.add_option("KIND", options.kind, "surfaces with this in their names (default: all)");
  CLI::Option* orders = app.add_option("ORDER", options.orders, "of expansions")
                            ->capture_default_str()
                            ->check(bench::between(1, fmm::highest_order));
  app.add_option("--tolerance", options.tolerances, "of operators that choose their orders")
      ->delimiter(',')
      ->check(bench::between(1e-14, 0.5))
      ->excludes(orders);
  app.add_option("--kappa", options.kappas,
                 "of Yukawa's kernel, over the diagonal of the surface's box; 0 is Laplace's")
      ->delimiter(',')
      ->check(bench::between(0.0, 1e6));
  return bench::run_main(app, argc, argv, [&] { print_table(options); });
}
