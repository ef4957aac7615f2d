#include "fmbem/meshes/outline.hpp"

#include <cmath>

#include "fmbem/meshes/load.hpp"
#include "tests/unit/catch.hpp"

namespace fmbem::test::outline_tests {

namespace {

/// A closed box.
SurfaceMesh box_mesh(Vec3d min, Vec3d max) {
  SurfaceMesh mesh;
  for (int i = 0; i < 8; ++i)
    mesh.vertices.push_back({i & 1 ? max.x : min.x, i & 2 ? max.y : min.y, i & 4 ? max.z : min.z});
  mesh.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                    {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  mesh.group_of.assign(12, 0);
  return mesh;
}

double length_of(const std::vector<std::array<Vec3d, 2>>& outline) {
  double length = 0;
  for (const auto& [a, b] : outline) length += norm(b - a);
  return length;
}

}  // namespace

TEST_CASE("the outline of a box on a plane is its rectangle") {
  const SurfaceMesh mesh = box_mesh({0, 0, 0}, {1, 2, 3});
  const auto outline = outline_on_plane(mesh, {-1, -1, 1.25}, {4, 0, 0}, {0, 5, 0});
  CHECK(length_of(outline) == Approx(6).epsilon(1e-14));
  for (const auto& ends : outline)
    for (const Vec3d& x : ends) {
      CHECK(std::abs(x.z - 1.25) < 1e-14);
      const double to_side =
          std::min({std::abs(x.x), std::abs(x.x - 1), std::abs(x.y), std::abs(x.y - 2)});
      CHECK(to_side < 1e-14);
    }
}

TEST_CASE("an outline ends at the edges of its plane") {
  const SurfaceMesh mesh = box_mesh({0, 0, 0}, {1, 2, 3});
  // A quarter of the rectangle: one corner with half of both sides.
  CHECK(length_of(outline_on_plane(mesh, {-1, -1, 1}, {1.5, 0, 0}, {0, 2, 0})) ==
        Approx(1.5).epsilon(1e-14));
  // An oblique parallelogram, x from y to y + 4, for y from -1 to 4, has all of it but what is
  // left of x = y: of the sides y = 0, x = 1 and x = 0 there remain 1, 1 and 0.
  CHECK(length_of(outline_on_plane(mesh, {-1, -1, 1}, {4, 0, 0}, {5, 5, 0})) ==
        Approx(2).epsilon(1e-14));
  CHECK(outline_on_plane(mesh, {5, 5, 1}, {1, 0, 0}, {0, 1, 0}).empty());
}

TEST_CASE("a plane through a diagonal, and those that only touch") {
  const SurfaceMesh mesh = box_mesh({0, 0, 0}, {1, 1, 1});
  const PointSet diagonal = points_on_plane({-1, -1, -1}, {3, 3, 0}, {0, 0, 3}, 4, 4);
  CHECK(length_of(outline_on_plane(mesh, diagonal)) == Approx(2 + 2 * std::sqrt(2)).epsilon(1e-13));
  // The body is behind the first plane, which u × v points away from, and ahead of the second.
  CHECK(length_of(outline_on_plane(mesh, {-1, -1, 1}, {3, 0, 0}, {0, 3, 0})) == Approx(4));
  CHECK(outline_on_plane(mesh, {-1, -1, 0}, {3, 0, 0}, {0, 3, 0}).empty());
}

}  // namespace fmbem::test::outline_tests
