// Second derivatives of panels' potentials.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fmbem/bem/near/panel_integrals.hpp"
#include "tests/unit/bem/reference_rows.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::panel_hessians_tests {

namespace {

/// A reference value of tests/oracles/triangle_hessians.py: quadrature with 60 digits.
struct ReferenceCase {
  std::string name;
  Triangle triangle;
  Vec3d x;
  Symmetric3d hessian;
};

std::vector<ReferenceCase> reference_cases() {
  std::vector<ReferenceCase> cases;
  for (const auto& [name, text, triangle, x, value] : reference_rows("triangle_hessians.csv"))
    cases.push_back(
        {name, triangle, x, {value[0], value[1], value[2], value[3], value[4], value[5]}});
  return cases;
}

}  // namespace

TEST_CASE("second derivatives of panels agree with quadrature to 1e-12, from 1e-9 h to 10 h") {
  const auto cases = reference_cases();
  REQUIRE(cases.size() > 200);
  for (const ReferenceCase& c : cases) {
    const Triangle& t = c.triangle;
    // As for gradients: a rounding of the coordinates moves x against the edges, and tilts a
    // sliver's plane; second derivatives double what gradients change by.
    const double longest = *std::max_element(t.length, t.length + 3),
                 scale = longest + norm(t.centroid) + norm(c.x),
                 bound = 1e-12 + 8 * std::numeric_limits<double>::epsilon() * scale *
                                     (1 / distance_to_edges(t, c.x) + longest / (2 * t.area));
    const double error = std::sqrt(norm2(panel_hessian(t, c.x) - c.hessian) / norm2(c.hessian));
    INFO(c.name << ": " << error << ", bound " << bound);
    CHECK(error < bound);
  }
}

TEST_CASE("second derivatives are differences of gradients, by rules and closed forms") {
  Uniform uniform(1);
  for (int k = 0; k < 300; ++k) {
    const double height = k % 3 == 0 ? std::pow(10, uniform(-3, -1)) : uniform(0.1, 1);
    const Triangle t = make_triangle({0, 0, 0}, {1, 0, 0}, {uniform(), 0.6 * height, 0.8 * height});
    const Vec3d x =
        t.centroid + (std::pow(10, uniform(-0.5, 1)) * t.radius) * sphere_point(uniform);
    const Symmetric3d h = panel_hessian(t, x);
    const double step = 1e-3 * distance_to_edges(t, x), size = std::sqrt(norm2(h));
    CHECK(std::abs(h.xx + h.yy + h.zz) < 1e-12 * size);
    for (int axis = 0; axis < 3; ++axis) {
      const auto gradient = [&](double by) {
        Vec3d at = x;
        at[axis] += by;
        return panel_gradient(t, at, 0);
      };
      const Vec3d slope =
          (8.0 * (gradient(step) - gradient(-step)) - (gradient(2 * step) - gradient(-2 * step))) /
          (12 * step);
      // step⁴/30 of a derivative that is 5!/distance⁴ of h at the most, and rounding over the step.
      for (int i = 0; i < 3; ++i) CHECK(std::abs(slope[i] - h(axis, i)) < 1e-9 * size);
    }
  }
}

TEST_CASE("second derivatives go on through a panel, slivers too") {
  for (const double height : {0.7, 0.04, 1e-4}) {
    const Triangle t = make_triangle({0, 0, 0}, {1, 0, 0}, {0.5, height, 0});
    for (const Vec3d& on : {t.centroid, Vec3d{0.5, 0.5 * height, 0}, Vec3d{0.3, 0.2 * height, 0}}) {
      const Symmetric3d h = panel_hessian(t, on);
      // They change by a third derivative, of at most 1/clearance of them.
      const double off = 1e-6 * height;
      for (const double side : {-1.0, 1.0}) {
        const Symmetric3d there = panel_hessian(t, on + Vec3d{0, 0, side * off});
        CHECK(norm2(there - h) < 1e-9 * norm2(h));
      }
    }
  }
}

}  // namespace fmbem::test::panel_hessians_tests
