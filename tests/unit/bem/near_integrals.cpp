#include "fmbem/bem/near/near_integrals.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fmbem/bem/near/near_rows.hpp"
#include "fmbem/bem/near/norm_estimate.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/space/panel_sources.hpp"
#include "fmbem/fmm/choice/grow_tree.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::near_integrals_tests {

TEST_CASE("near integrals are as accurate as asked for") {
  const double tolerance = GENERATE(1e-3, 1e-6, 1e-8, 1e-11);
  Uniform uniform(6);
  NearIntegrals potential(tolerance, FarKernel::potential), both(tolerance, FarKernel::gradient);
  double worst = 0, worst_gradient = 0;
  std::size_t close = 0;
  for (int shape = 0; shape < 40; ++shape) {
    const double height = shape % 4 == 0 ? 0.02 : 0.8;
    const Triangle t = make_triangle({0.1, 0.2, 0}, {1, 0, 0.1}, {uniform(), height, 0.3});
    IntegralTargets targets;
    for (int i = 0; i < 37; ++i) {
      const double distance = t.radius * std::pow(10, uniform(-1, 2));
      targets.add(t.centroid + distance * sphere_point(uniform));
    }
    targets.pad();
    const auto is_close = [](const NearIntegrals& integrals, int i) {
      const auto& left = integrals.close();
      return std::find(left.begin(), left.end(), i) != left.end();
    };
    potential.integrate(t, targets);
    both.integrate(t, targets);
    close += potential.close().size();
    for (int i = 0; i < targets.count(); ++i) {
      const double exact = panel_potential(t, targets[i]);
      if (!is_close(potential, i))
        worst = larger_error(worst, std::abs(potential.potential()[i] / exact - 1));
      if (is_close(both, i)) continue;
      worst = larger_error(worst, std::abs(both.potential()[i] / exact - 1));
      const Vec3d gradient = panel_gradient(t, targets[i], 1e-14);
      const Vec3d found{both.gradient(0)[i], both.gradient(1)[i], both.gradient(2)[i]};
      worst_gradient = larger_error(worst_gradient, norm(found - gradient) / norm(gradient));
    }
  }
  CHECK(worst < tolerance);
  CHECK(worst_gradient < tolerance);
  CHECK(close > 0);
  CHECK(close < 40 * 37 * 6 / 10);
}

TEST_CASE("the near part of K is estimated from above, and not at many times what it is") {
  for (const SurfaceMesh& mesh : {sphere(4), sphere(5), cube(16), bracket(14), torus(24, 2, 0.7)}) {
    const LargeVector<Triangle> triangles = triangles_of(make_panels(mesh));
    std::vector<Vec3d> points;
    for (const Triangle& t : triangles) points.push_back(t.centroid);
    fmm::Seconds seconds;
    const auto tree = fmm::grow_tree(PanelSources(triangles, nullptr, 1e-7, Trace::normal), points,
                                     {.max_leaf = 30}, seconds);
    double sum = 0;  // of squares of Σ|K| over near panels
    for (std::size_t row = 0; row < tree->lists.p2p.targets.size(); ++row) {
      const NearRow near = near_row(*tree, row);
      for (std::int32_t i = near.targets.begin; i < near.targets.end; ++i) {
        double of_row = 0;
        const std::int32_t target = tree->targets().order[i];
        for_near_sources(*tree, near, [&](std::int32_t j) {
          if (j != target) of_row += std::abs(triangle_double_layer(triangles[j], points[target]));
        });
        sum += of_row * of_row;
      }
    }
    const double part = std::sqrt(sum / static_cast<double>(points.size())) / 0.5;
    const NormEstimate estimate = estimate_double_layer(points, triangles, *tree);
    CAPTURE(points.size(), part, estimate.near_fraction);
    CHECK(estimate.norm == 0.5);
    CHECK(estimate.near_fraction > part);
    CHECK(estimate.near_fraction < std::max(3 * part, 0.071));
  }
}

}  // namespace fmbem::test::near_integrals_tests
