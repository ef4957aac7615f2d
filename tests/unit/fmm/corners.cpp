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

fmm::CornerWeights weights_of(const Points& points, double inflation, int order) {
  return fmm::corner_weights(points, 1, bounding_cube(points), inflation, order);
}

}  // namespace

TEST_CASE("weights of points near corners") {
  const int order = 9, n = 500;
  const double inflation = 1.1, unit = 0x1p32;
  const Points points = cube_points(n, 1);
  const fmm::CornerWeights weights = weights_of(points, inflation, order);
  const Cube hull = bounding_cube(points);
  const Vec3d middle = hull.corner + 0.5 * Vec3d{hull.side, hull.side, hull.side};
  for (const int k : {0, 5})
    for (const int level : {2, 4}) {
      const double side = (inflation * (1 + 0.0125 * k)) * hull.side, box = side / (1 << level);
      double sum = 0;
      for (const Vec3d& x : points) {
        Vec3d from_centre;
        for (int axis = 0; axis < 3; ++axis)  // the nearest odd multiple of half a box
          from_centre[axis] = std::remainder(x[axis] - middle[axis] - box / 2, box);
        sum += std::pow(norm(from_centre) / (std::sqrt(0.75) * box), 2 * (order + 1));
      }
      CAPTURE(k, level);
      CHECK(std::abs(static_cast<double>(weights[k][level - 2]) / unit - sum) <=
            1e-9 * sum + n / unit);
    }
}

TEST_CASE("a root is left whose boxes have lattice points at their corners") {
  // Points at whole numbers from 0 to 12; with a root of 16, from −2 on, the boxes of the second
  // level have the side 4 and corners at −2, 2, 6 and 10.
  Points points;
  for (int i = 0; i < 13 * 13 * 13; ++i)
    points.push_back({static_cast<double>(i / 169), static_cast<double>(i / 13 % 13),
                      static_cast<double>(i % 13)});
  const auto n = static_cast<std::int64_t>(points.size());
  const double crowded = 16.0 / 12;
  const double chosen = fmm::inflation_off_corners(weights_of(points, crowded, 28), crowded, n, 40);
  CHECK(chosen > crowded);
  CHECK(chosen < 1.1 * crowded);
  // Where all roots are alike the first stays.
  CHECK(fmm::inflation_off_corners(weights_of(Points(n, Vec3d{}), 1.2, 28), 1.2, n, 40) == 1.2);
}

}  // namespace fmbem::test::corners_tests
