// Fields on edges and vertices of panels.
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "fmbem/bem/layer/field.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::field_edges_tests {

namespace {

const Vec3d corner{0.3, -2, 1}, u_side{0.6, 0.64, 0.48}, v_side{-0.8, 0.48, 0.36};

/// A place on a tilted plate of unit sides.
Vec3d on_plate(double s, double t) { return corner + s * u_side + t * v_side; }

/// The plate in cells, with points on their edges and vertices.
SurfaceMesh plate_of_cells(int n) {
  SurfaceMesh mesh;
  add_grid(mesh, add_group(mesh, "plate"), n, corner, u_side, v_side);
  return mesh;
}

/// The same surface as four panels about a point.
SurfaceMesh plate_about(double s, double t) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "plate"), centre = add_vertex(mesh, on_plate(s, t));
  const int c[4] = {add_vertex(mesh, on_plate(0, 0)), add_vertex(mesh, on_plate(1, 0)),
                    add_vertex(mesh, on_plate(1, 1)), add_vertex(mesh, on_plate(0, 1))};
  for (int k = 0; k < 4; ++k) add_triangle(mesh, centre, c[k], c[(k + 1) % 4], group);
  return mesh;
}

/// One panel, and across its diagonal two that do not share its vertices.
SurfaceMesh plate_with_hanging_vertex() {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "plate");
  const int a = add_vertex(mesh, on_plate(0, 0)), b = add_vertex(mesh, on_plate(1, 0)),
            c = add_vertex(mesh, on_plate(1, 1)), d = add_vertex(mesh, on_plate(0, 1)),
            middle = add_vertex(mesh, on_plate(0.5, 0.5));
  add_triangle(mesh, a, b, c, group);
  add_triangle(mesh, a, middle, d, group);
  add_triangle(mesh, middle, c, d, group);
  return mesh;
}

Field at(const SurfaceMesh& mesh, Vec3d x, Side side = Side::mean) {
  const Panels panels = make_panels(mesh);
  return evaluate_field(panels, std::vector<double>(panels.size(), 1.5), std::vector<Vec3d>{x},
                        {.side = side, .gradient_of_e = true});
}

}  // namespace

TEST_CASE("edges between coplanar panels of equal density are not seen") {
  // The same plate, so cut that the point is in a panel's interior.
  const SurfaceMesh reference = plate_about(0.31, 0.62);
  const Vec3d normal = cross(u_side, v_side);
  struct Place {
    SurfaceMesh mesh;
    double s, t;
  };
  const std::vector<Place> places{{plate_of_cells(4), 0.5, 0.5},
                                  {plate_of_cells(4), 0.25, 0.75},
                                  {plate_of_cells(4), 0.625, 0.5},
                                  {plate_of_cells(4), 0.5, 0.0625},
                                  {plate_of_cells(4), 0.9375, 0.9375},
                                  {plate_with_hanging_vertex(), 0.5, 0.5},
                                  {plate_with_hanging_vertex(), 0.25, 0.25}};
  for (const Place& place : places) {
    const Vec3d x = on_plate(place.s, place.t);
    CAPTURE(place.s, place.t, place.mesh.triangles.size());
    for (const Side side : {Side::mean, Side::positive, Side::negative}) {
      const Field field = at(place.mesh, x, side), exact = at(reference, x, side);
      CHECK(field.singular_points == 0);
      // The point is off the edges by some roundings, and so are they off each other.
      CHECK(std::abs(field.potential[0] - exact.potential[0]) < 1e-13);
      CHECK(norm(field.e[0] - exact.e[0]) < 1e-13);
      CHECK(norm2(field.gradient_of_e[0] - exact.gradient_of_e[0]) < 1e-24);
    }
    const Vec3d jump =
        at(place.mesh, x, Side::positive).e[0] - at(place.mesh, x, Side::negative).e[0];
    CHECK(norm(jump - 1.5 * normal) < 1e-13);
  }
}

TEST_CASE("E is infinite on rims, and where densities or planes differ") {
  const auto singular = [](const SurfaceMesh& mesh, const std::vector<double>& sigma, Vec3d x) {
    const Field field =
        evaluate_field(make_panels(mesh), sigma, std::vector<Vec3d>{x}, {.gradient_of_e = true});
    CHECK(std::isfinite(field.potential[0]));
    CHECK(std::isnan(field.gradient_of_e[0].xy) == std::isnan(field.e[0].x));
    CHECK(std::isnan(field.e[0].x) == (field.singular_points == 1));
    return field.singular_points == 1;
  };
  const SurfaceMesh plate = plate_of_cells(4);
  std::vector<double> sigma(plate.triangles.size(), 1.0);
  CHECK(singular(plate, sigma, on_plate(0, 0.4)));
  CHECK(singular(plate, sigma, on_plate(1, 1)));
  CHECK(!singular(plate, sigma, on_plate(0.5, 0.5)));
  CHECK(!singular(plate, sigma, on_plate(0.5, 0.55)));
  // Nothing is charged, so that nothing is infinite.
  CHECK(!singular(plate, std::vector<double>(sigma.size()), on_plate(0, 0.4)));
  sigma = signed_charges(sigma.size(), 1);
  CHECK(singular(plate, sigma, on_plate(0.5, 0.5)));
  CHECK(singular(plate, sigma, on_plate(0.5, 0.55)));
  CHECK(!singular(plate, sigma, on_plate(0.5, 0.5 + 1e-9) + 1e-9 * cross(u_side, v_side)));
  const SurfaceMesh box = cube(2);
  sigma.assign(box.triangles.size(), 1.0);
  CHECK(singular(box, sigma, {0.5, 0, 0}));
  CHECK(singular(box, sigma, {1, 1, 1}));
  CHECK(!singular(box, sigma, {0.5, 0.5, 0}));
  const SurfaceMesh ball = sphere(2);
  sigma.assign(ball.triangles.size(), 1.0);
  CHECK(singular(ball, sigma, ball.vertices[7]));
  CHECK(singular(ball, sigma, 0.5 * (ball.vertices[0] + ball.vertices[ball.triangles[0][1]])));
}

TEST_CASE("three sheets that meet at 120 degrees have the mean over all directions") {
  // The sum of σ m is 0, although no two are coplanar.
  SurfaceMesh mesh;
  const int group = add_group(mesh, "sheets");
  const double pi = std::numbers::pi;
  const auto towards = [&](double angle) { return Vec3d{std::cos(angle), std::sin(angle), 0}; };
  for (int k = 0; k < 3; ++k)
    add_grid(mesh, group, 1, {}, (1 + 0.3 * k) * towards(2 * pi * k / 3), {0, 0, 1});
  const Panels panels = make_panels(mesh);
  const std::vector<double> sigma(panels.size(), 1.0);
  std::vector<Vec3d> points{{0, 0, 0.4}};
  const int n = 300;
  // The error of the mean over a circle is of its radius; E is constant but for kinks at the
  // sheets, between which the rule's points are centred.
  const double radius = 1e-5;
  for (int k = 0; k < n; ++k)
    points.push_back(points[0] + radius * towards(2 * pi * (k + 0.5) / n));
  const Field field = evaluate_field(panels, sigma, points);
  Vec3d mean{};
  for (int k = 1; k <= n; ++k) mean += field.e[k] / n;
  REQUIRE(field.singular_points == 0);
  CHECK(norm(field.e[0] - mean) < 1e-4);
  CHECK(norm(field.e[0]) > 0.01);
  CHECK(norm(field.e[1] - mean) > 0.1);
}

}  // namespace fmbem::test::field_edges_tests
