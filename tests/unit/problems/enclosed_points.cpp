#include "fmbem/problems/enclosed_points.hpp"

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "fmbem/bem/geometry/enclosures.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::enclosed_points_tests {

namespace {

std::vector<std::int32_t> all_of(const Panels& panels) {
  std::vector<std::int32_t> all(panels.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Against solid angles; how many are inside.
int check_like_solid_angles(const Panels& panels, const std::vector<std::int32_t>& surface,
                            const std::vector<Vec3d>& points) {
  const std::vector<char> inside = enclosed_points(panels, surface, points);
  REQUIRE(inside.size() == points.size());
  int count = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    INFO(points[i].x << ' ' << points[i].y << ' ' << points[i].z);
    CHECK(bool(inside[i]) == (winding_number(panels, surface, points[i]) > 0.5));
    count += inside[i];
  }
  return count;
}

}  // namespace

TEST_CASE("a closed surface encloses the points that it winds round") {
  const Panels panels = make_panels(sphere(5, 2));
  const std::vector<std::int32_t> all = all_of(panels);
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  constexpr int directions = sanitized ? 40 : 200;
  std::vector<Vec3d> points;
  for (int k = 0; k < directions; ++k) {
    const Vec3d direction{normal(random), normal(random), normal(random)};
    for (const double radius : {0.0, 0.5, 1.9, 1.99, 2.01, 2.1, 5.0, 500.0})
      points.push_back(radius / norm(direction) * direction - panels.origin);
  }
  CHECK(check_like_solid_angles(panels, all, points) == directions * 4);
  // As close to a panel as rounding allows, on both sides.
  points.clear();
  for (std::size_t i = 0; i < panels.size(); i += 100) {
    const Triangle t = panels.triangle(i);
    for (const double sign : {-1.0, 1.0}) points.push_back(t.centroid + sign * 1e-9 * t.normal);
  }
  const std::vector<char> inside = enclosed_points(panels, all, points);
  for (std::size_t i = 0; i < points.size(); ++i) CHECK(bool(inside[i]) == (i % 2 == 0));
}

TEST_CASE("one point or none, and a few panels, are enclosed as others are") {
  const Panels panels = make_panels(sphere(0, 1));
  const std::vector<std::int32_t> all = all_of(panels);
  CHECK(enclosed_points(panels, all, {}).empty());
  CHECK(check_like_solid_angles(panels, all, {Vec3d{0.1, 0.2, 0.3} - panels.origin}) == 1);
  CHECK(check_like_solid_angles(panels, all, {Vec3d{0.5, 0.5, 0.5} - panels.origin}) == 0);
}

TEST_CASE("points of a lattice are enclosed where edges and walls are in line with it") {
  SurfaceMesh mesh = cube(8);
  add_ellipsoid(mesh, "other", 3, {0.2, 0.3, 40}, {0.5, 0.5, 0.5});  // long panels, across it
  const Panels panels = make_panels(mesh);
  std::vector<Vec3d> points;
  for (int i = -1; i <= 9; ++i)
    for (int j = -1; j <= 9; ++j)
      for (int k = -1; k <= 9; ++k)
        if (const Vec3d x = Vec3d{double(i), double(j), double(k)} / 8.0;
            (i != 0 && i != 8 && j != 0 && j != 8 && k != 0 && k != 8))
          points.push_back(x - panels.origin);
  for (int group = 0; group < 2; ++group) {
    std::vector<std::int32_t> surface;
    for (const std::int32_t i : all_of(panels))
      if (mesh.group_of[panels.input_index[i]] == group) surface.push_back(i);
    const int count = check_like_solid_angles(panels, surface, points);
    if (group == 0) CHECK(count == 7 * 7 * 7);
  }
}

}  // namespace fmbem::test::enclosed_points_tests
