#include "fmbem/bem/layer/field.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "fmbem/bem/layer/double_layer_field.hpp"
#include "fmbem/bem/layer/potential_at.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "tests/unit/bem/field_points.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::field_tests {

TEST_CASE("the field of a charged sphere is that of a point outside and none inside") {
  const Panels panels = make_panels(sphere(5, 2, {3, 1, -1}));
  const std::vector<double> sigma(panels.size(), 1.0);
  const Vec3d centre{3, 1, -1};
  const std::vector<Vec3d> points{centre + Vec3d{0, 0, 4}, centre + Vec3d{1, -2, 3}, centre,
                                  centre + Vec3d{0.5, 0.5, 0.5}};
  const Field field = evaluate_field(panels, sigma, points);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3d d = points[i] - centre;
    const double r = norm(d);
    // Area 4π·4, so φ = 4/r and E = 4/r²; inside φ = 2. The polyhedron's error is O(h²) = 0.1 %.
    CHECK(field.potential[i] == Approx(r > 2 ? 4 / r : 2).epsilon(1.5e-3));
    const Vec3d e = r > 2 ? (4 / (r * r * r)) * d : Vec3d{};
    CHECK(norm(field.e[i] - e) < 2e-3);
  }
  CHECK(field.singular_points == 0);
}

TEST_CASE("E is the negative gradient of the potential") {
  const Panels panels = make_panels(cube(2));
  std::vector<double> sigma(panels.size());
  for (std::size_t j = 0; j < sigma.size(); ++j) sigma[j] = std::cos(3.0 * j);
  const double h = 1e-4;
  for (const Vec3d& x : {Vec3d{1.2, 0.4, 0.3}, Vec3d{0.4, 0.3, 0.7}, Vec3d{20, -7, 3}}) {
    std::vector<Vec3d> points{x};
    for (int axis = 0; axis < 3; ++axis) {
      for (const double step : {h, -h, 2 * h, -2 * h}) {
        points.push_back(x);
        points.back()[axis] += step;
      }
    }
    const Field field = evaluate_field(panels, sigma, points);
    for (int axis = 0; axis < 3; ++axis) {
      const double* p = field.potential.data() + 1 + 4 * axis;
      const double slope = (8 * (p[0] - p[1]) - (p[2] - p[3])) / (12 * h);
      CHECK(field.e[0][axis] == Approx(-slope).epsilon(1e-7).margin(1e-10));
    }
  }
}

TEST_CASE("on the surface E jumps by the density, and the sides are the limits") {
  const SurfaceMesh mesh = sphere(2, 1, {0.5, -0.25, 4});
  const Panels panels = make_panels(mesh);
  std::vector<double> sigma(panels.size());
  for (std::size_t j = 0; j < sigma.size(); ++j) sigma[j] = 1 + 0.1 * std::sin(double(j));
  for (const std::size_t k : {std::size_t{0}, std::size_t{17}, panels.size() - 1}) {
    const Triangle t = panels.triangle(k);
    const Vec3d on = t.centroid + panels.origin;
    const std::vector<Vec3d> points{on, on + 1e-7 * t.normal, on - 1e-7 * t.normal};
    const Field mean = evaluate_field(panels, sigma, points);
    const Field outside = evaluate_field(panels, sigma, points, {.side = Side::positive});
    const Field inside = evaluate_field(panels, sigma, points, {.side = Side::negative});
    CHECK(norm(outside.e[0] - inside.e[0] - sigma[k] * t.normal) < 1e-13);
    CHECK(norm(0.5 * (outside.e[0] + inside.e[0]) - mean.e[0]) < 1e-14);
    CHECK(norm(outside.e[0] - mean.e[1]) < 1e-5);
    CHECK(norm(inside.e[0] - mean.e[2]) < 1e-5);
    CHECK(mean.potential[0] == Approx(mean.potential[1]).epsilon(1e-6));
    CHECK(outside.potential[0] == mean.potential[0]);
  }
}

TEST_CASE("on an edge E is NaN and counted") {
  const Panels panels = make_panels(plate(2));
  const std::vector<double> sigma{1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<Vec3d> points{{0.5, 0.1, 0}, {0, 0, 0}, {0.3, 0.1, 0}};
  const Field field = evaluate_field(panels, sigma, points);
  CHECK(field.singular_points == 2);
  CHECK(std::isnan(field.e[0].x));
  CHECK(std::isfinite(field.potential[0]));
  CHECK(std::isfinite(field.potential[1]));
  CHECK(std::isfinite(norm(field.e[2])));
}

TEST_CASE("bad points and sizes are refused") {
  const Panels panels = make_panels(plate(1));
  const std::vector<double> sigma(2, 1.0);
  const std::vector<Vec3d> points{{0, 0, std::numeric_limits<double>::infinity()}};
  CHECK_THROWS_AS(evaluate_field(panels, sigma, points), InputError);
  CHECK_THROWS_AS(evaluate_field(panels, std::vector<double>(3), {}), InputError);
  const std::vector<Vec3d> one{{0, 0, 1}};
  const std::vector<double> of_nan{1, std::nan("")};
  CHECK_THROWS_WITH(evaluate_field(panels, of_nan, one), contains("entry 1 of the charges"));
  const std::vector<std::int32_t> beyond{2};
  CHECK_THROWS_WITH(evaluate_field(panels, sigma, one, {}, beyond),
                    contains("there is no panel 2"));
}

TEST_CASE("the flux through a closed panel surface is the charge inside (double layer identity)") {
  // Σ_j A_j n_j·∇(1/4π|x−y|) with the gradient's normal part, that is the solid angle: −1 inside.
  const Panels panels = make_panels(cube(3));
  for (const Vec3d& x : {Vec3d{0.5, 0.5, 0.5}, Vec3d{0.01, 0.5, 0.9}, Vec3d{1.5, 0.5, 0.5}}) {
    double sum = 0;
    for (const Triangle& t : triangles_of(panels)) {
      const TriangleView view = view_triangle(t, x - panels.origin);
      sum += std::copysign(view.solid_angle, view.height) / (4 * std::numbers::pi);
    }
    CHECK(sum == Approx(x.x < 1 ? -1.0 : 0.0).margin(1e-13));
  }
}

TEST_CASE("fields by the FMM agree with exact integrals to the tolerance") {
  for (const SurfaceMesh& mesh : {sphere(4, 0.01, {3, 4, 5}), bracket(10), plate(30)}) {
    const Panels panels = make_panels(mesh);
    const std::vector<double> sigma = signed_charges(panels.size(), 2);
    std::vector<double> sizes;
    for (const double s : sigma) sizes.push_back(std::abs(s));
    const std::vector<Vec3d> points = points_about(panels, 900);
    REQUIRE(points.size() * panels.size() > 1'500'000);
    for (const Side side : {Side::mean, Side::positive}) {
      const Field exact = evaluate_field(panels, sigma, points, {side, 0});
      const Field whole = evaluate_field(panels, sizes, points, {side, 0});
      for (const double tolerance : {1e-3, 1e-5, 1e-8, 1e-10}) {
        if (sanitized && tolerance < 1e-5) break;
        CAPTURE(panels.size(), tolerance);
        const FieldErrors errors =
            errors_of(evaluate_field(panels, sigma, points, {side, tolerance}), exact, whole);
        CHECK(errors.potential < tolerance);
        CHECK(errors.e < tolerance);
      }
    }
  }
}

namespace {

double square(double u) { return u * u; }
double square(const Vec3d& e) { return norm2(e); }
double square(const Symmetric3d& h) {
  double sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) sum += h(i, j) * h(i, j);
  return sum;
}

/// Root mean square of differences over that of what is expected, at every so many-th point.
template <class Value>
double relative_error(const std::vector<Value>& found, const std::vector<Value>& expected,
                      std::size_t every) {
  double error = 0, size = 0;
  for (std::size_t k = 0; k < expected.size(); ++k) {
    Value difference = -1.0 * expected[k];
    error += square(difference += found[every * k]);
    size += square(expected[k]);
  }
  return std::sqrt(error / size);
}

}  // namespace

TEST_CASE("far from all panels, with densities of one sign, fields keep the tolerance, too",
          "[long][cases]") {
  constexpr std::size_t count = 1000, every = 50;
  for (const SurfaceMesh& mesh : {sphere(4), long_plate(16, 40)}) {
    const Panels panels = make_panels(mesh);
    const std::vector<double> density(panels.size(), 1.0);
    std::vector<std::int32_t> all(panels.size());
    std::iota(all.begin(), all.end(), 0);
    for (const double distance : {0.36, 0.42, 0.55, 0.7, 3.0, 10.0, 50.0}) {
      std::vector<Vec3d> points, some;
      for (const Vec3d& x : sphere_points(count, 7)) points.push_back(distance * panels.extent * x);
      for (std::size_t k = 0; k < count; k += every) some.push_back(points[k]);
      const Field exact = evaluate_field(panels, density, some,
                                         {.tolerance = 0, .gradient_of_e = true}),
                  of_dipoles = evaluate_double_layer(panels, density, some, {.tolerance = 0});
      std::vector<double> of_both = exact.potential;
      for (std::size_t k = 0; k < some.size(); ++k) of_both[k] += of_dipoles.potential[k];
      for (const double tolerance : {1e-6, 1e-3, 1e-8}) {
        if (sanitized && tolerance != 1e-6) break;
        CAPTURE(panels.size(), distance, tolerance);
        const Field found = evaluate_field(panels, density, points,
                                           {.tolerance = tolerance, .gradient_of_e = true}),
                    e = evaluate_field(panels, density, points, {.tolerance = tolerance});
        CHECK(relative_error(e.potential, exact.potential, every) <= tolerance);
        CHECK(relative_error(e.e, exact.e, every) <= tolerance);
        CHECK(relative_error(found.gradient_of_e, exact.gradient_of_e, every) <= tolerance);
        CHECK(relative_error(potential_at(panels, all, {density, density}, points, tolerance),
                             of_both, every) <= tolerance);
      }
    }
  }
}

TEST_CASE("fields by the FMM know edges, and the same bits come out for any number of threads",
          "[threads]") {
  const Panels panels = make_panels(plate(40));
  const std::vector<double> sigma = signed_charges(panels.size(), 3);
  std::vector<Vec3d> points;
  for (int i = 0; i <= 20; ++i)
    for (int j = 0; j < 25; ++j) points.push_back({i / 20.0, 0.0125 + 0.025 * j, 0});
  std::vector<Field> fields;
  for (const int threads : {1, 2, 3}) {
    set_threads(threads);
    fields.push_back(evaluate_field(panels, sigma, points, {.tolerance = 1e-6}));
  }
  set_threads(available_cores());
  CHECK(fields[0].potential == fields[1].potential);
  CHECK(fields[0].potential == fields[2].potential);
  CHECK(fields[0].singular_points == 21 * 25);
  CHECK(evaluate_field(panels, sigma, points, {.tolerance = 0}).singular_points == 21 * 25);
  // Of equal densities only the 25 points on either rim are singular.
  const std::vector<double> equal(panels.size(), 1.0);
  CHECK(evaluate_field(panels, equal, points, {.tolerance = 1e-6}).singular_points == 2 * 25);
  CHECK(evaluate_field(panels, equal, points, {.tolerance = 0}).singular_points == 2 * 25);
  CHECK_THROWS_AS(evaluate_field(panels, sigma, points, {.tolerance = 1e-12}), InputError);
  CHECK_THROWS_AS(evaluate_field(panels, sigma, points, {.tolerance = 0.5}), InputError);
}

}  // namespace fmbem::test::field_tests
