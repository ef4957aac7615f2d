// Prints the tables of docs/accuracy.md of K and K' on finer and finer meshes of a sphere and an
// ellipsoid, applied to eigenfunctions, and of K of a constant by the FMM on polyhedra.
// fmbem-bench-double-layer [PANELS]: up to this many panels (default 9,000).
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/main.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "tests/unit/double_layer_forms.hpp"
#include "tests/unit/larger_error.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

void print_table(std::size_t most) {
  std::printf(
      "| eigenfunction | panels | K | order in h | K', averaged | order in h | K', at centroids | "
      "order in h |\n|---|---|---|---|---|---|---|---|\n");
  for (const Eigenfunction& e : eigenfunctions()) {
    std::array<double, 3> before{};
    for (int level = 1;; ++level) {
      const Panels panels = make_panels(e.mesh(level));
      if (panels.size() > most) break;
      OperatorOptions at_centroids;
      at_centroids.normal_rows = NormalRows::at_centroids;
      const std::array<double, 3> now{
          eigen_residual(*make_boundary_operator(panels, double_layer), panels, e, e.of_k),
          eigen_residual(*make_boundary_operator(panels, adjoint_double_layer), panels, e,
                         e.of_adjoint),
          eigen_residual(*make_boundary_operator(panels, adjoint_double_layer, at_centroids),
                         panels, e, e.of_adjoint)};
      std::printf("| %s | %zu |", e.name.c_str(), panels.size());
      for (std::size_t k = 0; k < now.size(); ++k) {
        std::printf(" %.2e |", now[k]);
        if (before[k] > 0)
          std::printf(" %.2f |", std::log2(before[k] / now[k]));
        else
          std::printf(" |");
      }
      std::printf("\n");
      before = now;
    }
  }
}

/// In leaves so small that most is far field.
void print_constants(std::size_t most) {
  std::printf(
      "\n| polyhedron | panels | tolerance | order | ‖K1 + ½‖/‖½‖ | max \\|K1 + ½\\| |\n"
      "|---|---|---|---|---|---|\n");
  for (const Polyhedron& body : polyhedra()) {
    int level = 2;
    while (body.mesh(level + 1).triangles.size() <= most) ++level;
    const Panels panels = make_panels(body.mesh(level));
    if (panels.size() > most) continue;
    const auto print = [&](const char* tolerance, const BoundaryOperator& op) {
      Vector error = product(op, Vector(panels.size(), 1.0));
      double largest = 0;
      for (double& y : error) {
        y += 0.5;
        largest = larger_error(largest, std::abs(y));
      }
      const double size = 0.5 * std::sqrt(static_cast<double>(panels.size()));
      std::printf("| %s | %zu | %s |", body.name.c_str(), panels.size(), tolerance);
      op.info().kind == OperatorKind::fmm ? std::printf(" %d |", op.info().order)
                                          : std::printf(" |");
      std::printf(" %.1e | %.1e |\n", norm_of(error) / size, largest);
      std::fflush(stdout);
    };
    OperatorOptions options;
    options.max_leaf = 20;
    options.kind = OperatorOptions::Choice::fmm;
    for (const char* tolerance : {"1e-3", "1e-6", "1e-9"}) {
      options.tolerance = std::strtod(tolerance, nullptr);
      print(tolerance, *make_boundary_operator(panels, double_layer, options));
    }
    options.kind = OperatorOptions::Choice::dense;
    print("dense", *make_boundary_operator(panels, double_layer, options));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("K and K' applied to eigenfunctions, and K to a constant on polyhedra");
  std::size_t most = 9'000;
  bench::add_most_panels(app, most);
  return bench::run_main(app, argc, argv, [&] {
    print_table(most);
    print_constants(most);
  });
}
