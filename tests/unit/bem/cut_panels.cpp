// Operators on panels that are cut, on either backend.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fmbem/bem/near/panel_integrals.hpp"
#include "tests/unit/bem/backends.hpp"
#include "tests/unit/bem/test_surfaces.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::cut_panels_tests {

BACKEND_TEST_CASE("products of cut panels err by the tolerance times the sizes that are added up",
                  "[long]") {
  struct Case {
    std::string name;
    SurfaceMesh mesh;
  };
  for (const Case& surface :
       {Case{"stacks", plate_of_lines(steps(4), steps(1000), {}, {1, 0, 0}, {0, 1, 0})},
        Case{"graded", graded_plate(50)}}) {
    CAPTURE(surface.name);
    const Panels panels = make_panels(surface.mesh);
    const std::size_t n = panels.size();
    OperatorOptions options;
    options.tolerance = 1e-6;
    const auto v = make_fmm(panels, options);
    // Densities as charge has them, which are large on small panels at edges; and of any sign.
    std::vector<double> x(2 * n), sizes(2 * n), y(2 * n), total(2 * n), sums(2 * n);
    Uniform uniform(5);
    for (std::size_t j = 0; j < n; ++j) {
      const Vec3d at = panels.centroid(j) + panels.origin;
      x[j] = 1 / std::sqrt(at.x * at.y);
      x[n + j] = (2 * uniform() - 1) * x[j];
    }
    std::transform(x.begin(), x.end(), sizes.begin(), [](double value) { return std::abs(value); });
    for (const bool transposed : {false, true}) {
      v->apply(sizes.data(), total.data(), {.vectors = 2, .transposed = transposed});
      for (const double tolerance : {0.0, 1e-7}) {
        CAPTURE(transposed, tolerance);
        v->apply(x.data(), y.data(),
                 {.vectors = 2, .tolerance = tolerance, .transposed = transposed});
        for (const std::size_t vector : {0, 1}) {
          double error = 0, size = 0;
          for (std::size_t k = 0; k < 60; ++k) {
            const std::size_t i = (2 * k + 1) * n / 120;
            double exact = 0;
            for (std::size_t j = 0; j < n; ++j) {
              const std::size_t row = transposed ? j : i, column = transposed ? i : j;
              exact += x[vector * n + j] *
                       panel_potential(panels.triangle(column), panels.centroid(row));
            }
            error += std::pow(y[vector * n + i] - exact, 2);
            size += std::pow(total[vector * n + i], 2);
          }
          CHECK(error < std::pow(tolerance > 0 ? tolerance : 1e-6, 2) * size);
        }
      }
    }
  }
}

}  // namespace fmbem::test::cut_panels_tests
