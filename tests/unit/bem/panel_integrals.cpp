#include "fmbem/bem/near/panel_integrals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/bem/reference_rows.hpp"
#include "tests/unit/catch.hpp"

namespace fmbem::test::panel_integrals_tests {

namespace {

/// One reference value of tests/oracles/triangle_integrals.py: adaptive quadrature with 60 digits.
struct ReferenceCase {
  std::string name, kind;
  Triangle triangle;
  Vec3d x;
  double potential;
  Vec3d gradient;  ///< NaN on an edge
  double double_layer;
  double nearness;  ///< distance to the triangle over its longest edge
};

std::vector<ReferenceCase> reference_cases() {
  std::vector<ReferenceCase> cases;
  for (const auto& row : test::reference_rows("triangle_integrals.csv"))
    cases.push_back({row.name, row.text, row.triangle, row.x, row.value[0], row.vec(1),
                     row.value[4], row.value[5]});
  return cases;
}

double longest_edge(const Triangle& t) { return *std::max_element(t.length, t.length + 3); }

constexpr double epsilon = std::numeric_limits<double>::epsilon();

}  // namespace

TEST_CASE("panel potentials agree with adaptive quadrature to 1e-12") {
  const auto cases = reference_cases();
  REQUIRE(cases.size() >= 400);
  for (const ReferenceCase& c : cases) {
    INFO(c.name);
    CHECK(std::abs(panel_potential(c.triangle, c.x) / c.potential - 1) < 1e-12);
  }
}

TEST_CASE("panel gradients agree with adaptive quadrature") {
  for (const ReferenceCase& c : reference_cases()) {
    INFO(c.name);
    // The place of x and a sliver's plane are both known to a rounding of the coordinates. That
    // changes the gradient by the rounding over the distance to the edges, or over the height.
    const double size = longest_edge(c.triangle);
    const double scale = size + norm(c.triangle.centroid) + norm(c.x);
    const Vec3d g = panel_gradient(c.triangle, c.x, 4 * epsilon * scale);
    if (std::isnan(c.gradient.x)) {
      CHECK(std::isnan(g.x));
      continue;
    }
    double nearest_edge = std::numeric_limits<double>::max();
    for (int k = 0; k < 3; ++k) {
      const Vec3d d = c.x - c.triangle.vertex[k];
      const double s = std::clamp(dot(d, c.triangle.tangent[k]), 0.0, c.triangle.length[k]);
      nearest_edge = std::min(nearest_edge, norm(d - s * c.triangle.tangent[k]));
    }
    const double height = 2 * c.triangle.area / size;
    const double bound = 1e-12 + 4 * epsilon * (scale / nearest_edge + scale / height);
    CHECK(norm(g - c.gradient) < bound * norm(c.gradient));
  }
}

TEST_CASE("solid angles agree with adaptive quadrature") {
  for (const ReferenceCase& c : reference_cases()) {
    INFO(c.name);
    const Triangle& t = c.triangle;
    const double k = triangle_double_layer(t, c.x);
    // A rounding of the coordinates moves x against the plane and the edges.
    const double scale = longest_edge(t) + norm(t.centroid) + norm(c.x);
    const double size = longest_edge(t), flat = 2 * t.area / size;
    const double height = std::abs(dot(c.x - t.vertex[0], t.normal));
    const double move = epsilon * scale;
    if (height <= move) {
      CHECK(std::abs(k - c.double_layer) <= 0.5 * (1 + 8 * epsilon));
      continue;
    }
    const double bound = 1e-13 + move / std::min(height, flat);
    CHECK(std::abs(k - c.double_layer) < bound * std::abs(c.double_layer));
  }
}

TEST_CASE("known values of the single layer potential of a right triangle") {
  const Triangle t = make_triangle({0, 0, 0}, {0, 1, 0}, {0, 0, 1});
  CHECK(triangle_potential(t, {0, 0, 0}) ==
        Approx(std::sqrt(2.0) * std::asinh(1.0) * inv_4pi).epsilon(1e-15));
  CHECK(triangle_potential(t, {0, 1, 0}) == Approx(0.070137481542397516).epsilon(1e-15));
  CHECK(triangle_potential(t, {0, -1, 0}) == Approx(0.029051896085553676).epsilon(2e-15));
  CHECK(triangle_potential(t, {1, 0, 0}) == Approx(0.034775298546314300).epsilon(1e-15));
}

TEST_CASE("slivers have a gradient in their interior, also where they are cut") {
  for (const double height : {0.2, 0.04, 1e-3, 1e-5}) {
    const Triangle t = make_triangle({0, 0, 0}, {1, 0, 0}, {0.5, height, 0});
    for (const Vec3d& on : {t.centroid, Vec3d{0.5, 0.5 * height, 0}, Vec3d{0.3, 0.2 * height, 0}}) {
      INFO(height << " " << on.x);
      const Vec3d up = panel_gradient(t, on + Vec3d{0, 0, 1e-6 * height}, 1e-15);
      const Vec3d down = panel_gradient(t, on - Vec3d{0, 0, 1e-6 * height}, 1e-15);
      const Vec3d mean = panel_gradient(t, on, 1e-15);
      CHECK(norm(mean - 0.5 * (up + down)) < 1e-6);
      CHECK(up.z - down.z == Approx(-1).epsilon(1e-4));
    }
  }
}

TEST_CASE("the gradient jumps by the normal across a panel") {
  const Triangle t = make_triangle({0, 0, 0}, {2, 0, 0}, {0, 1, 0});
  const Vec3d on{0.5, 0.25, 0};
  const Vec3d above = panel_gradient(t, {0.5, 0.25, 1e-9}, 1e-14);
  const Vec3d below = panel_gradient(t, {0.5, 0.25, -1e-9}, 1e-14);
  CHECK(above.z - below.z == Approx(-1).epsilon(1e-7));
  const Vec3d mean = panel_gradient(t, on, 1e-14);
  CHECK(mean.z == 0);
  CHECK(norm(mean - 0.5 * (above + below)) < 1e-8);
  CHECK(std::isnan(panel_gradient(t, {1, 0, 0}, 1e-14).x));
  CHECK(std::isfinite(panel_gradient(t, {3, 0, 0}, 1e-14).x));
}

}  // namespace fmbem::test::panel_integrals_tests
