// Points that are few units in the last place from each other, or in few places.
#include <cmath>
#include <random>
#include <vector>

#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/tree/morton.hpp"
#include "tests/unit/fmm/backends.hpp"
#include "tests/unit/fmm/long_sum.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::few_places_tests {

using fmm::Method;
using fmm::PlanOptions;

namespace {

using Points = std::vector<Vec3d>;

/// Random points of a lattice with so many places an axis.
Points in_places(std::size_t n, unsigned of_axis, double offset, double step) {
  std::mt19937_64 random(of_axis);
  Points points(n);
  for (Vec3d& x : points)
    for (int axis = 0; axis < 3; ++axis)
      x[axis] = offset + step * static_cast<double>(random() % of_axis);
  return points;
}

}  // namespace

TEST_CASE("the cube about few units in the last place holds the points") {
  for (const double offset : {0x1p52 + 1, 1.0, -1.0, 1e300, -1e-300})
    for (const double units : {0.0, 1.0, 2.0, 3.0, 10.0, 63.0, 1000.0}) {
      const double ulp = std::nextafter(std::abs(offset), HUGE_VAL) - std::abs(offset);
      const double end = offset + units * ulp;
      for (const Vec3d low : {Vec3d{offset, offset, offset}, Vec3d{offset, end, 0}}) {
        const Cube cube = bounding_cube(low, {end, end, low.z == 0 ? 0 : end});
        for (int axis = 0; axis < 3; ++axis) {
          CAPTURE(offset, units, axis);
          CHECK(cube.corner[axis] <= low[axis]);
          CHECK(cube.corner[axis] + cube.side >= (low[axis] == 0 ? 0 : end));
        }
      }
    }
}

BACKEND_TEST_CASE("clouds of few units in the last place") {
  for (const double offset : {0x1p52 + 1, 1.0})
    for (const unsigned wide : {4U, 6U, 64U, 100U}) {
      const Points points = in_places(1500, wide, offset, offset > 2 ? 1 : 0x1p-52);
      const std::vector<double> q = signed_charges(points.size(), 5);
      std::vector<double> u(points.size());
      const auto check = [&](const PlanOptions& options) {
        const Plan plan(points, options);
        plan.evaluate({.charges = q}, {.potential = u});
        CAPTURE(offset, wide, name_of(options.method), plan.info().levels);
        CHECK(errors_by_long_sum(points, points, q, 0, 0, u, {}, 10).potential <= 1e-5);
      };
      for (const Method method : {Method::fmm, Method::treecode, Method::hybrid}) {
        check({.tolerance = 1e-5, .method = method});
        check({.tolerance = 1e-5, .max_leaf = 4, .method = method});
      }
      check({.tolerance = 1e-5, .method = Method::direct});
      fmm::direct_sum(points, points, {.charges = q}, {.potential = u});
      CHECK(errors_by_long_sum(points, points, q, 0, 0, u, {}, 10).potential <= 1e-12);
    }
}

BACKEND_TEST_CASE("many points in few places, which are at corners of boxes", "[long]") {
  for (const unsigned of_axis : {2U, 3U, 5U})
    for (const Method method : {Method::fmm, Method::treecode, Method::hybrid, Method::automatic})
      for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
        const Points points = in_places(4000, of_axis, 0, 1);
        const std::vector<double> q = signed_charges(points.size(), 5);
        std::vector<double> u(points.size());
        Points g(points.size());
        const Plan plan(points, {.tolerance = tolerance, .gradient = true, .method = method});
        plan.evaluate({.charges = q}, {u, g});
        const RelativeErrors errors = errors_by_long_sum(points, points, q, 0, 0, u, g, 17);
        CAPTURE(of_axis, name_of(method), tolerance, plan.info().order, plan.info().levels);
        CHECK(errors.potential <= tolerance);
        CHECK(errors.gradient <= tolerance);
      }
}

BACKEND_TEST_CASE("κ beyond all lengths leaves finite zeros") {
  const Points two{{0, 0, 0}, {1, 0, 0}}, cube = cube_points(400, 3);
  for (const Points& points : {two, cube})
    for (const double kappa : {1e10, 1e17, 1e19, 1e20, 1e100, 1e160, 1e308})
      for (const double tolerance : {1e-3, 1e-9})
        for (const Method method : {Method::fmm, Method::direct, Method::treecode, Method::hybrid})
          for (const bool hessian : {false, true}) {
            const bool acts_on_points = method == Method::treecode || method == Method::hybrid;
            if (hessian && acts_on_points) continue;  // they have none
            PlanOptions options{.tolerance = tolerance, .kappa = kappa, .gradient = true};
            options.dipoles = true;
            options.hessian = hessian;
            options.method = method;
            if (method != Method::direct) options.max_leaf = 10;
            const std::size_t n = points.size();
            const Plan plan(points, options);
            std::vector<double> u(n, 1);
            Points g(n, {1, 1, 1});
            std::vector<Symmetric3d> h(hessian ? n : 0);
            const std::vector<double> q = signed_charges(n, 4);
            const Points d = random_dipoles(n, 5);
            plan.evaluate({q, d, 1}, {u, g, h});
            bool all_zero = true;
            for (std::size_t i = 0; i < n; ++i) all_zero = all_zero && u[i] == 0 && norm(g[i]) == 0;
            for (const Symmetric3d& of : h) all_zero = all_zero && of.xx == 0 && of.yz == 0;
            CAPTURE(n, kappa, tolerance, name_of(method), hessian);
            CHECK(all_zero);
          }
}

BACKEND_TEST_CASE("any softening goes with one place") {
  const std::vector<double> q{1, 2, 3};
  for (const double softening : {1e-3, 101.0, 1e25, 1e300})
    for (const Vec3d place : {Vec3d{}, Vec3d{1e-9, 2e-9, -1e-9}, Vec3d{1e20, 1e20, 1e20}})
      for (const std::size_t n : {1, 3}) {
        const Points points(n, place);
        const Plan plan(points, {.tolerance = 1e-4,
                                 .gradient = true,
                                 .method = Method::direct,
                                 .softening = softening});
        std::vector<double> u(n, 1);
        Points g(n, {1, 1, 1});
        plan.evaluate({std::span(q).first(n), {}, 1}, {u, g});
        CHECK(u == std::vector<double>(n, 0));
        CHECK(g == Points(n, Vec3d{}));
      }
}

}  // namespace fmbem::test::few_places_tests
