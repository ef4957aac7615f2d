// Prints the error of the FMM operator by its order and overhang, in its norm, against the dense
// operator: the table behind far_order_for(). fmbem-bench-operator [PANELS]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/bem/layer/fmm_operator.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

/// Constant, smooth, random, and not zero on a few neighbours alone.
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

void table(const std::string& name, const SurfaceMesh& mesh) {
  const Panels panels = make_panels(mesh);
  const auto dense = make_dense_single_layer(panels, {});
  const double norm = norm_of(*dense);
  const std::vector<Vector> xs = test_vectors(panels);
  std::vector<Vector> exact;
  for (const Vector& x : xs) exact.push_back(product(*dense, x));
  for (const double overhang : {0.1, 0.2, 0.3}) {
    for (const int order : {2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}) {
      OperatorOptions options;
      options.tolerance = 1e-11;  // of quadratures and precisions
      options.order = order;
      options.overhang = overhang;
      options.max_leaf = 24;
      const auto fast = make_fmm_single_layer(panels, options);
      std::printf("| %s | %zu | %g | %.0f | %d |", name.c_str(), panels.size(), overhang,
                  double(fast->info().near_entries) / double(panels.size()), order);
      for (std::size_t k = 0; k < xs.size(); ++k) {
        const Vector error = difference(product(*fast, xs[k]), exact[k]);
        std::printf(" %.1e |", norm_of(error) / (norm * norm_of(xs[k])));
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const double n = argc > 1 ? std::strtod(argv[1], nullptr) : 8000;
  std::printf(
      "| surface | panels | overhang | near/row | order | constant | smooth | random | local |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
  table("plate", plate(std::lround(std::sqrt(n / 2))));
  table("sphere", sphere(std::lround(std::log2(n / 8) / 2)));
  table("cube", cube(std::lround(std::sqrt(n / 12))));
  table("bracket", bracket(std::lround(std::sqrt(n / 28))));
}
