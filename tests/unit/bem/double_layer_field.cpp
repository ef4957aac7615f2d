// Potentials and fields of double layers against closed forms, differences and exact sums.
#include "fmbem/bem/layer/double_layer_field.hpp"

#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/reflected_surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::double_layer_field_tests {

TEST_CASE("constant dipoles on a closed surface are -1 inside, 0 outside and have no field") {
  for (const SurfaceMesh& mesh : {sphere(3, 2, {3, 1, -1}), cube(4)}) {
    const Panels panels = make_panels(mesh);
    const Vec3d centre = panels.origin;
    const std::vector<Vec3d> points{centre, centre + Vec3d{0.3, 0.2, 0.1}, centre + Vec3d{9, 1, 2}};
    const Field field = evaluate_double_layer(panels, Vector(panels.size(), 1.0), points);
    for (std::size_t k = 0; k < points.size(); ++k) {
      CHECK(field.potential[k] == Approx(k < 2 ? -1 : 0).margin(1e-13));
      CHECK(norm(field.e[k]) < 1e-13);
    }
  }
}

TEST_CASE("a disk of dipoles has the field of a ring of current") {
  // On the axis φ = ½ (1 − z/√(1 + z²)) and E = ½ (1 + z²)^(−3/2), ahead of it.
  double error[2];
  for (const int level : {4, 5}) {
    const Panels panels = make_panels(disk(level));
    std::vector<Vec3d> points;
    for (const double z : {0.01, 0.5, 3.0, 400.0}) points.push_back({0, 0, z});
    const Field field = evaluate_double_layer(panels, Vector(panels.size(), 1.0), points);
    error[level - 4] = 0;
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double z = points[k].z, r = std::hypot(1, z);
      const double potential = 0.5 / (r * (r + z)), e = 0.5 / (r * r * r);
      error[level - 4] =
          larger_error(error[level - 4], std::abs(field.potential[k] / potential - 1));
      error[level - 4] = larger_error(error[level - 4], norm(field.e[k] - Vec3d{0, 0, e}) / e);
    }
  }
  CHECK(error[1] < 5e-3);
  CHECK(std::log2(error[0] / error[1]) > 1);
}

TEST_CASE("E of a double layer is the negative gradient of its potential") {
  const Panels panels = make_panels(cube(2));
  const Vector mu = signed_charges(panels.size(), 3);
  const double h = 1e-4;
  for (const Vec3d& x : {Vec3d{1.2, 0.4, 0.3}, Vec3d{0.4, 0.3, 0.7}, Vec3d{2, -7, 3}}) {
    std::vector<Vec3d> points{x};
    for (int axis = 0; axis < 3; ++axis)
      for (const double step : {h, -h, 2 * h, -2 * h}) {
        points.push_back(x);
        points.back()[axis] += step;
      }
    const Field field = evaluate_double_layer(panels, mu, points);
    for (int axis = 0; axis < 3; ++axis) {
      const double* p = field.potential.data() + 1 + 4 * axis;
      const double slope = (8 * (p[0] - p[1]) - (p[2] - p[3])) / (12 * h);
      CHECK(field.e[0][axis] == Approx(-slope).epsilon(1e-7).margin(1e-10));
    }
  }
}

TEST_CASE("the field of an edge is exact close to it") {
  // Of two long triangles that make a strip |y| < 1, z = 0 the edges across are far away; close to
  // the one at y = 1 the field is that of a straight current: 1/(2πd), and of the other edge.
  SurfaceMesh mesh;
  const double far = 1e4;
  const int group = add_group(mesh, "strip");
  const int a = add_vertex(mesh, {-far, -1, 0}), b = add_vertex(mesh, {far, -1, 0}),
            c = add_vertex(mesh, {far, 1, 0}), d = add_vertex(mesh, {-far, 1, 0});
  add_triangle(mesh, a, b, c, group);
  add_triangle(mesh, a, c, d, group);
  const Panels panels = make_panels(mesh);
  for (const double distance : {1e-1, 1e-4, 1e-7}) {
    const std::vector<Vec3d> points{{10, 1 + distance, 0}};
    const Field field = evaluate_double_layer(panels, Vector(2, 1.0), points);
    const double exact = (1 / (2 + distance) - 1 / distance) / (2 * std::numbers::pi);
    CHECK(field.e[0].z == Approx(exact).epsilon(1e-7));
  }
}

TEST_CASE("on the surface the potential jumps by the density") {
  const Panels panels = make_panels(sphere(2, 1, {0.5, -0.25, 4}));
  const Vector mu = signed_charges(panels.size(), 4);
  for (const std::size_t k : {std::size_t{0}, std::size_t{17}, panels.size() - 1}) {
    const Triangle t = panels.triangle(k);
    const Vec3d on = t.centroid + panels.origin;
    const std::vector<Vec3d> points{on, on + 1e-9 * t.normal, on - 1e-9 * t.normal};
    const Field mean = evaluate_double_layer(panels, mu, points),
                ahead = evaluate_double_layer(panels, mu, points, {.side = Side::positive}),
                behind = evaluate_double_layer(panels, mu, points, {.side = Side::negative});
    CHECK(ahead.potential[0] - behind.potential[0] == Approx(mu[k]));
    CHECK(ahead.potential[0] == Approx(mean.potential[1]).epsilon(1e-6));
    CHECK(behind.potential[0] == Approx(mean.potential[2]).epsilon(1e-6));
    CHECK(norm(mean.e[0] - mean.e[1]) < 1e-5 * norm(mean.e[0]));
  }
  const Panels flat = make_panels(plate(2));
  const std::vector<Vec3d> on_edge{{0.5, 0.1, 0}};
  CHECK(evaluate_double_layer(flat, Vector(flat.size(), 1.0), on_edge).singular_points == 1);
  // On an inner edge and an inner vertex, each panel by its angle.
  const std::vector<Vec3d> inner{{0.5, 0.1, 0}, {0.5, 0.5, 0}};
  for (const Side side : {Side::positive, Side::negative})
    for (const double u :
         evaluate_double_layer(flat, Vector(flat.size(), 1.0), inner, {.side = side}).potential)
      CHECK(u == Approx(side == Side::positive ? 0.5 : -0.5));
}

TEST_CASE("at edges and vertices of a closed surface the potential has the limits of both sides") {
  for (const SurfaceMesh& mesh : {cube(2), sphere(2, 1, {0.5, -0.25, 4}), notched_cube(1)}) {
    const Panels panels = make_panels(mesh);
    std::vector<Vec3d> points = mesh.vertices;
    for (const auto& t : mesh.triangles)
      for (int k = 0; k < 3; ++k)
        points.push_back(0.5 * (mesh.vertices[t[k]] + mesh.vertices[t[(k + 1) % 3]]));
    for (const auto& [side, expected] :
         {std::pair(Side::positive, 0.0), {Side::negative, -1.0}, {Side::mean, -0.5}}) {
      const Field field =
          evaluate_double_layer(panels, Vector(panels.size(), 1.0), points, {.side = side});
      CHECK(field.singular_points == points.size());
      for (const double u : field.potential) CHECK(u == Approx(expected).margin(1e-12));
    }
  }
}

TEST_CASE("fields of double layers by the FMM agree with exact ones to the tolerance",
          "[long][accuracy]") {
  for (const SurfaceMesh& mesh : {sphere(4, 0.01, {3, 4, 5}), bracket(10), plate(30)}) {
    const Panels panels = make_panels(mesh);
    const Vector mu = signed_charges(panels.size(), 2);
    Uniform uniform(1);
    std::vector<Vec3d> points;
    for (int i = 0; i < 900; ++i) {
      const Triangle t =
          panels.triangle(static_cast<std::size_t>(uniform(0, 0.999) * panels.size()));
      points.push_back(panels.origin + t.centroid +
                       panels.extent * std::pow(10, uniform(-2, 1)) * sphere_point(uniform));
    }
    REQUIRE(points.size() * panels.size() > 1'000'000);
    const Field exact = evaluate_double_layer(panels, mu, points, {.tolerance = 0});
    // The sum of absolute values, panel by panel.
    Field whole;
    whole.potential.assign(points.size(), 0.0);
    std::vector<double> e_size(points.size(), 0.0);
    for (std::size_t j = 0; j < panels.size(); ++j)
      for (std::size_t i = 0; i < points.size(); ++i) {
        const Vec3d x = points[i] - panels.origin;
        const double r = norm(x - panels.centroid(j));
        whole.potential[i] += std::abs(mu[j] * triangle_double_layer(panels.triangle(j), x));
        e_size[i] += std::abs(mu[j]) * panels.area(j) / (4 * std::numbers::pi * r * r * r);
      }
    for (const double tolerance : {1e-3, 1e-5, 1e-8}) {
      const Field fast = evaluate_double_layer(panels, mu, points, {.tolerance = tolerance});
      double error = 0, size = 0, error_e = 0, size_e = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        error += std::pow(fast.potential[i] - exact.potential[i], 2);
        size += std::pow(whole.potential[i], 2);
        error_e += norm2(fast.e[i] - exact.e[i]);
        size_e += std::pow(e_size[i], 2);
      }
      CAPTURE(panels.size(), tolerance, std::sqrt(error / size), std::sqrt(error_e / size_e));
      CHECK(std::sqrt(error / size) < tolerance);
      CHECK(std::sqrt(error_e / size_e) < tolerance);
    }
  }
}

TEST_CASE("double layers before planes have their images, and bad input is refused") {
  const SurfaceMesh mesh = sphere(2, 1, {1.5, 2, 3});
  const SymmetryPlanes at = planes(PlaneKind::mirror, PlaneKind::ground, PlaneKind::mirror);
  const Panels panels = make_panels(mesh, at);
  std::vector<double> sign;
  const Panels whole = make_panels(with_mirrored(mesh, at, sign));
  const Vector mu = signed_charges(panels.size(), 5);
  const std::vector<Vec3d> points{{1, 2, 3.5}, {4, 1, 1}};
  const Field field = evaluate_double_layer(panels, panels.from_input_order(mu), points),
              exact =
                  evaluate_double_layer(whole, whole.from_input_order(repeated(mu, sign)), points);
  for (std::size_t k = 0; k < points.size(); ++k) {
    CHECK(field.potential[k] == Approx(exact.potential[k]).epsilon(1e-10));
    CHECK(norm(field.e[k] - exact.e[k]) < 1e-11);
  }
  CHECK_THROWS_AS(evaluate_double_layer(panels, Vector(3), points), InputError);
  CHECK_THROWS_AS(evaluate_double_layer(panels, mu, points, {.tolerance = 1e-12}), InputError);
  const std::vector<Vec3d> infinite{{INFINITY, 0, 0}};
  CHECK_THROWS_AS(evaluate_double_layer(panels, mu, infinite), InputError);
  CHECK_THROWS_AS(evaluate_double_layer(panels, Vector(panels.size(), NAN), points), InputError);
  const Panels sheet = make_panels(plate(2), plane(2, PlaneKind::mirror));
  CHECK_THROWS_AS(evaluate_double_layer(sheet, Vector(sheet.size(), 1.0), points), InputError);
}

TEST_CASE("fields of double layers by the FMM have the same bits for any number of threads",
          "[threads]") {
  const Panels panels = make_panels(plate(30));
  const Vector mu = signed_charges(panels.size(), 6);
  std::vector<Vec3d> points;
  for (const Vec3d& x : cube_points(600, 7)) points.push_back(x);
  REQUIRE(points.size() * panels.size() > 1'000'000);
  std::vector<Field> fields;
  for (const int threads : {1, 2, 3}) {
    set_threads(threads);
    fields.push_back(evaluate_double_layer(panels, mu, points, {.tolerance = 1e-5}));
  }
  set_threads(available_cores());
  for (const Field& field : fields) {
    CHECK(field.potential == fields[0].potential);
    CHECK(field.e == fields[0].e);
  }
}

}  // namespace fmbem::test::double_layer_field_tests
