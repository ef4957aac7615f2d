// Integrals of Yukawa's kernel over panels.
#include "fmbem/bem/near/yukawa_integrals.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/space/quadrature.hpp"
#include "tests/unit/bem/reference_rows.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::yukawa_integrals_tests {

namespace {

/// A reference value of tests/oracles/yukawa_integrals.py: double integrals of the kernel.
struct ReferenceCase {
  std::string name;
  Triangle triangle;
  Vec3d x;
  double kappa, potential;
  Vec3d gradient;  ///< NaN on an edge, and in the plane over the triangle
  double double_layer;
};

std::vector<ReferenceCase> reference_cases() {
  std::vector<ReferenceCase> cases;
  for (const ReferenceRow& row : reference_rows("yukawa_integrals.csv"))
    cases.push_back(
        {row.name, row.triangle, row.x, row.value[0], row.value[1], row.vec(2), row.value[5]});
  return cases;
}

}  // namespace

TEST_CASE("integrals of Yukawa's kernel agree with double integrals to 1e-12") {
  const auto cases = reference_cases();
  REQUIRE(cases.size() > 200);
  for (const ReferenceCase& c : cases) {
    const Triangle& t = c.triangle;
    const double longest = *std::max_element(t.length, t.length + 3),
                 // A rounding of the coordinates moves x against the edges and the plane.
        scale = longest + norm(t.centroid) + norm(c.x),
                 move = 4 * std::numeric_limits<double>::epsilon() * scale;
    const YukawaIntegrals found = yukawa_integrals(t, c.x, c.kappa);
    INFO(c.name << " errors " << found.potential / c.potential - 1 << " "
                << found.double_layer / c.double_layer - 1 << " found " << found.potential << " "
                << found.double_layer << " expected " << c.potential << " " << c.double_layer);
    const double of_kappa = move * c.kappa;
    CHECK(std::abs(found.potential - c.potential) < (1e-12 + of_kappa) * c.potential + 1e-290);
    if (std::isnan(c.gradient.x)) continue;
    const double tiny = 1e-290,
                 size = std::hypot(c.gradient.x, std::hypot(c.gradient.y, c.gradient.z)),
                 bound = 1e-12 + of_kappa +
                         move * (1 / distance_to_edges(t, c.x) + longest / (2 * t.area));
    CHECK(norm(found.gradient - c.gradient) < bound * size + tiny);
    CHECK(std::abs(found.double_layer - c.double_layer) < bound * size + tiny);
  }
}

TEST_CASE("what Yukawa's kernel has less than Laplace's is no difference of large numbers") {
  Uniform uniform(9);
  for (int k = 0; k < 400; ++k) {
    const double height = k % 4 == 0 ? 0.02 : 0.8;
    const Triangle t = make_triangle({0.1, 0.2, 0}, {1, 0, 0.1}, {uniform(), height, 0.3});
    const Vec3d x =
        k % 5 == 0 ? t.centroid
                   : t.centroid + t.radius * std::pow(10, uniform(-2, 1)) * sphere_point(uniform);
    const auto less = [&](double kappa) {
      return yukawa_integrals(t, x, kappa, 0, YukawaPart::less_laplace);
    };
    for (const double kappa : {0.5, 3.0, 40.0}) {
      const YukawaIntegrals all = yukawa_integrals(t, x, kappa), part = less(kappa);
      const double potential = panel_potential(t, x), angle = triangle_double_layer(t, x);
      const Vec3d gradient = panel_gradient(t, x, 0);
      CAPTURE(kappa, height, norm(x - t.centroid) / t.radius);
      // Of slivers the closed forms lose digits in proportion to the aspect.
      CHECK(std::abs(part.potential - (all.potential - potential)) < 1e-12 * potential);
      CHECK(norm(part.gradient - (all.gradient - gradient)) < 1e-10 * norm(gradient));
      CHECK(std::abs(part.double_layer - (all.double_layer - angle)) < 1e-10 * norm(gradient));
    }
    // (e^{−κr} − 1)/r = −κ + κ²r/2 − …, whose gradient begins with κ² (x − y)/(2r).
    const double kappa = 1e-5, slope = -inv_4pi * t.area;
    const YukawaIntegrals once = less(kappa), twice = less(2 * kappa);
    CHECK((4 * once.potential - twice.potential) / (2 * kappa) == Approx(slope).epsilon(1e-7));
    if (norm(x - t.centroid) < 1.5 * t.radius) continue;
    const TriangleRule rule = collapsed_gauss(16);
    Vec3d sum{};
    for (std::size_t q = 0; q < rule.weight.size(); ++q) {
      const Vec3d y = t.vertex[0] + rule.xi[q] * (t.vertex[1] - t.vertex[0]) +
                      rule.eta[q] * (t.vertex[2] - t.vertex[0]);
      sum += (0.5 * inv_4pi * t.area * rule.weight[q] / norm(x - y)) * (x - y);
    }
    const Vec3d found = (8.0 * once.gradient - twice.gradient) / (4 * kappa * kappa);
    CHECK(norm(found - sum) < 1e-8 * norm(sum));
    CHECK(std::abs(dot(found, t.normal) + (8 * once.double_layer - twice.double_layer) /
                                              (4 * kappa * kappa)) < 1e-8 * norm(sum));
  }
}

TEST_CASE("on edges what Yukawa's kernel has less than Laplace's is finite") {
  const Triangle t = make_triangle({0, 0, 0}, {1, 0, 0}, {0, 0.75, 0});
  for (const double kappa : {0.1, 1.0, 20.0})
    for (const Vec3d& x : {Vec3d{0.5, 0, 0}, Vec3d{0, 0.25, 0}, Vec3d{1, 0, 0}}) {
      const auto gradient = [&](Vec3d at) {
        return yukawa_integrals(t, at, kappa, 0, YukawaPart::less_laplace).gradient;
      };
      CHECK(std::isnan(yukawa_integrals(t, x, kappa).gradient.x));
      const Vec3d on = gradient(x);
      for (const Vec3d& side : {Vec3d{1, 1, 0}, Vec3d{-1, 0.5, 0}, Vec3d{0.3, -1, 0}})
        CHECK(norm(gradient(x + 1e-7 * side) - on) < 1e-5 * (1 + kappa * kappa));
    }
}

}  // namespace fmbem::test::yukawa_integrals_tests
