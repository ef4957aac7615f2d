// Which root keeps points off the corners of boxes.
#include "fmbem/fmm/choice/corners.hpp"

#include <cmath>
#include <vector>

#include "fmbem/fmm/tree/morton.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::corners_tests {

namespace {

using Points = std::vector<Vec3d>;

/// n³ points at whole numbers.
Points whole_numbers(int n) {
  Points points;
  for (int i = 0; i < n * n * n; ++i)
    points.push_back({static_cast<double>(i / (n * n)), static_cast<double>(i / n % n),
                      static_cast<double>(i % n)});
  return points;
}

}  // namespace

TEST_CASE("weights of points near corners") {
  const int order = 9, n = 500;
  const double unit = 0x1p32;
  const Points points = cube_points(n, 1);
  const Hull hull = bounding_cube(points);
  const fmm::CornerWeights weights =
      fmm::corner_weights(points, 1, fmm::roots_of_lattice(hull), order);
  for (const int k : {0, 5})
    for (const int level : {2, 4}) {
      const double inflation = k == 0 ? 1.02 : 1.5, side = inflation * hull.side,
                   box = side / (1 << level), room = side - hull.side;
      const Vec3d corner = hull.corner - Vec3d{0.23 * room, 0.695 * room, 0.38 * room};
      double sum = 0;
      for (const Vec3d& x : points) {
        Vec3d from_centre;
        for (int axis = 0; axis < 3; ++axis)  // the nearest odd multiple of half a box
          from_centre[axis] = std::remainder(x[axis] - corner[axis] - box / 2, box);
        sum += std::pow(norm(from_centre) / (std::sqrt(0.75) * box), 2 * (order + 1));
      }
      CAPTURE(k, level);
      CHECK(std::abs(static_cast<double>(weights[k][level - 2]) / unit - sum) <=
            1e-9 * sum + n / unit);
    }
}

TEST_CASE("roots are left out whose boxes have lattice points at their corners") {
  fmm::CornerWeights weights{};
  using Roots = std::vector<int>;
  for (auto& of_root : weights) of_root.fill(10);
  CHECK(fmm::roots_off_corners(weights, 10'000, 40) == Roots{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(fmm::root_off_corners(weights, 10'000, 40) == 0);  // where all are alike the first stays
  weights[0][0] = 11;
  weights[2][0] = 14;  // the second level
  weights[4][1] = 13;
  weights[6][2] = 15;  // the fourth, which leaves of 40 of 10,000 points do not have
  CHECK(fmm::roots_off_corners(weights, 10'000, 40) == Roots{0, 1, 3, 4, 5, 6, 7});
  CHECK(fmm::roots_off_corners(weights, 100'000, 40) == Roots{0, 1, 3, 4, 5, 7});
  CHECK(fmm::root_off_corners(weights, 10'000, 40) == 1);
  weights[3][1] = 14;  // a larger one on the second level does not hide it, as leaves may be large
  for (auto& of_root : weights) of_root[2] = 20;
  CHECK(fmm::roots_off_corners(weights, 100'000, 40) == Roots{0, 1, 4, 5, 6, 7});
  // Five points an axis in a root of 1.02 are within a hundredth of the faces of 4 boxes.
  const Points points = whole_numbers(5);
  const fmm::CornerWeights of_points =
      fmm::corner_weights(points, 1, fmm::roots_of_lattice(bounding_cube(points)), 20);
  for (const int k : fmm::roots_off_corners(of_points, 125, 8)) CHECK(k > 1);
  // Nor is the first of the roots beside that of 4/3, of which all points are at corners.
  const fmm::CornerWeights beside = fmm::corner_weights(
      whole_numbers(13), 1, fmm::roots_beside(bounding_cube(whole_numbers(13)), 16.0 / 12), 28);
  CHECK(fmm::root_off_corners(beside, 13 * 13 * 13, 40) > 0);
}

TEST_CASE("lattices are known by few values of each coordinate") {
  const auto is_lattice = [](const Points& points) { return fmm::is_on_lattice(points); };
  Points lattice = whole_numbers(6), plane, rounded = lattice;
  for (int i = 0; i < 400; ++i) plane.push_back({0.1 * (i / 20), 3, 0.1 * (i % 20)});
  for (std::size_t i = 0; i < rounded.size(); ++i)
    rounded[i] = (1 + 1e-15 * static_cast<double>(i % 7)) * rounded[i];
  CHECK(is_lattice(lattice));
  CHECK(is_lattice(plane));
  CHECK(is_lattice(rounded));
  CHECK_FALSE(is_lattice(cube_points(1000, 3)));
  CHECK_FALSE(is_lattice(sphere_points(1000, 3)));
  for (Vec3d& x : plane) x.z += 1e-6 * x.x * x.x * x.z;
  CHECK_FALSE(is_lattice(plane));  // of z there are 381 values
  CHECK_FALSE(is_lattice({}));
  Points twice = cube_points(500, 4);
  twice.insert(twice.end(), twice.begin(), twice.end());
  CHECK_FALSE(is_lattice(twice));
  CHECK_FALSE(is_lattice({{1, 2, 3}}));
}

}  // namespace fmbem::test::corners_tests
