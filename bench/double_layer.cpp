// Prints the table of docs/accuracy.md of K and K' on finer and finer meshes of a sphere and an
// ellipsoid, applied to eigenfunctions.
// fmbem-bench-double-layer [PANELS]: up to this many panels (default 9,000).
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/main.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "tests/unit/double_layer_forms.hpp"

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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("K and K' applied to eigenfunctions, on finer and finer meshes");
  std::size_t most = 9'000;
  bench::add_most_panels(app, most);
  return bench::run_main(app, argc, argv, [&] { print_table(most); });
}
