// The device builds the same trees and lists as the host, whose own tests check theirs
// (tests/unit/fmm/octree.cpp).
#include <algorithm>
#include <string>
#include <vector>

#include "fmbem/fmm/choice/search.hpp"
#include "tests/unit/cuda/device_tree.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::cuda_octree_tests {

namespace {

using Points = std::vector<Vec3d>;

bool is_same(fmm::Range a, fmm::Range b) {
  // Where an empty range begins does not matter.
  return a.size() == b.size() && (a.size() == 0 || a.begin == b.begin);
}

bool is_same(const fmm::Box& a, const fmm::Box& b) {
  return a.cell == b.cell && a.level == b.level && a.parent == b.parent && a.child == b.child &&
         a.is_leaf == b.is_leaf && is_same(a.sources, b.sources) && is_same(a.targets, b.targets) &&
         (a.is_leaf || a.held == b.held);
}

using Depths = std::vector<std::int8_t>;

/// Returns whether a histogram made the device's tree.
bool check_same(const Points& y, const Points& x, int max_leaf, double scale = 1,
                const Depths& deepest = {},
                fmm::Construction construction = fmm::Construction::radix_sort,
                int levels = deepest_level, fmm::Leaves leaves = fmm::Leaves::plain) {
  const bool same = &x == &y && deepest.empty();
  Points all = y;
  if (!same) all.insert(all.end(), x.begin(), x.end());
  Cube root = bounding_cube(all);
  root = {scale * root.corner, scale * root.side};
  const fmm::SortedPoints sources = fmm::sort_points(y, scale, root, deepest, {}, levels),
                          others =
                              same ? sources : fmm::sort_points(x, scale, root, {}, {}, levels);
  const fmm::SortedPoints& targets = same ? sources : others;
  fmm::Octree tree = fmm::build_octree(root, sources, targets, max_leaf);
  if (leaves == fmm::Leaves::merged) fmm::merge_leaves(tree, max_leaf);
  const fmm::NearLists near = fmm::near_lists(tree, sources, targets);
  const HostTree device =
      build_device_tree(root, scale, y, x, max_leaf, deepest, construction, levels, leaves);
  CHECK(std::equal(sources.order.begin(), sources.order.end(), device.source_order.begin(),
                   device.source_order.end()));
  if (!same)
    CHECK(std::equal(others.order.begin(), others.order.end(), device.target_order.begin(),
                     device.target_order.end()));

  CHECK(device.tree.level_begin == tree.level_begin);
  REQUIRE(device.tree.boxes.size() == tree.boxes.size());
  std::size_t different = 0;
  for (std::size_t b = 0; b < tree.boxes.size(); ++b) {
    different += !is_same(device.tree.boxes[b], tree.boxes[b]);
    if (!tree.boxes[b].is_leaf) different += device.tree.colleagues[b] != tree.colleagues[b];
  }
  CHECK(different == 0);
  CHECK(device.near.targets == near.targets);
  REQUIRE(device.near.begin == near.begin);
  REQUIRE(device.near.sources.size() == near.sources.size());
  for (std::size_t row = 0; row < near.targets.size(); ++row) {
    const auto sorted = [&](const auto& list) {
      std::vector<std::int32_t> boxes(list.begin() + near.begin[row],
                                      list.begin() + near.begin[row + 1]);
      std::sort(boxes.begin(), boxes.end());
      return boxes;
    };
    different += sorted(device.near.sources) != sorted(near.sources);
    const auto first = near.sources.begin() + near.begin[row],
               last = near.sources.begin() + near.begin[row + 1];
    if (std::find(first, last, near.targets[row]) != last)
      different += device.near.sources[near.begin[row]] != near.targets[row];
  }
  CHECK(different == 0);
  return device.counted;
}

/// The same of a tree by histogram.
bool check_counted(const Points& y, const Points& x, int max_leaf, double scale = 1) {
  return check_same(y, x, max_leaf, scale, {}, fmm::Construction::histogram);
}

}  // namespace

TEST_CASE("trees of the device by histogram are those of the host") {
  if (!gpu_is_there()) return;
  const std::string name = GENERATE(as<std::string>{}, "cube", "sphere", "lattice");
  for (const std::size_t n : {1, 2, 100, 5000, 40000}) {
    const Points points = points_by_name(name, n, 1);
    for (const int max_leaf : {12, 20, 300, 50000}) {
      CAPTURE(name, n, max_leaf);
      CHECK(check_counted(points, points, max_leaf, max_leaf == 20 ? 0x1p-40 : 1));
    }
  }
}

TEST_CASE("trees of the device by histogram for other targets than sources") {
  if (!gpu_is_there()) return;
  const Points y = cube_points(5000, 2), x = plummer_points(3000, 3), few = sphere_points(7, 4);
  for (const int max_leaf : {20, 60}) {
    CAPTURE(max_leaf);
    CHECK(check_counted(y, sphere_points(9000, 5), max_leaf));
    CHECK(check_counted(few, y, max_leaf));
    CHECK(check_counted(y, few, max_leaf));
    check_counted(y, x, max_leaf);
  }
}

TEST_CASE("clouds that no histogram has room for are sorted") {
  if (!gpu_is_there()) return;
  Points points = cube_points(300, 5);
  for (int i = 0; i < 40; ++i) points.push_back({0.3, 0.4, 0.5});
  CHECK(!check_counted(points, points, 10));
  CHECK(check_counted(points, points, 50));  // ties are in the order of the points
}

TEST_CASE("trees of the device are those of the host") {
  if (!gpu_is_there()) return;
  const std::string name = GENERATE(as<std::string>{}, "cube", "sphere", "plummer", "ellipsoid");
  for (const std::size_t n : {1, 2, 100, 5000, 40000}) {
    const Points points = points_by_name(name, n, 1);
    for (const int max_leaf : {1, 20, 300}) {
      if (n == 40000 && max_leaf == 1) continue;
      CAPTURE(name, n, max_leaf);
      check_same(points, points, max_leaf);
    }
  }
}

TEST_CASE("trees of the device for other targets than sources") {
  if (!gpu_is_there()) return;
  const Points y = cube_points(5000, 2), x = plummer_points(3000, 3), few = sphere_points(7, 4);
  for (const int max_leaf : {5, 60}) {
    CAPTURE(max_leaf);
    check_same(y, x, max_leaf);
    check_same(few, x, max_leaf);
    check_same(y, few, max_leaf);
  }
}

TEST_CASE("trees of the device down to the deepest level") {
  if (!gpu_is_there()) return;
  Points points = cube_points(300, 5);
  for (int i = 0; i < 40; ++i) points.push_back({0.3, 0.4, 0.5});
  for (int i = 0; i < 40; ++i) points.push_back(Vec3d{0.7, 0.2, 0.6} + 1e-9 * points[i]);
  check_same(points, points, 10);
  check_same(Points(50, Vec3d{1, 2, 3}), Points(20, Vec3d{1, 2, 3}), 10);
  check_same(points, points, 10, 0x1p-40);
}

TEST_CASE("trees of the device with keys of 126 bits") {
  if (!gpu_is_there()) return;
  const auto check_deep = [](const Points& y, const Points& x, int max_leaf, double scale = 1) {
    check_same(y, x, max_leaf, scale, {}, fmm::Construction::radix_sort, fmm::deepest_tree_level);
  };
  Points points = cube_points(300, 5);
  for (int i = 0; i < 40; ++i) points.push_back({0.3, 0.4, 0.5});
  for (int i = 0; i < 40; ++i) points.push_back(Vec3d{0.7, 0.2, 0.6} + 1e-14 * points[i]);
  check_deep(points, points, 10);
  check_deep(points, points, 10, 0x1p-40);
  check_deep(Points(50, Vec3d{1, 2, 3}), Points(20, Vec3d{1, 2, 3}), 10);
  for (const char* name : {"cube", "scales", "centres"}) {
    const Points cloud = points_by_name(name, 20000, 9);
    CAPTURE(name);
    check_deep(cloud, cloud, 1);
    check_deep(cloud, cloud, 40);
    check_deep(cloud, points, 40);
  }
}

TEST_CASE("trees of the device with merged leaves") {
  if (!gpu_is_there()) return;
  const std::string name =
      GENERATE(as<std::string>{}, "cube", "sphere", "plummer", "ellipsoid", "scales", "centres");
  const Points points = points_by_name(name, 20000, 9), others = cube_points(3000, 10), one(1);
  for (const int max_leaf : {1, 20, 300}) {
    for (const int levels : {deepest_level, fmm::deepest_tree_level}) {
      CAPTURE(name, max_leaf, levels);
      const auto check_merged = [&](const Points& y, const Points& x) {
        check_same(y, x, max_leaf, 1, {}, fmm::Construction::radix_sort, levels,
                   fmm::Leaves::merged);
      };
      check_merged(points, points);
      check_merged(points, others);
      check_merged(others, points);
      check_merged(points, one);
    }
    if (name == "cube")
      check_same(points, points, max_leaf, 1, {}, fmm::Construction::histogram, deepest_level,
                 fmm::Leaves::merged);
  }
}

TEST_CASE("trees of the device for sources that may not sink") {
  if (!gpu_is_there()) return;
  const std::string name = GENERATE(as<std::string>{}, "cube", "sphere", "ellipsoid");
  const Points y = points_by_name(name, 6000, 6), x = cube_points(2000, 7);
  const Points corners{{0, 0, 0}, {0.5, 0.5, 0.5}, {0.25, 0.25, 0.25}, {0.5, 0, 0.5}};
  Points with_corners = y;
  with_corners.insert(with_corners.end(), corners.begin(), corners.end());
  Uniform uniform(8);
  Depths few(with_corners.size()), many(with_corners.size());
  for (std::size_t i = 0; i < few.size(); ++i) {
    few[i] = static_cast<std::int8_t>(uniform() < 0.05 ? 6 * uniform() : deepest_level);
    many[i] = static_cast<std::int8_t>(6 * uniform());
  }
  for (const int max_leaf : {3, 40}) {
    for (const Depths& deepest : {few, many}) {
      CAPTURE(name, max_leaf);
      check_same(with_corners, x, max_leaf, 1, deepest);
      check_same(with_corners, with_corners, max_leaf, 1, deepest);
    }
  }
}

TEST_CASE("trial trees of the device count what trees of the host have") {
  if (!gpu_is_there()) return;
  const std::string name =
      GENERATE(as<std::string>{}, "cube", "sphere", "plummer", "ellipsoid", "scales", "centres");
  const auto how = GENERATE(fmm::Leaves::plain, fmm::Leaves::merged);
  const Points points = points_by_name(name, 20000, 2);
  const Hull hull = bounding_cube(points);
  const std::vector<Cube> roots{hull, fmm::inflated(hull, 1.26), fmm::inflated(hull, 1.59)};
  const std::vector<int> max_leaf{1, 2, 5, 12, 20, 21, 47, 100, 333, 2000, 19999};
  const std::vector<TrialCounts> counts = count_device_trees(roots, 1, points, max_leaf, how);
  REQUIRE(counts.size() == roots.size() * max_leaf.size());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const Cube& root = roots[k / max_leaf.size()];
    const int most = max_leaf[k % max_leaf.size()];
    const fmm::SortedPoints sorted = fmm::sort_points(points, 1, root);
    fmm::Octree tree = fmm::build_octree(root, sorted, sorted, most);
    if (how == fmm::Leaves::merged) fmm::merge_leaves(tree, most);
    const fmm::NearLists near = fmm::near_lists(tree, sorted, sorted);
    std::int64_t splits = 0, leaves = 0, sources = 0;
    for (const fmm::Box& box : tree.boxes) ++(box.is_leaf ? leaves : splits);
    for (const std::int32_t box : near.sources) sources += tree.boxes[box].sources.size();
    INFO(name << ", root " << k / max_leaf.size() << ", " << most << " points a leaf");
    CHECK(counts[k].leaves == leaves);
    CHECK(counts[k].parents == splits - 1);  // less the root
    CHECK(counts[k].sources == sources);
    CHECK(counts[k].pairs == fmm::near_pairs(tree, near));
  }
}

}  // namespace fmbem::test::cuda_octree_tests
