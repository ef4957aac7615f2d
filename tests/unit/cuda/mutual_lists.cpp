// Lists of the near field by Newton's third law on the GPU, against what they say in words.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/cuda/device_mutual.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::cuda_mutual_lists_tests {

namespace {

using Points = std::vector<Vec3d>;

/// Which point of which row a slot is for, and which item of which row fills it.
struct Slot {
  int giver = -1, item = -1, receiver = -1, point = -1;
};

/// Near lists say which pairs of leaves there are (tests/unit/cuda/octree.cpp); each of them is to
/// be found once in the lists of the third law, from either side.
void check_sums(const HostMutualLists& lists, int most) {
  const int rows = static_cast<int>(lists.leaves.size());
  REQUIRE(lists.rows.size() == lists.leaves.size() + 1);
  std::vector<int> row_at(lists.order.size(), -1);
  for (int row = 0; row < rows; ++row) row_at[lists.leaves[row].begin] = row;
  std::vector<Slot> slots(lists.slots);
  std::size_t wrong = 0, pairs = 0;
  std::int64_t slot = 0;
  for (int row = 0; row < rows; ++row) {
    const auto& mutual = lists.rows[row];
    const fmm::Range own = lists.leaves[row];
    wrong += lists.items[row] != (own.size() + most - 1) / most;
    wrong += mutual.slot_begin != slot;
    for (int item = 0; item < lists.items[row]; ++item)
      for (std::int64_t k = mutual.later_begin; k < mutual.later_begin + mutual.later; ++k) {
        const auto& other = lists.near[k];
        for (int point = 0; point < other.count; ++point)
          slots.at(slot++) = {row, item, row_at[other.begin], point};
      }
    // What is not later, or the leaf itself, comes before it.
    for (std::int64_t k = lists.near_begin[row]; k < lists.near_begin[row + 1]; ++k) {
      const int begin = lists.near[k].begin;
      const bool is_later = k >= mutual.later_begin && k < mutual.later_begin + mutual.later;
      wrong += is_later != (begin > own.begin);
      wrong += begin == own.begin && k > lists.near_begin[row];
      pairs += begin < own.begin ? lists.items[row_at[begin]] : 0;
    }
  }
  CHECK(slot == lists.slots);
  CHECK(lists.rows[rows].slot_begin == lists.slots);
  CHECK(lists.rows[rows].earlier_begin == static_cast<std::int64_t>(lists.earlier.size()));
  CHECK(lists.earlier.size() == pairs);
  for (int row = 0; row < rows; ++row) {
    std::set<std::pair<int, int>> givers;
    for (std::int64_t k = lists.rows[row].earlier_begin; k < lists.rows[row + 1].earlier_begin;
         ++k) {
      const auto& sums = lists.earlier[k];
      const Slot first = slots.at(sums.slot);
      wrong += !givers.insert({first.giver, first.item}).second;
      wrong += sums.doublings != lists.level[row] - lists.level[first.giver];
      for (int point = 0; point < lists.leaves[row].size(); ++point) {
        const Slot& at = slots.at(sums.slot + point);
        wrong += at.giver != first.giver || at.item != first.item || at.receiver != row ||
                 at.point != point;
      }
    }
  }
  CHECK(wrong == 0);
}

/// All pairs of points: those that are close beyond doubt are found, and no others that are not.
void check_close(const HostMutualLists& lists, const Points& points, double root_side) {
  constexpr double margin = 1e-4;  // of the distances; coordinates have 2^-25 of a side
  std::vector<int> row_of(points.size());
  for (std::size_t row = 0; row < lists.leaves.size(); ++row)
    for (int k = lists.leaves[row].begin; k < lists.leaves[row].end; ++k)
      row_of[k] = static_cast<int>(row);
  std::vector<char> found(points.size(), 0);
  std::size_t wrong = 0;
  for (const auto& close : lists.close) {
    wrong += found[close.target];
    found[close.target] = 1;
    wrong += close.row != row_of[close.target];
  }
  for (std::size_t i = 0; i < points.size(); ++i) {
    bool surely = false, perhaps = false;
    for (std::size_t j = 0; j < points.size(); ++j) {
      if (i == j) continue;
      const bool is_own = row_of[i] == row_of[j];
      const int level = std::min(lists.level[row_of[i]], lists.level[row_of[j]]);
      const double side = std::ldexp(root_side, -level), bound = side * (is_own ? 0x1p-20 : 0x1p-8),
                   r = norm(points[lists.order[i]] - points[lists.order[j]]);
      surely = surely || r < (1 - margin) * bound;
      perhaps = perhaps || r <= (1 + margin) * bound;
    }
    wrong += (surely && !found[i]) + (found[i] && !perhaps);
  }
  CHECK(wrong == 0);
}

HostMutualLists check_lists(const Points& points, int max_leaf, int most,
                            fmm::Leaves leaves = fmm::Leaves::plain) {
  CAPTURE(max_leaf, most);
  const Cube root = bounding_cube(points);
  const HostMutualLists lists = make_mutual_lists_on_device(root, points, max_leaf, most, leaves);
  check_sums(lists, most);
  check_close(lists, points, root.side);
  return lists;
}

}  // namespace

TEST_CASE("lists of the third law have each pair of leaves once") {
  if (!gpu_is_there()) return;
  const std::string name =
      GENERATE(as<std::string>{}, "cube", "sphere", "plummer", "lattice", "centres");
  const Points points = points_by_name(name, 2500, 51);
  CAPTURE(name);
  for (const int max_leaf : {1, 30, 200})
    for (const int most : {8, 40}) {
      check_lists(points, max_leaf, most);
      check_lists(points, max_leaf, most, fmm::Leaves::merged);
    }
}

TEST_CASE("lists of the third law of one leaf, of one point, and of points that coincide") {
  if (!gpu_is_there()) return;
  const Points cloud = cube_points(500, 52);
  const HostMutualLists one = check_lists(cloud, 500, 40);
  CHECK(one.leaves.size() == 1);
  CHECK(one.earlier.empty());
  CHECK(one.slots == 0);
  CHECK(check_lists({{1, 2, 3}}, 10, 8).close.empty());
  // More targets are close than there is room for at first.
  Points doubled = cube_points(2000, 53);
  doubled.insert(doubled.end(), doubled.begin(), doubled.begin() + 1500);
  CHECK(check_lists(doubled, 40, 40).close.size() >= 3000);
  // The leaf of the deepest level that holds these does not act on itself.
  Points heap = cloud;
  heap.insert(heap.end(), 30, Vec3d{0.3, 0.4, 0.5});
  check_sums(make_mutual_lists_on_device(bounding_cube(heap), heap, 10, 8, fmm::Leaves::plain), 8);
}

TEST_CASE("close targets across borders of leaves, of several sizes") {
  if (!gpu_is_there()) return;
  // A dense corner makes leaves of several sizes.
  Points points = cube_points(1500, 54);
  for (const Vec3d& x : cube_points(1500, 55)) points.push_back(0.25 * x);
  for (int k = 0; k < 300; ++k) {
    const double gap = std::pow(10.0, -2 - k % 7);
    const Vec3d& x = points[k];
    points.push_back({0.5 - 0.4 * gap, x.y, x.z});
    points.push_back({0.5 + 0.6 * gap, x.y, x.z});
    points.push_back({0.25 - 0.4 * gap, 0.3 * x.y, 0.3 * x.z});
    points.push_back({0.25 + 0.6 * gap, 0.3 * x.y, 0.3 * x.z});
  }
  points.push_back({0, 0, 0});
  points.push_back({1, 1, 1});
  for (const int max_leaf : {10, 40, 120})
    for (const auto leaves : {fmm::Leaves::plain, fmm::Leaves::merged})
      CHECK(check_lists(points, max_leaf, 40, leaves).close.size() > 100);
}

}  // namespace fmbem::test::cuda_mutual_lists_tests
