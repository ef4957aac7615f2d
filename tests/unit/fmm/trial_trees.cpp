#include "fmbem/fmm/lists/trial_trees.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "fmbem/fmm/lists/m2l_rows.hpp"
#include "fmbem/fmm/lists/near_lists.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::trial_trees_tests {

using fmm::Leaves;
using fmm::Octree;
using fmm::sort_keys;
using fmm::sort_points;
using fmm::SortedPoints;
using fmm::TreeWork;

namespace {

using Points = std::vector<Vec3d>;

Points shape(const std::string& name, std::size_t n, std::uint64_t seed) {
  if (name != "far clusters") return points_by_name(name, n, seed);
  Points points = sphere_points(n, seed);
  for (std::size_t i = 0; i < n; i += 2) points[i] += Vec3d{1e4, 3e3, -2e3};
  return points;
}

/// Of the tree itself and its lists. Boxes that are larger than the reach have no expansions.
TreeWork work_of(const Octree& tree, const fmm::NearLists& near, double reach) {
  TreeWork work{
      .points = 0.5 * (tree.boxes[0].sources.size() + tree.boxes[0].targets.size()),
      .boxes = static_cast<double>(tree.boxes.size()),
      .splits = static_cast<double>(std::count_if(tree.boxes.begin(), tree.boxes.end(),
                                                  [](const fmm::Box& b) { return !b.is_leaf; })),
      .near_pairs = static_cast<double>(near_pairs(tree, near)),
      .near_boxes = static_cast<double>(near.sources.size())};
  for (const std::int32_t b : near.sources) work.near_sources += tree.boxes[b].own_sources().size();
  const std::vector<std::uint8_t> occupied = fmm::occupied_octants(tree);
  for (std::size_t b = 0; b < tree.boxes.size(); ++b) {
    const fmm::Box& box = tree.boxes[b];
    work.expansions += tree.side(box.level) <= reach;
    if (box.is_leaf || box.level == 0 || tree.side(box.level + 1) > reach) continue;
    work.has_far = true;
    if (box.targets.size() > 0)
      work.m2l_rows +=
          std::popcount(fmm::occupied_orbits(tree, static_cast<std::int32_t>(b), occupied));
  }
  return work;
}

void check_all(const Cube& root, const SortedPoints& sources, const SortedPoints& targets,
               Leaves leaves, double reach) {
  const std::vector<int> max_leaf{3, 4, 6, 9, 15, 25, 40, 70, 150, 400, 1000, 2500, 100000};
  const Octree finest = build_octree(root, sources, targets, max_leaf.front());
  const std::vector<TreeWork> all = work_of_trees(finest, max_leaf, leaves, reach);
  REQUIRE(all.size() == max_leaf.size());
  for (std::size_t c = 0; c < max_leaf.size(); ++c) {
    CAPTURE(max_leaf[c], leaves == Leaves::merged, reach);
    Octree tree = build_octree(root, sources, targets, max_leaf[c]);
    if (leaves == Leaves::merged) merge_leaves(tree, max_leaf[c]);
    const TreeWork one = work_of(tree, near_lists(tree, sources, targets), reach);
    CHECK(all[c].points == one.points);
    CHECK(all[c].boxes == one.boxes);
    CHECK(all[c].splits == one.splits);
    CHECK(all[c].expansions == one.expansions);
    CHECK(all[c].m2l_rows == one.m2l_rows);
    CHECK(all[c].has_far == one.has_far);
    CHECK(all[c].near_pairs == one.near_pairs);
    CHECK(all[c].near_sources == one.near_sources);
    CHECK(all[c].near_boxes == one.near_boxes);
  }
}

void check_all(const Cube& root, const SortedPoints& sources, const SortedPoints& targets) {
  check_all(root, sources, targets, Leaves::plain, fmm::endless);
  check_all(root, sources, targets, Leaves::merged, fmm::endless);
  check_all(root, sources, targets, Leaves::merged, 0.1 * root.side);
}

Cube root_of(const Points& a, const Points& b) {
  Points all = a;
  all.insert(all.end(), b.begin(), b.end());
  return bounding_cube(all);
}

const std::vector<std::string> shapes{"cube",         "sphere", "plummer", "ellipsoid",
                                      "far clusters", "scales", "centres"};

}  // namespace

TEST_CASE("one tree tells the work of all coarser ones") {
  for (const std::string& name : shapes) {
    CAPTURE(name);
    const Points points = shape(name, 5000, 1);
    const Cube root = bounding_cube(points);
    const SortedPoints sorted = sort_points(points, 1, root);
    check_all(root, sorted, sorted);
    // Their keys are enough for it.
    const SortedPoints keys = sort_keys(points, 1, root);
    CHECK(keys.keys == sorted.keys);
    const std::vector<int> leaves{7, 30};
    const auto pairs = [&](const SortedPoints& of) {
      return work_of_trees(build_octree(root, of, of, 7), leaves, Leaves::plain)[1].near_pairs;
    };
    CHECK(pairs(keys) == pairs(sorted));
  }
}

TEST_CASE("one tree tells the work of all coarser ones of sources and targets") {
  for (const std::string& name : shapes) {
    CAPTURE(name);
    const Points y = shape(name, 3000, 2), x = cube_points(2000, 3);
    const Cube root = root_of(y, x);
    check_all(root, sort_points(y, 1, root), sort_points(x, 1, root));
    check_all(root, sort_points(x, 1, root), sort_points(y, 1, root));
  }
}

TEST_CASE("one tree tells the work of all coarser ones of sources that may not sink") {
  for (const std::string& name : shapes) {
    CAPTURE(name);
    const Points y = shape(name, 3000, 4), x = shape(name, 2000, 5);
    const Cube root = root_of(y, x);
    Uniform level(6);
    std::vector<std::int8_t> deepest(y.size());
    for (auto& d : deepest) d = static_cast<std::int8_t>(level(1, 8));
    check_all(root, sort_points(y, 1, root, deepest), sort_points(x, 1, root));
  }
}

TEST_CASE("one tree tells the work of all coarser ones of coinciding points") {
  Points points(3000, Vec3d{0.1, 0.2, 0.3});
  for (const Vec3d& x : cube_points(500, 8)) points.push_back(x);
  const Cube root = bounding_cube(points);
  const SortedPoints sorted = sort_points(points, 1, root);
  check_all(root, sorted, sorted);
}

TEST_CASE("more trees than there is room for are refused") {
  const Points points = cube_points(100, 7);
  const Cube root = bounding_cube(points);
  const SortedPoints sorted = sort_points(points, 1, root);
  std::vector<int> max_leaf(fmm::most_trial_trees + 1);
  std::iota(max_leaf.begin(), max_leaf.end(), 1);
  CHECK_THROWS(work_of_trees(build_octree(root, sorted, sorted, 1), max_leaf, Leaves::plain));
}

}  // namespace fmbem::test::trial_trees_tests
