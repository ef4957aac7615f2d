// Trees by histogram: beside sorted ones, and beside boxes that are found point by point.
#include "fmbem/fmm/tree/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <omp.h>

#include "fmbem/fmm/lists/interaction_lists.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/method_results.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::histogram_tests {

using fmm::Box;
using fmm::Octree;
using fmm::Range;
using fmm::SortedPoints;

namespace {

using Cell = fmm::TreeCell;

Points copies(std::size_t n) { return Points(n, Vec3d{0.1, 0.2, 0.3}); }

Points shape(const std::string& name, std::size_t n, std::uint64_t seed) {
  if (name == "copies") return copies(n);
  if (name == "copies and others") {
    Points points = cube_points(n, seed);
    for (std::size_t i = 0; i < n; i += 2) points[i] = {0.1, 0.2, 0.3};
    return points;
  }
  return points_by_name(name, n, seed);
}

const std::vector<std::string> shapes{"cube",    "sphere", "plummer", "lattice",
                                      "centres", "scales", "copies",  "copies and others"};

/// The cell of a level that a point is in, and its octant in the cell above.
Cell cell_at(Vec3d x, const Cube& root, int level) {
  Cell cell{};
  const double cells = std::ldexp(1.0, level);
  for (int axis = 0; axis < 3; ++axis) {
    const double place = std::floor((x[axis] - root.corner[axis]) / root.side * cells);
    cell[axis] = static_cast<std::int64_t>(std::clamp(place, 0.0, cells - 1));
  }
  return cell;
}
int octant(const Cell& cell) {
  return static_cast<int>(4 * (cell[0] % 2) + 2 * (cell[1] % 2) + cell[2] % 2);
}

/// Octants of all levels, the root's first, of each point.
std::vector<std::vector<int>> paths_of(const Points& points, const Cube& root) {
  std::vector<std::vector<int>> paths;
  for (const Vec3d& x : points) {
    paths.emplace_back();
    for (int level = 1; level <= fmm::deepest_tree_level; ++level)
      paths.back().push_back(octant(cell_at(x, root, level)));
  }
  return paths;
}

Cube root_of(const Points& y, const Points& x) {
  Points all = y;
  all.insert(all.end(), x.begin(), x.end());
  return bounding_cube(all);
}

void check_order(const SortedPoints& sorted, const Points& points, const Cube& root) {
  const auto paths = paths_of(points, root);
  std::vector<std::int32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int32_t a, std::int32_t b) { return paths[a] < paths[b]; });
  CHECK(std::equal(order.begin(), order.end(), sorted.order.begin(), sorted.order.end()));
}

/// Points of each cell of the histogram's level, counted one after the other.
void check_bookmarks(const SortedPoints& sorted, const Points& points, const Cube& root) {
  const fmm::Bookmarks& marks = sorted.bookmarks;
  REQUIRE(marks.level == fmm::histogram_level(static_cast<std::int64_t>(points.size())));
  std::map<std::int64_t, std::int32_t> counts;
  for (const Vec3d& x : points) {
    std::int64_t key = 0;
    for (int level = 1; level <= marks.level; ++level)
      key = 8 * key + octant(cell_at(x, root, level));
    ++counts[key];
  }
  REQUIRE(marks.begin.size() == (std::size_t{1} << 3 * marks.level) + 1);
  CHECK(marks.begin.front() == 0);
  CHECK(marks.begin.back() == static_cast<std::int32_t>(points.size()));
  int wrong = 0;
  for (std::size_t key = 0; key + 1 < marks.begin.size(); ++key) {
    const auto found = counts.find(static_cast<std::int64_t>(key));
    wrong += marks.begin[key + 1] - marks.begin[key] != (found == counts.end() ? 0 : found->second);
  }
  CHECK(wrong == 0);
}

bool same_points(const SortedPoints& a, const SortedPoints& b) {
  return a.keys == b.keys && a.order == b.order && a.x == b.x && a.y == b.y && a.z == b.z &&
         a.deepest == b.deepest && a.levels == b.levels;
}

bool same_range(Range a, Range b) { return a.begin == b.begin && a.end == b.end; }

bool same_box(const Box& a, const Box& b) {
  return a.cell == b.cell && a.level == b.level && a.parent == b.parent && a.child == b.child &&
         same_range(a.sources, b.sources) && same_range(a.targets, b.targets) && a.held == b.held &&
         a.is_leaf == b.is_leaf;
}

bool same_tree(const Octree& a, const Octree& b) {
  return a.deepest == b.deepest && a.level_begin == b.level_begin && a.colleagues == b.colleagues &&
         std::equal(a.boxes.begin(), a.boxes.end(), b.boxes.begin(), b.boxes.end(), same_box);
}

bool same_lists(const fmm::InteractionLists& a, const fmm::InteractionLists& b) {
  return a.p2p.targets == b.p2p.targets && a.p2p.begin == b.p2p.begin &&
         a.p2p.sources == b.p2p.sources && a.m2l == b.m2l && a.source_boxes == b.source_boxes;
}

/// The boxes of a tree, by their cells: those that have points are split while they have too many,
/// and where a box of the next level is, so are those about its parent.
class Boxes {
 public:
  Boxes(const Cube& root, const Points& y, const Points& x, int max_leaf) {
    for (int level = 0; level <= fmm::deepest_tree_level; ++level) {
      std::map<Cell, Content> cells;
      for (std::size_t i = 0; i < y.size(); ++i)
        cells[cell_at(y[i], root, level)].sources.push_back(static_cast<std::int32_t>(i));
      for (std::size_t i = 0; i < x.size(); ++i)
        cells[cell_at(x[i], root, level)].targets.push_back(static_cast<std::int32_t>(i));
      std::set<Cell> split;
      for (const auto& [cell, content] : cells)
        if (level<fmm::deepest_tree_level&& static_cast<int>(
                std::max(content.sources.size(), content.targets.size()))>
                max_leaf)
          split.insert(cell);
      cells_.push_back(std::move(cells));
      split_.push_back(std::move(split));
      if (split_.back().empty()) break;
    }
    for (std::size_t level = split_.size() - 1; level-- > 0;)
      for (const Cell& below : split_[level + 1])
        for (int step = 0; step < 27; ++step) {
          const Cell about{below[0] / 2 + step / 9 - 1, below[1] / 2 + step / 3 % 3 - 1,
                           below[2] / 2 + step % 3 - 1};
          if (cells_[level].contains(about)) split_[level].insert(about);
        }
  }

  void check(const Octree& tree, const SortedPoints& sources, const SortedPoints& targets) const {
    std::size_t boxes = 1;
    int wrong = 0;
    for (std::size_t level = 0; level < cells_.size(); ++level)
      for (const auto& [cell, content] : cells_[level])
        boxes += level > 0 && split_[level - 1].contains({cell[0] / 2, cell[1] / 2, cell[2] / 2});
    REQUIRE(tree.boxes.size() == boxes);
    for (const Box& box : tree.boxes) {
      const auto found = cells_.at(box.level).find(box.cell);
      if (found == cells_[box.level].end()) {
        ++wrong;
        continue;
      }
      wrong += box.is_leaf == split_[box.level].contains(box.cell);
      wrong += indices(sources, box.sources) != found->second.sources;
      wrong += indices(targets, box.targets) != found->second.targets;
    }
    CHECK(wrong == 0);
  }

 private:
  struct Content {
    std::vector<std::int32_t> sources, targets;
  };

  static std::vector<std::int32_t> indices(const SortedPoints& points, Range range) {
    std::vector<std::int32_t> result(points.order.begin() + range.begin,
                                     points.order.begin() + range.end);
    std::sort(result.begin(), result.end());
    return result;
  }

  std::vector<std::map<Cell, Content>> cells_;  ///< by level
  std::vector<std::set<Cell>> split_;
};

void check_trees(const Points& y, const Points& x, std::initializer_list<int> leaves) {
  const bool same = &y == &x;
  const Cube root = root_of(y, x);
  const SortedPoints sorted = fmm::sort_points(y, 1, root),
                     others = same ? SortedPoints() : fmm::sort_points(x, 1, root),
                     counted = fmm::sort_by_histogram(y, 1, root),
                     others_counted = same ? SortedPoints() : fmm::sort_by_histogram(x, 1, root);
  CHECK(same_points(counted, sorted));
  CHECK(same_points(others_counted, others));
  check_order(counted, y, root);
  check_bookmarks(counted, y, root);
  if (!same) check_bookmarks(others_counted, x, root);
  for (const int max_leaf : leaves) {
    CAPTURE(max_leaf);
    const SortedPoints &to = same ? sorted : others, &to_counted = same ? counted : others_counted;
    const Octree tree = build_octree(root, counted, to_counted, max_leaf);
    const Octree by_sort = build_octree(root, sorted, to, max_leaf);
    CHECK(same_tree(tree, by_sort));
    CHECK(same_lists(interaction_lists(tree, counted, to_counted),
                     interaction_lists(by_sort, sorted, to)));
    Boxes(root, y, same ? y : x, max_leaf).check(tree, counted, to_counted);
  }
}

}  // namespace

TEST_CASE("cells of a histogram are a quarter of the points, or 8^8") {
  CHECK(fmm::histogram_level(1) == 0);
  CHECK(fmm::histogram_level(31) == 0);
  CHECK(fmm::histogram_level(32) == 1);
  CHECK(fmm::histogram_level((1 << 20) - 1) == 5);
  CHECK(fmm::histogram_level(1 << 20) == 6);
  CHECK(fmm::histogram_level(std::int64_t{1} << 26) == 8);
  CHECK(fmm::histogram_level(std::int64_t{1} << 30) == 8);
}

TEST_CASE("trees by histogram are those by sort") {
  for (const std::string& name : shapes) {
    CAPTURE(name);
    const Points points = shape(name, 3000, 1);
    check_trees(points, points, {1, 7, 60, 3000});
  }
}

TEST_CASE("trees by histogram of other targets than sources") {
  for (const std::string& name : shapes)
    for (const std::string& other : shapes) {
      CAPTURE(name, other);
      const Points y = shape(name, 700, 2), x = shape(other, 90, 3);
      check_trees(y, x, {5, 40});
      check_trees(x, y, {20});
    }
}

TEST_CASE("trees by histogram of few points") {
  for (const std::size_t n : {1, 2, 9, 33}) {
    CAPTURE(n);
    const Points points = cube_points(n, 4), others = cube_points(40, 5);
    check_trees(points, points, {1, 9});
    check_trees(points, others, {1, 9});
  }
}

TEST_CASE("threads do not show in the order by histogram", "[threads]") {
  const int before = omp_get_max_threads();
  for (const std::string& name : shapes) {
    CAPTURE(name);
    const Points points = shape(name, 200'000, 6);
    const Cube root = bounding_cube(points);
    omp_set_num_threads(1);
    const SortedPoints one = fmm::sort_by_histogram(points, 1, root);
    CHECK(same_points(one, fmm::sort_points(points, 1, root)));
    for (const int threads : {2, 5}) {
      omp_set_num_threads(threads);
      const SortedPoints several = fmm::sort_by_histogram(points, 1, root);
      CHECK(same_points(several, one));
      CHECK(several.bookmarks.begin == one.bookmarks.begin);
    }
  }
  omp_set_num_threads(before);
}

namespace {

/// Plans by both constructions, whose results have the same bits.
void check_plans(const Points& y, const Points& x, fmm::PlanOptions options, const Points& moved) {
  const bool same = &y == &x;
  const auto made = [&](fmm::Construction construction) {
    options.construction = construction;
    return same ? fmm::Plan(y, options) : fmm::Plan(y, x, options);
  };
  fmm::Plan sorted = made(fmm::Construction::radix_sort),
            counted = made(fmm::Construction::histogram);
  const Sources sources(y.size(), 1, false, 7);
  const auto check = [&] {
    const fmm::PlanInfo a = sorted.info(), b = counted.info();
    CHECK(a.method == b.method);
    CHECK(a.levels == b.levels);
    CHECK(a.boxes == b.boxes);
    CHECK(a.near_pairs == b.near_pairs);
    CHECK(run(counted, sources.strengths()) == run(sorted, sources.strengths()));
  };
  check();
  for (fmm::Plan* plan : {&sorted, &counted}) same ? plan->move(moved) : plan->move(moved, x);
  check();
}

}  // namespace

TEST_CASE("plans with trees by histogram give the bits of plans with sorted ones", "[threads]") {
  const int before = omp_get_max_threads();
  for (const fmm::Method method :
       {fmm::Method::direct, fmm::Method::treecode, fmm::Method::fmm, fmm::Method::hybrid})
    for (const std::string name : {"cube", "sphere", "plummer", "lattice", "scales"})
      for (const int threads : {1, 2}) {
        CAPTURE(name_of(method), name, threads);
        omp_set_num_threads(threads);
        const Points points = shape(name, 5000, 8), others = shape(name, 600, 9);
        const Points moved = shape(name, 5000, 10);
        const fmm::PlanOptions options{.tolerance = 1e-4, .gradient = true, .method = method};
        check_plans(points, points, options, moved);
        check_plans(points, others, options, moved);
      }
  omp_set_num_threads(before);
}

TEST_CASE("plans with trees by histogram of one point, and of points in one place") {
  for (const std::size_t n : {1, 50}) {
    const Points points = copies(n), other{{0.5, 0.5, 0.5}};
    check_plans(points, points, {.gradient = true}, points);
    check_plans(points, other, {.gradient = true}, points);
  }
}

}  // namespace fmbem::test::histogram_tests
