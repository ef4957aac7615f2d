#include "fmbem/fmm/tree/morton.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <set>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/tree/tree_key.hpp"
#include "tests/unit/catch.hpp"

namespace fmbem::test::morton_tests {

namespace {

std::vector<Vec3d> random_points(int n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-3, 5);
  std::vector<Vec3d> points(n);
  for (Vec3d& p : points) p = {uniform(random), uniform(random), 0.1 * uniform(random)};
  return points;
}

/// The key bit by bit, by bisection of the cube.
template <class Key>
Key key_by_bisection(Vec3d p, Cube cube, int levels) {
  Key key = 0;
  for (int level = 0; level < levels; ++level) {
    cube.side /= 2;
    for (int axis = 0; axis < 3; ++axis) {
      const bool upper = p[axis] >= cube.corner[axis] + cube.side;
      if (upper) cube.corner[axis] += cube.side;
      key = 2 * key + upper;
    }
  }
  return key;
}

}  // namespace

TEST_CASE("Morton keys are the path through the octree") {
  const Cube cube{{-4, -4, -4}, 16};
  for (const Vec3d& p : random_points(1000, 1)) {
    CHECK(morton_key(p, cube) == key_by_bisection<std::uint64_t>(p, cube, deepest_level));
    const fmm::TreeKey key = fmm::tree_key(p, cube);
    const bool is_path = key == key_by_bisection<fmm::TreeKey>(p, cube, fmm::deepest_tree_level);
    CHECK(is_path);
    const bool begins_alike =
        static_cast<std::uint64_t>(key >> 3 * deepest_level) == morton_key(p, cube);
    CHECK(begins_alike);
    const bool comes_back = fmm::key_of(fmm::cell_of(key)) == key;
    CHECK(comes_back);
  }
}

TEST_CASE("points outside the cube are moved to its boundary") {
  const Cube cube{{0, 0, 0}, 1};
  CHECK(morton_key({-1, -1, -1}, cube) == 0);
  CHECK(morton_key({2, 2, 2}, cube) == (std::uint64_t{1} << 63) - 1);
  const bool at_ends = fmm::tree_key({-1, -1, -1}, cube) == 0 &&
                       fmm::tree_key({2, 2, 2}, cube) == (fmm::TreeKey{1} << 126) - 1;
  CHECK(at_ends);
}

TEST_CASE("leaves are boxes of an octree that hold all points") {
  const auto points = random_points(5000, 2);
  const int max_leaf = 20;
  const MortonOrder morton = morton_order(points);
  const std::vector<std::int64_t> leaf_begin = octree_leaves(morton.keys, max_leaf);
  REQUIRE(std::is_sorted(morton.keys.begin(), morton.keys.end()));
  REQUIRE(std::set<std::int64_t>(morton.order.begin(), morton.order.end()).size() == points.size());
  REQUIRE(leaf_begin.front() == 0);
  REQUIRE(leaf_begin.back() == 5000);
  for (std::size_t leaf = 0; leaf + 1 < leaf_begin.size(); ++leaf) {
    const auto begin = leaf_begin[leaf], end = leaf_begin[leaf + 1];
    REQUIRE(begin < end);
    REQUIRE(end - begin <= max_leaf);
    // The smallest box that holds a leaf's points holds no others: leaves are not cut within a box.
    int shift = 0;
    while (morton.keys[begin] >> shift != morton.keys[end - 1] >> shift) shift += 3;
    if (begin > 0) CHECK(morton.keys[begin - 1] >> shift != morton.keys[begin] >> shift);
    if (end < 5000) CHECK(morton.keys[end] >> shift != morton.keys[begin] >> shift);
  }
}

TEST_CASE("coincident points end at the deepest level") {
  const std::vector<Vec3d> points(1000, Vec3d{0.3, 0.3, 0.3});
  const MortonOrder morton = morton_order(points);
  CHECK(octree_leaves(morton.keys, 10) == std::vector<std::int64_t>{0, 1000});
  CHECK(std::is_sorted(morton.order.begin(), morton.order.end()));
}

TEST_CASE("no points, bad points") {
  CHECK(morton_order({}).order.empty());
  CHECK(octree_leaves({}, 10) == std::vector<std::int64_t>{0});
  CHECK_THROWS_AS(octree_leaves(morton_order(random_points(3, 3)).keys, 0), InputError);
  const std::vector<Vec3d> bad{{0, 0, std::numeric_limits<double>::quiet_NaN()}};
  CHECK_THROWS_AS(morton_order(bad), InputError);
}

}  // namespace fmbem::test::morton_tests
