// Potentials and fields of Yukawa densities off the surface.
#include <cmath>
#include <vector>

#include "fmbem/bem/layer/double_layer_field.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/bem/near/yukawa_integrals.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::yukawa_field_tests {

namespace {

FieldOptions with(double kappa, double tolerance = 0) {
  FieldOptions options;
  options.kappa = kappa;
  options.tolerance = tolerance;
  return options;
}

/// About the unit sphere: inside, outside, and close to it.
std::vector<Vec3d> points_about(std::size_t n, std::uint64_t seed) {
  Uniform uniform(seed);
  std::vector<Vec3d> points;
  for (std::size_t i = 0; i < n; ++i)
    points.push_back((i % 3 == 0 ? 1 + 0.02 * uniform() : uniform(0.1, 1.6)) *
                     sphere_point(uniform));
  return points;
}

}  // namespace

TEST_CASE("fields of Yukawa densities by the FMM are those of exact integrals",
          "[long][accuracy]") {
  const Panels panels = make_panels(sphere(3));
  const std::size_t n = panels.size();
  const std::vector<double> sigma = signed_charges(n, 1);
  const std::vector<Vec3d> points = points_about(2200, 2);
  for (const double kappa : {0.2, 40.0}) {
    // Sums of absolute values, to which the tolerance is relative.
    std::vector<double> absolute(n);
    for (std::size_t j = 0; j < n; ++j) absolute[j] = std::abs(sigma[j]);
    const Field exact = evaluate_field(panels, sigma, points, with(kappa)),
                size = evaluate_field(panels, absolute, points, with(kappa)),
                exact_k = evaluate_double_layer(panels, sigma, points, with(kappa));
    for (const double tolerance : {1e-2, 1e-3}) {
      // Making M2L's operators for each level takes most of the time.
      if (tolerance < 1e-2 && kappa < 1) continue;
      const Field fast = evaluate_field(panels, sigma, points, with(kappa, tolerance)),
                  fast_k = evaluate_double_layer(panels, sigma, points, with(kappa, tolerance));
      double error = 0, error_e = 0, error_k = 0, error_of_k = 0, potentials = 0, fields = 0,
             slopes = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        error = std::hypot(error, fast.potential[i] - exact.potential[i]);
        error_e = std::hypot(error_e, norm(fast.e[i] - exact.e[i]));
        error_k = std::hypot(error_k, fast_k.potential[i] - exact_k.potential[i]);
        error_of_k = std::hypot(error_of_k, norm(fast_k.e[i] - exact_k.e[i]));
        slopes = std::hypot(slopes, norm(exact_k.e[i]));
        potentials = std::hypot(potentials, size.potential[i]);
        fields = std::hypot(fields, norm(size.e[i]));
      }
      CAPTURE(kappa, tolerance);
      CHECK(error < tolerance * potentials);
      CHECK(error_e < tolerance * fields);
      CHECK(error_k < tolerance * fields);
      CHECK(error_of_k < tolerance * slopes);
    }
  }
}

TEST_CASE("the field of Yukawa densities is −∇φ and jumps as Laplace's") {
  using Evaluate = Field (*)(const Panels&, std::span<const double>, std::span<const Vec3d>,
                             const FieldOptions&);
  const Evaluate of_charges = [](const Panels& panels, std::span<const double> sigma,
                                 std::span<const Vec3d> points, const FieldOptions& options) {
    return evaluate_field(panels, sigma, points, options);
  };
  const Panels panels = make_panels(cube(4));
  const std::vector<double> sigma = signed_charges(panels.size(), 1);
  for (const double kappa : {0.5, 6.0}) {
    std::vector<Vec3d> around;
    const Vec3d x{1.07, 0.4, 0.3};
    const double step = 1e-3;
    for (int axis = 0; axis < 3; ++axis)
      for (const double by : {step, -step, 2 * step, -2 * step}) {
        around.push_back(x);
        around.back()[axis] += by;
      }
    for (const Evaluate evaluate : {of_charges, &evaluate_double_layer}) {
      const std::vector<double> u = evaluate(panels, sigma, around, with(kappa)).potential;
      const Vec3d e = evaluate(panels, sigma, std::vector<Vec3d>{x}, with(kappa)).e[0];
      for (std::size_t axis = 0; axis < 3; ++axis)
        CHECK(-e[static_cast<int>(axis)] ==
              Approx((8 * (u[4 * axis] - u[4 * axis + 1]) - (u[4 * axis + 2] - u[4 * axis + 3])) /
                     (12 * step))
                  .margin(1e-8 * norm(e)));
    }
    const std::vector<Vec3d> on{panels.centroid(5) + panels.origin};
    FieldOptions ahead = with(kappa), behind = with(kappa);
    ahead.side = Side::positive;
    behind.side = Side::negative;
    const Vec3d jump = evaluate_field(panels, sigma, on, ahead).e[0] -
                       evaluate_field(panels, sigma, on, behind).e[0];
    CHECK(norm(jump - sigma[5] * panels.triangle(5).normal) < 1e-13);
    const double k_jump = evaluate_double_layer(panels, sigma, on, ahead).potential[0] -
                          evaluate_double_layer(panels, sigma, on, behind).potential[0];
    CHECK(k_jump == Approx(sigma[5]).epsilon(1e-13));
  }
}

TEST_CASE("on a sliver the field of a Yukawa density is the mean of both sides") {
  const Panels panels = make_panels(long_plate(1, 30));
  const std::vector<double> sigma = signed_charges(panels.size(), 1);
  for (std::size_t j = 0; j < panels.size(); j += 7) {
    const Vec3d on = panels.centroid(j) + panels.origin,
                off = 1e-7 * panels.triangle(j).radius * panels.triangle(j).normal;
    const std::vector<Vec3d> points{on, on + off, on - off};
    const std::vector<Vec3d> e = evaluate_field(panels, sigma, points, with(3)).e;
    CHECK(norm(e[0] - 0.5 * (e[1] + e[2])) < 1e-5);
  }
}

TEST_CASE("on edges between coplanar panels the field of a Yukawa density is finite") {
  const Panels panels = make_panels(plate(4));
  const std::vector<double> equal(panels.size(), 1.0);
  // The middle of an inner edge, and of a rim.
  const std::vector<Vec3d> points{{0.5, 0.375, 0}, {0.5, 0, 0}};
  const Field field = evaluate_field(panels, equal, points, with(3));
  CHECK(field.singular_points == 1);
  const std::vector<Vec3d> beside{{0.5 + 1e-7, 0.375 + 1e-7, 0}};
  CHECK(norm(field.e[0] - evaluate_field(panels, equal, beside, with(3)).e[0]) < 1e-5);
}

TEST_CASE("Green's identity holds for Yukawa's kernel outside of a sphere, to the panels' error") {
  // φ = e^{−κ(r−1)}/r: φ = K φ − V ∂φ/∂n outside, and 0 inside.
  const Panels panels = make_panels(sphere(4));
  constexpr double kappa = 2;
  const std::vector<double> one(panels.size(), 1.0), slope(panels.size(), -(1 + kappa));
  const std::vector<Vec3d> points{{1.5, 0, 0.3}, {0.2, 0.4, -0.1}};
  const Field v = evaluate_field(panels, slope, points, with(kappa)),
              k = evaluate_double_layer(panels, one, points, with(kappa));
  const double r = norm(points[0]);
  CHECK(k.potential[0] - v.potential[0] == Approx(std::exp(-kappa * (r - 1)) / r).epsilon(0.01));
  CHECK(std::abs(k.potential[1] - v.potential[1]) < 0.01);
}

TEST_CASE("fields refuse what is no κ") {
  const Panels panels = make_panels(cube(1));
  const std::vector<double> sigma(panels.size(), 1.0);
  const std::vector<Vec3d> points{{2, 2, 2}};
  CHECK_THROWS_AS(evaluate_field(panels, sigma, points, with(-1)), InputError);
  CHECK_THROWS_AS(evaluate_double_layer(panels, sigma, points, with(NAN)), InputError);
  FieldOptions derived = with(1);
  derived.gradient_of_e = true;
  CHECK_THROWS_AS(evaluate_field(panels, sigma, points, derived), InputError);
}

}  // namespace fmbem::test::yukawa_field_tests
