// The gradient of E, and fields near surfaces.
#include <cmath>
#include <limits>
#include <vector>

#include "fmbem/bem/layer/field.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/textbook_field.hpp"

namespace fmbem::test::field_derivatives_tests {

namespace {

/// The gradient of E from E at some distance, by differences of fourth order.
Symmetric3d slopes(const Panels& panels, std::span<const double> sigma, Vec3d x, double step,
                   Side side) {
  std::vector<Vec3d> points;
  for (int axis = 0; axis < 3; ++axis)
    for (const double by : {step, -step, 2 * step, -2 * step}) {
      points.push_back(x);
      points.back()[axis] += by;
    }
  const Field field = evaluate_field(panels, sigma, points, {.side = side, .tolerance = 0});
  Vec3d row[3];
  for (int axis = 0; axis < 3; ++axis) {
    const Vec3d* e = field.e.data() + 4 * axis;
    row[axis] = (8.0 * (e[0] - e[1]) - (e[2] - e[3])) / (12 * step);
  }
  return {row[0].x, row[0].y, row[0].z, row[1].y, row[1].z, row[2].z};
}

}  // namespace

TEST_CASE("the gradient of E is what differences of E are") {
  for (const SurfaceMesh& mesh : {cube(3), sphere(2, 1, {0.5, 2, -1}), long_plate(2, 40)}) {
    const Panels panels = make_panels(mesh);
    const std::vector<double> sigma = signed_charges(panels.size(), 3);
    for (const std::size_t k : {std::size_t{0}, panels.size() / 2}) {
      const Triangle t = panels.triangle(k);
      for (const double distance : {0.05, 0.5, 4.0}) {
        const Vec3d x = panels.origin + t.centroid + distance * t.normal;
        const Field field = evaluate_field(panels, sigma, std::vector<Vec3d>{x},
                                           {.tolerance = 0, .gradient_of_e = true});
        const Symmetric3d g = field.gradient_of_e[0];
        CHECK(std::abs(g.xx + g.yy + g.zz) < 1e-12 * std::sqrt(norm2(g)));
        // Fourth order: 4! (step/distance)⁴ of it, and rounding of E over the step.
        const Symmetric3d expected = slopes(panels, sigma, x, 2e-3 * distance, Side::mean);
        CHECK(norm2(g - expected) < 1e-14 * norm2(g));
      }
    }
  }
}

TEST_CASE("the gradient of E by the FMM agrees with exact integrals to the tolerance",
          "[long][cases]") {
  for (const SurfaceMesh& mesh : {sphere(4, 0.01, {3, 4, 5}), bracket(9), plate(32)}) {
    const Panels panels = make_panels(mesh);
    const std::vector<double> sigma = signed_charges(panels.size(), 2);
    std::vector<double> sizes;
    for (const double s : sigma) sizes.push_back(std::abs(s));
    // Off the surface, where the far field is not hidden by a few near panels.
    Uniform uniform(1);
    std::vector<Vec3d> points;
    for (int i = 0; i < 600; ++i) {
      const std::size_t k = static_cast<std::size_t>(uniform(0, 0.999) * panels.size());
      const double distance = panels.extent * std::pow(10, uniform(-2, 0.5));
      points.push_back(panels.origin + panels.centroid(k) + distance * sphere_point(uniform));
    }
    REQUIRE(points.size() * panels.size() > 1'000'000);
    const Field exact =
        evaluate_field(panels, sigma, points, {.tolerance = 0, .gradient_of_e = true});
    const Field whole =
        evaluate_field(panels, sizes, points, {.tolerance = 0, .gradient_of_e = true});
    for (const double tolerance : {1e-2, 1e-5, 1e-8, 1e-10}) {
      if (sanitized && tolerance < 1e-5) break;
      const Field fast =
          evaluate_field(panels, sigma, points, {.tolerance = tolerance, .gradient_of_e = true});
      double error[3] = {}, size[3] = {};
      for (std::size_t i = 0; i < points.size(); ++i) {
        error[0] += std::pow(fast.potential[i] - exact.potential[i], 2);
        error[1] += norm2(fast.e[i] - exact.e[i]);
        error[2] += norm2(fast.gradient_of_e[i] - exact.gradient_of_e[i]);
        size[0] += std::pow(whole.potential[i], 2);
        size[1] += norm2(whole.e[i]);
        size[2] += norm2(whole.gradient_of_e[i]);
      }
      for (int k = 0; k < 3; ++k) {
        CAPTURE(panels.size(), tolerance, k);
        CHECK(std::sqrt(error[k] / size[k]) < tolerance);
      }
    }
  }
}

TEST_CASE("fields near surfaces are those of the textbook in more digits, from 1e-9 h to 10 h") {
  struct Case {
    SurfaceMesh mesh;
    const char* name;
  };
  for (const Case& c : {Case{sphere(2, 1, {0.5, -0.25, 4}), "sphere"}, Case{cube(4), "cube"},
                        Case{long_plate(2, 60), "long plate"}}) {
    const Panels panels = make_panels(c.mesh);
    const std::vector<double> sigma = signed_charges(panels.size(), 4);
    Uniform uniform(5);
    for (const double distance : near_distances) {
      for (int k = 0; k < 6; ++k) {
        const Triangle t =
            panels.triangle(static_cast<std::size_t>(uniform(0, 0.999) * panels.size()));
        // Anywhere in a panel, a fifth of the way at least from its edges.
        const double a = uniform(0.2, 0.4), b = uniform(0.2, 0.4);
        const Vec3d on = a * t.vertex[0] + b * t.vertex[1] + (1 - a - b) * t.vertex[2];
        const double h = std::sqrt(t.area);
        const std::vector<Vec3d> points{panels.origin + on +
                                        (k % 2 ? -distance : distance) * h * t.normal};
        const Field field = evaluate_field(panels, sigma, points, {.gradient_of_e = true});
        const TextbookField exact = textbook_field(panels, sigma, points[0]);
        CAPTURE(c.name, distance, k);
        CHECK(exact.error_of_potential(field.potential[0]) < 1e-12);
        CHECK(exact.error_of_e(field.e[0]) < 1e-10);
        CHECK(exact.error_of_gradient(field.gradient_of_e[0]) < 1e-10);
      }
    }
  }
}

}  // namespace fmbem::test::field_derivatives_tests
