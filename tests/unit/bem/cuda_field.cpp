// Fields at points on the GPU against exact integrals on the CPU, and against its limits.
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/bem/layer/cuda/layer_at_points.hpp"
#include "fmbem/bem/layer/double_layer_field.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/bem/field_points.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/reflected_surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::cuda_field_tests {

namespace {

using Points = std::vector<Vec3d>;

FieldOptions on_gpu(double tolerance, Side side = Side::mean, double kappa = 0) {
  return {.side = side, .tolerance = tolerance, .kappa = kappa, .processor = Processor::gpu};
}
FieldOptions with_gradient_on_gpu(double tolerance, Side side = Side::mean) {
  FieldOptions options = on_gpu(tolerance, side);
  options.gradient_of_e = true;
  return options;
}

struct Body {
  const char* name;
  SurfaceMesh mesh;
};

/// Two plates, a hundredth of their side apart.
SurfaceMesh close_plates(int n) {
  SurfaceMesh mesh = plate(n);
  add_grid(mesh, add_group(mesh, "second"), n, {0, 0, 0.01}, {1, 0, 0}, {0, 1, 0});
  return mesh;
}

std::vector<Body> bodies() {
  return {{"sphere", sphere(4, 0.01, {3, 4, 5})},
          {"cube", cube(12)},
          {"bracket", bracket(9)},
          {"plates", close_plates(22)},
          {"plate of panels 1 : 100", long_plate(4, 250)}};
}

/// Of the densities, and of their absolute values, by exact integrals.
struct Exact {
  Exact(const Panels& panels, const Vector& sigma, const Points& points, FieldOptions how) {
    Vector sizes;
    for (const double s : sigma) sizes.push_back(std::abs(s));
    how.tolerance = 0;
    how.processor = Processor::cpu;
    field = evaluate_field(panels, sigma, points, how);
    whole = evaluate_field(panels, sizes, points, how);
  }
  Exact(const Panels& panels, const Vector& sigma, const Points& points, Side side)
      : Exact(panels, sigma, points, FieldOptions{.side = side}) {}
  Field field, whole;
};

/// What dipoles give at points off the panels, panel by panel in absolute values.
Field size_of_dipoles(const Panels& panels, const Vector& mu, const Points& points) {
  Field size{Vector(points.size()), Points(points.size()), {}, 0};
  for (std::size_t j = 0; j < panels.size(); ++j) {
    const Triangle t = panels.triangle(j);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Vec3d x = points[i] - panels.origin;
      const double r = norm(x - t.centroid);
      size.potential[i] += std::abs(mu[j] * triangle_double_layer(t, x));
      size.e[i].x += inv_4pi * std::abs(mu[j]) * t.area / (r * r * r);
    }
  }
  return size;
}

/// On the edges of panels of plate(40) and on its rims, 25 of each of 21 lines.
Points points_across_plate() {
  Points points;
  for (int i = 0; i <= 20; ++i)
    for (int j = 0; j < 25; ++j) points.push_back({i / 20.0, 0.0125 + 0.025 * j, 0});
  return points;
}

}  // namespace

TEST_CASE("fields on the GPU agree with exact integrals to the tolerance") {
  if (!gpu_is_there()) return;
  for (const Body& body : bodies()) {
    const Panels panels = make_panels(body.mesh);
    const Vector sigma = signed_charges(panels.size(), 2);
    const Points points = points_about(panels, 900);
    REQUIRE(points.size() * panels.size() > 1'000'000);
    for (const Side side : {Side::mean, Side::positive}) {
      const Exact exact(panels, sigma, points, side);
      for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
        const FieldErrors errors =
            errors_of(evaluate_field(panels, sigma, points, on_gpu(tolerance, side)), exact.field,
                      exact.whole);
        CAPTURE(body.name, static_cast<int>(side), tolerance, errors.potential, errors.e);
        CHECK(errors.potential < tolerance);
        CHECK(errors.e < tolerance);
      }
    }
  }
}

TEST_CASE("fields of Yukawa's kernel on the GPU agree with exact integrals to the tolerance") {
  if (!gpu_is_there()) return;
  for (const Body& body : bodies()) {
    const Panels panels = make_panels(body.mesh);
    const Vector sigma = signed_charges(panels.size(), 2);
    const Points points = points_about(panels, 900);
    for (const double size : {1.0, 40.0, 400.0}) {
      if (size != 40 && body.name != std::string("cube")) continue;
      const double kappa = size / panels.extent;
      const Exact exact(panels, sigma, points, on_gpu(0, Side::positive, kappa));
      for (const double tolerance : {1e-2, 1e-5, 1e-8}) {
        const FieldErrors errors = errors_of(
            evaluate_field(panels, sigma, points, on_gpu(tolerance, Side::positive, kappa)),
            exact.field, exact.whole);
        CAPTURE(body.name, size, tolerance, errors.potential, errors.e);
        CHECK(errors.potential < tolerance);
        CHECK(errors.e < tolerance);
      }
    }
  }
}

TEST_CASE("the gradient of E on the GPU agrees with exact integrals to the tolerance") {
  if (!gpu_is_there()) return;
  for (const Body& body : bodies()) {
    const Panels panels = make_panels(body.mesh);
    const Vector sigma = signed_charges(panels.size(), 2);
    // Off the surface, where the far field is not hidden by a few near panels.
    Points points = points_about(panels, 900, -2);
    points.resize(900);
    const Exact exact(panels, sigma, points, with_gradient_on_gpu(0));
    double size = 0;
    for (const Symmetric3d& gradient : exact.whole.gradient_of_e) size += norm2(gradient);
    for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10}) {
      const Field field = evaluate_field(panels, sigma, points, with_gradient_on_gpu(tolerance));
      const FieldErrors errors = errors_of(field, exact.field, exact.whole);
      double error = 0;
      for (std::size_t i = 0; i < points.size(); ++i)
        error += norm2(field.gradient_of_e[i] - exact.field.gradient_of_e[i]);
      CAPTURE(body.name, tolerance, errors.potential, errors.e, std::sqrt(error / size));
      CHECK(errors.potential < tolerance);
      CHECK(errors.e < tolerance);
      CHECK(std::sqrt(error / size) < tolerance);
    }
  }
}

TEST_CASE("the gradient of E on the GPU close to slivers and on panels is the exact one") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(long_plate(4, 150));
  const Vector sigma = signed_charges(panels.size(), 2);
  Points points;
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const Triangle t = panels.triangle(k);
    for (const double widths : {0.0, 0.1, 1.0, 5.0, 100.0})
      points.push_back(panels.origin + t.centroid + widths * t.area / t.radius * t.normal);
  }
  REQUIRE(points.size() * panels.size() > 1'000'000);
  constexpr double tolerance = 1e-8;
  const Exact exact(panels, sigma, points, with_gradient_on_gpu(0));
  const Field field = evaluate_field(panels, sigma, points, with_gradient_on_gpu(tolerance));
  double error = 0, size = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    error += norm2(field.gradient_of_e[i] - exact.field.gradient_of_e[i]);
    size += norm2(exact.whole.gradient_of_e[i]);
  }
  CHECK(std::sqrt(error / size) < tolerance);
}

TEST_CASE("fields at points that do not fit the GPU together are those of all at once") {
  if (!gpu_is_there()) return;
  constexpr double tolerance = 1e-6;
  const Panels panels = make_panels(cube(12));
  const Vector sigma = signed_charges(panels.size(), 2);
  const Points points = points_about(panels, 900);
  const Exact exact(panels, sigma, points, Side::mean);
  cuda::bem::LayerAtPoints how{Trace::value, 0.02 * tolerance};
  Field at_once, in_parts;
  const auto pairs = cuda::bem::set_layer_field(panels, sigma, points, how, at_once);
  how.points_at_once = 251;
  const auto same_pairs = cuda::bem::set_layer_field(panels, sigma, points, how, in_parts);
  CHECK(errors_of(in_parts, at_once, exact.whole).potential < 2 * tolerance);
  CHECK(errors_of(in_parts, at_once, exact.whole).e < 2 * tolerance);
  REQUIRE(same_pairs.size() == pairs.size());
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    CHECK(same_pairs[k].point == pairs[k].point);
    CHECK(same_pairs[k].panel == pairs[k].panel);
  }
  Points bad = points;
  bad[700].x = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(cuda::bem::set_layer_field(panels, sigma, bad, how, in_parts),
                    contains("point 700 is not finite"));
}

TEST_CASE("fields of double layers on the GPU agree with exact ones to the tolerance") {
  if (!gpu_is_there()) return;
  for (const Body& body : bodies()) {
    const Panels panels = make_panels(body.mesh);
    const Vector mu = signed_charges(panels.size(), 3);
    Points points = points_about(panels, 900, -2);
    points.resize(900);  // sums of absolute values are those off the panels
    const Field whole = size_of_dipoles(panels, mu, points);
    for (const double size : {0.0, 1.0, 40.0}) {
      if (size > 0 && body.name != std::string(size == 1 ? "cube" : "bracket")) continue;
      const double kappa = size / panels.extent;
      const Field exact =
          evaluate_double_layer(panels, mu, points, {.tolerance = 0, .kappa = kappa});
      for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-8}) {
        if (size > 0 && tolerance == 1e-6) continue;
        const FieldErrors errors = errors_of(
            evaluate_double_layer(panels, mu, points, on_gpu(tolerance, Side::mean, kappa)), exact,
            whole);
        CAPTURE(body.name, size, tolerance, errors.potential, errors.e);
        CHECK(errors.potential < tolerance);
        CHECK(errors.e < tolerance);
      }
    }
  }
}

TEST_CASE("double layers on the GPU jump on panels, and E is NaN on their edges") {
  if (!gpu_is_there()) return;
  const double kappa = GENERATE(0.0, 3.0);
  const Panels panels = make_panels(plate(40));
  const Vector mu = signed_charges(panels.size(), 4);
  Points points;
  for (std::size_t k = 0; k < 400; ++k) points.push_back(panels.centroid(k) + panels.origin);
  for (int i = 0; i < 41; ++i) points.push_back({i / 40.0, 0.3125, 0});
  REQUIRE(points.size() * panels.size() > 1'000'000);
  for (const Side side : {Side::mean, Side::positive, Side::negative}) {
    const FieldOptions exactly{.side = side, .tolerance = 0, .kappa = kappa};
    const Field exact = evaluate_double_layer(panels, mu, points, exactly),
                field = evaluate_double_layer(panels, mu, points, on_gpu(1e-7, side, kappa));
    CHECK(field.singular_points == 41);
    CHECK(exact.singular_points == 41);
    for (std::size_t i = 0; i < points.size(); ++i) {
      CHECK(std::abs(field.potential[i] - exact.potential[i]) < 1e-7);
      CHECK(std::isnan(field.e[i].x) == std::isnan(exact.e[i].x));
    }
  }
}

TEST_CASE("double layers on the GPU have the limits of a closed surface at its vertices") {
  if (!gpu_is_there()) return;
  const SurfaceMesh mesh = cube(20);
  const Panels panels = make_panels(mesh);
  const Vector mu(panels.size(), 1.0);
  REQUIRE(mesh.vertices.size() * panels.size() > 1'000'000);
  for (const auto& [side, limit] :
       {std::pair(Side::positive, 0.0), {Side::negative, -1.0}, {Side::mean, -0.5}})
    for (const double u :
         evaluate_double_layer(panels, mu, mesh.vertices, on_gpu(1e-7, side)).potential)
      CHECK(std::abs(u - limit) < 1e-7);
}

TEST_CASE("fields on the GPU know edges, and have the same bits in every run") {
  if (!gpu_is_there()) return;
  const double kappa = GENERATE(0.0, 3.0);
  const Panels panels = make_panels(plate(40));
  const Points points = points_across_plate();
  // Of unequal densities all are singular; of equal ones the 25 points on either rim are.
  for (const bool equal : {false, true}) {
    const Vector sigma = equal ? Vector(panels.size(), 1.0) : signed_charges(panels.size(), 3);
    for (const Side side : {Side::mean, Side::positive, Side::negative}) {
      const FieldOptions how = on_gpu(1e-6, side, kappa);
      const Field field = evaluate_field(panels, sigma, points, how),
                  exact = Exact(panels, sigma, points, how).field;
      CHECK(field.singular_points == (equal ? 2 * 25 : 21 * 25));
      for (std::size_t i = 0; i < points.size(); ++i) {
        CHECK(std::abs(field.potential[i] - exact.potential[i]) < 1e-6);
        CHECK(std::isnan(field.e[i].x) == std::isnan(exact.e[i].x));
        if (!std::isnan(field.e[i].x)) CHECK(norm(field.e[i] - exact.e[i]) < 1e-5);
      }
      const Field again = evaluate_field(panels, sigma, points, how);
      CHECK(again.potential == field.potential);
      if (equal) continue;
      const Points off = points_about(panels, 1000);
      CHECK(evaluate_field(panels, sigma, off, how).e == evaluate_field(panels, sigma, off, how).e);
    }
  }
}

TEST_CASE("gradients of E on the GPU know edges") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(plate(40));
  const Points points = points_across_plate();
  for (const bool equal : {false, true}) {
    const Vector sigma = equal ? Vector(panels.size(), 1.0) : signed_charges(panels.size(), 3);
    for (const Side side : {Side::mean, Side::positive}) {
      {
        const FieldOptions how = with_gradient_on_gpu(1e-6, side);
        const Field field = evaluate_field(panels, sigma, points, how),
                    exact = Exact(panels, sigma, points, how).field;
        CAPTURE(equal, static_cast<int>(side));
        CHECK(field.singular_points == (equal ? 2 * 25 : 21 * 25));
        for (std::size_t i = 0; i < points.size(); ++i) {
          CHECK(std::abs(field.potential[i] - exact.potential[i]) < 1e-6);
          const bool singular = std::isnan(exact.e[i].x);
          CHECK(std::isnan(field.e[i].x) == singular);
          if (!singular) CHECK(norm(field.e[i] - exact.e[i]) < 1e-5);
          CHECK(std::isnan(field.gradient_of_e[i].xx) == singular);
          // In units of densities over the panels' size, 1/40.
          if (!singular)
            CHECK(std::sqrt(norm2(field.gradient_of_e[i] - exact.gradient_of_e[i])) < 40 * 1e-5);
        }
      }
    }
  }
}

TEST_CASE("more pairs of points and edges than there is room for at first") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(plate(20));
  Points points;
  for (int k = 0; k < 40'000; ++k) points.push_back({(k % 19 + 1) / 20.0, (k % 17 + 1) / 20.0, 0});
  const Vector sigma(panels.size(), 1.0);
  const Field field = evaluate_field(panels, sigma, points, on_gpu(1e-5));
  CHECK(field.singular_points == 0);
  for (std::size_t k = 0; k < 300; ++k) {  // the same places again
    CHECK(field.potential[k] == Approx(field.potential[k + 19 * 17]).epsilon(1e-5));
    CHECK(norm(field.e[k] - field.e[k + 19 * 17]) < 1e-5);
  }
}

TEST_CASE("points far away, at one place, few and none on the GPU") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(sphere(5, 1, {2, 0, 0}));
  const Vector sigma(panels.size(), 1.0);
  double charge = 0;
  for (std::size_t j = 0; j < panels.size(); ++j) charge += panels.area(j);
  CHECK(evaluate_field(panels, sigma, {}, on_gpu(1e-6)).potential.empty());
  CHECK(evaluate_field(panels, sigma, Points{{9, 9, 9}}, on_gpu(1e-6)).e.size() == 1);
  for (const double distance : {1e2, 1e5}) {
    const Points far(200, panels.origin + Vec3d{0, 0, distance});
    const Field field = evaluate_field(panels, sigma, far, on_gpu(1e-6));
    for (const double potential : field.potential)
      CHECK(potential == Approx(inv_4pi * charge / distance).epsilon(1e-6));
    for (const Vec3d e : field.e)
      CHECK(e.z == Approx(inv_4pi * charge / (distance * distance)).epsilon(1e-6));
  }
}

TEST_CASE("fields on the GPU include the images of panels") {
  if (!gpu_is_there()) return;
  const SurfaceMesh mesh = sphere(4, 1, {1.5, 2, 3});
  const Panels panels =
      make_panels(mesh, planes(PlaneKind::mirror, PlaneKind::ground, PlaneKind::mirror));
  const Vector sigma = signed_charges(panels.size(), 5);
  const Points points = points_about(panels, 900, -3);
  const Exact exact(panels, sigma, points, Side::mean);
  const FieldErrors errors =
      errors_of(evaluate_field(panels, sigma, points, on_gpu(1e-6)), exact.field, exact.whole);
  CHECK(errors.potential < 1e-6);
  CHECK(errors.e < 1e-6);
}

TEST_CASE("fields on the GPU refuse what is not finite, and leave to the CPU what they have not") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(sphere(4));
  Vector sigma = signed_charges(panels.size(), 6);
  Points points = points_about(panels, 900, -3);
  const auto refused = [&](const std::string& sentence) {
    CHECK_THROWS_AS(evaluate_field(panels, sigma, points, on_gpu(1e-6)), InputError);
    CHECK_THROWS_WITH(evaluate_field(panels, sigma, points, on_gpu(1e-6)), contains(sentence));
    CHECK_THROWS_AS(evaluate_double_layer(panels, sigma, points, on_gpu(1e-6)), InputError);
  };
  points[7].y = std::numeric_limits<double>::infinity();
  refused("point 7 is not finite");
  points[7].y = 1;
  sigma[3] = std::numeric_limits<double>::quiet_NaN();
  refused("charges");
  sigma[3] = 1;
  std::vector<std::int32_t> some(panels.size() - 500);
  std::iota(some.begin(), some.end(), 500);
  REQUIRE(points.size() * some.size() > 1'000'000);
  FieldOptions how = on_gpu(1e-6);
  const Vector potential = evaluate_field(panels, sigma, points, how, some).potential;
  how.processor = Processor::cpu;
  CHECK(potential == evaluate_field(panels, sigma, points, how, some).potential);
}

}  // namespace fmbem::test::cuda_field_tests
