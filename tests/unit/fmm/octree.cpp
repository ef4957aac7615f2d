#include "fmbem/fmm/tree/octree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "fmbem/fmm/lists/near_lists.hpp"
#include "fmbem/fmm/tree/merge_leaves.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::octree_tests {

using fmm::Box;
using fmm::Leaves;
using fmm::Octree;
using fmm::Range;
using fmm::sort_points;
using fmm::SortedPoints;

namespace {

using Points = std::vector<Vec3d>;
using Cell = fmm::TreeCell;

/// A tree, its points and lists, as a plan has them.
struct Grown {
  Grown(const Points& y, const Points& x, int leaf_size, Leaves how = Leaves::plain)
      : max_leaf(leaf_size), leaves(how), same(&x == &y) {
    Points all = y;
    if (!same) all.insert(all.end(), x.begin(), x.end());
    const Cube root = bounding_cube(all);
    sources = sort_points(y, 1, root);
    if (!same) others = sort_points(x, 1, root);
    tree = fmm::build_octree(root, sources, targets(), max_leaf);
    if (leaves == Leaves::merged) fmm::merge_leaves(tree, max_leaf);
    near = fmm::near_lists(tree, sources, targets());
  }

  const SortedPoints& targets() const { return same ? sources : others; }

  int max_leaf;
  Leaves leaves;
  bool same;
  SortedPoints sources, others;
  Octree tree;
  fmm::NearLists near;
};

Points line_points(std::size_t n, std::uint64_t seed) {
  Uniform uniform(seed);
  Points points(n);
  for (Vec3d& x : points) x = uniform() * Vec3d{1, -2, 0.5};
  return points;
}

/// Two balls of radius 1 at a distance of a million.
Points far_clusters(std::size_t n, std::uint64_t seed) {
  Points points = sphere_points(n, seed);
  for (std::size_t i = 0; i < n; i += 2) points[i] += Vec3d{1e6, 3e5, -2e5};
  return points;
}

const std::vector<std::string> shapes{"cube", "sphere",       "plummer", "ellipsoid",
                                      "line", "far clusters", "centres", "speck"};

Points shape(const std::string& name, std::size_t n, std::uint64_t seed) {
  if (name == "line") return line_points(n, seed);
  if (name == "far clusters") return far_clusters(n, seed);
  if (name == "speck") return cluster_points(n, seed, 1e-9, 0.9);
  return points_by_name(name, n, seed);
}

/// Cells [low, high) of the deepest level that a box covers.
struct Extent {
  std::array<std::int64_t, 3> low, high;
};
Extent extent(const Box& box) {
  Extent e;
  const int shift = fmm::deepest_tree_level - box.level;
  for (int axis = 0; axis < 3; ++axis) {
    e.low[axis] = box.cell[axis] << shift;
    e.high[axis] = (box.cell[axis] + 1) << shift;
  }
  return e;
}
bool touch(const Box& a, const Box& b) {
  const Extent s = extent(a), t = extent(b);
  for (int axis = 0; axis < 3; ++axis)
    if (s.high[axis] < t.low[axis] || t.high[axis] < s.low[axis]) return false;
  return true;
}

Vec3d at(const SortedPoints& points, std::int32_t i) {
  return {points.x[i], points.y[i], points.z[i]};
}

/// Whether the points of a range lie in the box, up to the rounding of its faces.
bool holds(const Octree& tree, const Box& box, const SortedPoints& points, Range range) {
  const Vec3d centre = tree.root.corner + tree.centre_from_corner(box), corner = tree.root.corner;
  const double slack =
      4 * std::numeric_limits<double>::epsilon() *
      (tree.root.side + std::max({std::abs(corner.x), std::abs(corner.y), std::abs(corner.z)}));
  for (std::int32_t i = range.begin; i < range.end; ++i) {
    const Vec3d r = at(points, i) - centre;
    if (std::max({std::abs(r.x), std::abs(r.y), std::abs(r.z)}) > tree.side(box.level) / 2 + slack)
      return false;
  }
  return true;
}

void check_sorted(const SortedPoints& sorted, const Points& points, double unit) {
  REQUIRE(sorted.size() == points.size());
  std::vector<bool> taken(points.size());
  bool right = true;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const std::int32_t i = sorted.order[k];
    right = right && !taken[i] && at(sorted, static_cast<std::int32_t>(k)) == unit * points[i];
    taken[i] = true;
    if (k > 0)
      right = right && (sorted.keys[k - 1] < sorted.keys[k] ||
                        (sorted.keys[k - 1] == sorted.keys[k] && sorted.order[k - 1] < i));
  }
  CHECK(right);
}

/// Points in a cell of a level, whatever the tree.
std::int64_t points_in(const SortedPoints& points, const Cell& cell, int level) {
  const std::int64_t cells = std::int64_t{1} << level;
  for (const std::int64_t x : cell)
    if (x < 0 || x >= cells) return 0;
  const fmm::TreeKey key = fmm::key_of(cell);
  const int shift = 3 * (fmm::deepest_tree_level - level);
  return std::lower_bound(points.keys.begin(), points.keys.end(), (key + 1) << shift) -
         std::lower_bound(points.keys.begin(), points.keys.end(), key << shift);
}

/// Whether a box is to be split for its points: it has too many, and so have, where leaves are
/// merged, the cells about it that are not empty, in the mean.
bool is_crowded(const Grown& grown, const Box& box) {
  if (std::max(box.sources.size(), box.targets.size()) <= grown.max_leaf) return false;
  if (grown.leaves == Leaves::plain) return true;
  std::int64_t all = 0, cells = 0;
  for (int i = -1; i <= 1; ++i)
    for (int j = -1; j <= 1; ++j)
      for (int k = -1; k <= 1; ++k) {
        const Cell cell{box.cell[0] + i, box.cell[1] + j, box.cell[2] + k};
        const std::int64_t points = std::max(points_in(grown.sources, cell, box.level),
                                             points_in(grown.targets(), cell, box.level));
        all += points;
        cells += points > 0;
      }
  return all > grown.max_leaf * cells;
}

void check_boxes(const Grown& grown) {
  const Octree& tree = grown.tree;
  REQUIRE(tree.level_begin.front() == 0);
  REQUIRE(tree.level_begin.back() == static_cast<std::int32_t>(tree.boxes.size()));
  REQUIRE(tree.levels() <= fmm::deepest_tree_level + 1);
  const Box& root = tree.boxes[0];
  CHECK((root.level == 0 && root.parent == -1 && root.cell == Cell{}));
  CHECK(root.sources.size() == static_cast<std::int32_t>(grown.sources.size()));
  CHECK(root.targets.size() == static_cast<std::int32_t>(grown.targets().size()));

  int wrong_places = 0, empty = 0, outside = 0, crowded = 0, wrong_children = 0;
  for (int level = 0; level < tree.levels(); ++level) {
    CHECK(tree.level_begin[level] < tree.level_begin[level + 1]);
    for (std::int32_t b = tree.level_begin[level]; b < tree.level_begin[level + 1]; ++b) {
      const Box& box = tree.boxes[b];
      wrong_places += box.level != level;
      if (b > tree.level_begin[level])
        wrong_places += fmm::key_of(tree.boxes[b - 1].cell) >= fmm::key_of(box.cell);
      empty += box.sources.size() == 0 && box.targets.size() == 0;
      outside += !holds(tree, box, grown.sources, box.sources);
      outside += !holds(tree, box, grown.targets(), box.targets);
      crowded += box.is_leaf && level < fmm::deepest_tree_level && is_crowded(grown, box);

      Range s{box.sources.begin, box.sources.begin}, t{box.targets.begin, box.targets.begin};
      for (int octant = 0; octant < 8; ++octant) {
        const std::int32_t c = box.child[octant];
        if (c < 0) continue;
        const Box& child = tree.boxes[c];
        const Cell cell{2 * box.cell[0] + (octant >> 2), 2 * box.cell[1] + (octant >> 1 & 1),
                        2 * box.cell[2] + (octant & 1)};
        wrong_children += box.is_leaf || child.parent != b || child.level != level + 1 ||
                          child.cell != cell || child.sources.begin != s.end ||
                          child.targets.begin != t.end;
        s.end = child.sources.end;
        t.end = child.targets.end;
      }
      // Nothing of a box is left out by its children.
      if (!box.is_leaf) wrong_children += s.end != box.sources.end || t.end != box.targets.end;
    }
  }
  CHECK(wrong_places == 0);
  CHECK(empty == 0);
  CHECK(outside == 0);
  CHECK(crowded == 0);
  CHECK(wrong_children == 0);
}

void check_colleagues(const Octree& tree) {
  std::map<std::pair<int, Cell>, std::int32_t> box_at;
  for (std::size_t b = 0; b < tree.boxes.size(); ++b)
    box_at[{tree.boxes[b].level, tree.boxes[b].cell}] = static_cast<std::int32_t>(b);
  REQUIRE(box_at.size() == tree.boxes.size());
  REQUIRE(tree.colleagues.size() == tree.boxes.size());
  int wrong = 0;
  for (std::size_t b = 0; b < tree.boxes.size(); ++b) {
    const Box& box = tree.boxes[b];
    for (int i = -1; i <= 1; ++i)
      for (int j = -1; j <= 1; ++j)
        for (int k = -1; k <= 1; ++k) {
          const auto found =
              box_at.find({box.level, Cell{box.cell[0] + i, box.cell[1] + j, box.cell[2] + k}});
          wrong += tree.colleagues[b][9 * (i + 1) + 3 * (j + 1) + k + 1] !=
                   (found == box_at.end() ? -1 : found->second);
        }
  }
  CHECK(wrong == 0);
}

bool has_split_child(const Octree& tree, const Box& box) {
  return std::any_of(box.child.begin(), box.child.end(),
                     [&](std::int32_t c) { return c >= 0 && !tree.boxes[c].is_leaf; });
}

/// Whether the split of a box asks for those of the colleagues of its parent: any does in a tree of
/// build_octree(), but where leaves are merged those alone that are not for the grading only.
bool asks(const Grown& grown, const Box& box) {
  if (box.is_leaf) return false;
  return grown.leaves == Leaves::plain || is_crowded(grown, box) ||
         has_split_child(grown.tree, box);
}

/// Where a box of level l + 1 asks, all colleagues of its parent are split; and a box is split only
/// for that, or because it is crowded, or a child is split.
void check_grading(const Grown& grown) {
  const Octree& tree = grown.tree;
  int ungraded = 0, needless = 0;
  for (std::size_t b = 0; b < tree.boxes.size(); ++b) {
    const Box& box = tree.boxes[b];
    bool wanted = is_crowded(grown, box) || has_split_child(tree, box);
    for (const std::int32_t c : tree.colleagues[b]) {
      if (c < 0) continue;
      for (const std::int32_t child : tree.boxes[c].child)
        if (child >= 0 && asks(grown, tree.boxes[child])) {
          ungraded += box.is_leaf;
          wanted = true;
        }
    }
    needless += !box.is_leaf && !wanted;
  }
  CHECK(ungraded == 0);
  CHECK(needless == 0);
}

/// Leaves that touch differ by one level at most, merged ones by two.
void check_balance(const Octree& tree, int most) {
  std::vector<const Box*> leaves;
  for (const Box& box : tree.boxes)
    if (box.is_leaf) leaves.push_back(&box);
  int unbalanced = 0;
  for (const Box* a : leaves)
    for (const Box* b : leaves) unbalanced += a->level > b->level + most && touch(*a, *b);
  CHECK(unbalanced == 0);
}

void check_tree(const Grown& grown) {
  check_boxes(grown);
  check_colleagues(grown.tree);
  check_grading(grown);
  check_balance(grown.tree, grown.leaves == Leaves::plain ? 1 : 2);
}

/// How often the sources of one leaf act on the targets of another: directly, or by M2L between
/// ancestors of one level that do not touch while their parents do. [targets' leaf][sources' leaf]
std::vector<std::vector<int>> coverage(const Grown& grown) {
  const Octree& tree = grown.tree;
  std::vector<std::vector<int>> count(tree.boxes.size(), std::vector<int>(tree.boxes.size()));
  for (std::size_t row = 0; row < grown.near.targets.size(); ++row)
    for (std::int64_t k = grown.near.begin[row]; k < grown.near.begin[row + 1]; ++k)
      ++count[grown.near.targets[row]][grown.near.sources[k]];

  // Ancestors of a box by level, itself included.
  const auto ancestors = [&](std::int32_t b) {
    std::vector<const Box*> chain(tree.boxes[b].level + 1);
    for (; b >= 0; b = tree.boxes[b].parent) chain[tree.boxes[b].level] = &tree.boxes[b];
    return chain;
  };
  for (std::size_t t = 0; t < tree.boxes.size(); ++t) {
    if (!tree.boxes[t].is_leaf) continue;
    const auto above_t = ancestors(static_cast<std::int32_t>(t));
    for (std::size_t s = 0; s < tree.boxes.size(); ++s) {
      if (!tree.boxes[s].is_leaf) continue;
      const auto above_s = ancestors(static_cast<std::int32_t>(s));
      for (std::size_t level = 1; level < std::min(above_t.size(), above_s.size()); ++level)
        count[t][s] += touch(*above_t[level - 1], *above_s[level - 1]) &&
                       !touch(*above_t[level], *above_s[level]);
    }
  }
  return count;
}

/// Whether none of a leaf's sources acts on its targets because all coincide, which the deepest
/// level shows.
bool is_one_place(const Grown& grown, const Box& box) {
  if (box.level < fmm::deepest_tree_level) return false;
  const Vec3d place = at(grown.sources, box.sources.begin);
  for (std::int32_t j = box.sources.begin; j < box.sources.end; ++j)
    if (at(grown.sources, j) != place) return false;
  for (std::int32_t i = box.targets.begin; i < box.targets.end; ++i)
    if (at(grown.targets(), i) != place) return false;
  return true;
}

void check_coverage(const Grown& grown) {
  const Octree& tree = grown.tree;
  const auto count = coverage(grown);
  int wrong = 0;
  for (std::size_t t = 0; t < tree.boxes.size(); ++t) {
    if (!tree.boxes[t].is_leaf || tree.boxes[t].targets.size() == 0) continue;
    for (std::size_t s = 0; s < tree.boxes.size(); ++s) {
      if (!tree.boxes[s].is_leaf || tree.boxes[s].sources.size() == 0) continue;
      wrong += count[t][s] != (t == s && is_one_place(grown, tree.boxes[t]) ? 0 : 1);
    }
  }
  CHECK(wrong == 0);
}

/// Rows are all leaves with targets, entries leaves with sources.
void check_lists(const Grown& grown) {
  const Octree& tree = grown.tree;
  const fmm::NearLists& near = grown.near;
  REQUIRE(near.begin.size() == near.targets.size() + 1);
  CHECK(near.begin.front() == 0);
  CHECK(near.begin.back() == static_cast<std::int64_t>(near.sources.size()));
  std::vector<std::int32_t> rows;
  for (std::size_t b = 0; b < tree.boxes.size(); ++b)
    if (tree.boxes[b].is_leaf && tree.boxes[b].targets.size() > 0)
      rows.push_back(static_cast<std::int32_t>(b));
  auto listed = near.targets;
  std::sort(listed.begin(), listed.end());
  CHECK(listed == rows);
  std::int64_t pairs = 0;
  int wrong = 0;
  for (std::size_t row = 0; row < near.targets.size(); ++row)
    for (std::int64_t k = near.begin[row]; k < near.begin[row + 1]; ++k) {
      const Box& source = tree.boxes[near.sources[k]];
      wrong += !source.is_leaf || source.sources.size() == 0;
      pairs += static_cast<std::int64_t>(source.sources.size()) *
               tree.boxes[near.targets[row]].targets.size();
    }
  CHECK(wrong == 0);
  CHECK(near_pairs(tree, near) == pairs);
}

}  // namespace

TEST_CASE("octrees of one kind of points") {
  for (const std::string& name : shapes) {
    for (const int max_leaf : {1, 20, 60}) {
      CAPTURE(name, max_leaf);
      const Points points = shape(name, max_leaf == 1 ? 1000 : 20000, 1);
      const Grown grown(points, points, max_leaf);
      check_sorted(grown.sources, points, 1);
      check_tree(grown);
      check_lists(grown);
    }
  }
}

TEST_CASE("octrees of sources and targets") {
  const Points cube = cube_points(4000, 2), sphere = sphere_points(3000, 3);
  const Points ellipsoid = ellipsoid_points(4000, 4), one{{0.3, 0.2, 0.1}},
               beside = shifted(cube_points(3000, 5), {1.5, 0, 0});
  const std::vector<std::pair<const Points*, const Points*>> pairs{
      {&cube, &sphere}, {&ellipsoid, &cube}, {&cube, &beside}, {&cube, &one}, {&one, &sphere}};
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    for (const int max_leaf : {20, 60}) {
      CAPTURE(k, max_leaf);
      const Grown grown(*pairs[k].first, *pairs[k].second, max_leaf);
      check_sorted(grown.others, *pairs[k].second, 1);
      check_tree(grown);
      check_lists(grown);
    }
  }
}

TEST_CASE("merged leaves are split where the boxes about them are full, too") {
  const Points beside = cube_points(3000, 12);
  for (const std::string& name : shapes) {
    CAPTURE(name);
    const Points points = shape(name, 20000, 11), few = shape(name, 400, 13);
    for (const int max_leaf : {1, 20, 60}) {
      CAPTURE(max_leaf);
      const Points& some = max_leaf == 1 ? few : points;
      const Grown plain(some, some, max_leaf), merged(some, some, max_leaf, Leaves::merged);
      CHECK(merged.tree.boxes.size() <= plain.tree.boxes.size());
      check_tree(merged);
      check_lists(merged);
    }
    const Grown apart(points, beside, 20, Leaves::merged);
    check_tree(apart);
    check_lists(apart);
    check_coverage(Grown(few, few, 4, Leaves::merged));
    check_coverage(Grown(few, shape(name, 150, 14), 6, Leaves::merged));
  }
}

TEST_CASE("merging leaves spares levels where points crowd about a place") {
  // 20 of 10,000 points are within 2^-27 of a centre, and 27 · 20 of them within 2^-12.6. Where in
  // its boxes a centre is makes a few levels.
  const Points points = centres_points(20000, 15);
  const Grown plain(points, points, 20), merged(points, points, 20, Leaves::merged);
  CHECK(merged.tree.levels() <= plain.tree.levels() - 8);
  CHECK(merged.tree.boxes.size() < plain.tree.boxes.size());
}

TEST_CASE("every source acts on every target once") {
  for (const std::string& name : shapes) {
    CAPTURE(name);
    const Points y = shape(name, 400, 6);
    check_coverage(Grown(y, y, 4));
    for (const std::string& other : shapes) {
      CAPTURE(other);
      const Points x = shape(other, 150, 7);
      check_coverage(Grown(y, x, 6));
    }
  }
}

TEST_CASE("sorted points are in the plan's unit of length") {
  const Points points = plummer_points(1000, 8);
  const double unit = 0x1p-5;
  const Cube cube = bounding_cube(points);
  check_sorted(sort_points(points, unit, {unit * cube.corner, unit * cube.side}), points, unit);
}

TEST_CASE("few points make one leaf") {
  for (const std::size_t n : {1, 2, 9}) {
    const Points points = cube_points(n, 9);
    const Grown grown(points, points, 9);
    CHECK(grown.tree.boxes.size() == 1);
    CHECK(grown.tree.levels() == 1);
    check_tree(grown);
    check_lists(grown);
    CHECK(near_pairs(grown.tree, grown.near) == static_cast<std::int64_t>(n * n));
  }
}

TEST_CASE("copies of one point end at the deepest level and do not act on each other") {
  const std::size_t copies = 200000;
  const Points points(copies, Vec3d{0.1, 0.2, 0.3});
  const Grown grown(points, points, 60);
  CHECK(grown.tree.levels() == fmm::deepest_tree_level + 1);
  CHECK(grown.tree.boxes.size() == fmm::deepest_tree_level + 1);  // one on each
  check_tree(grown);
  check_lists(grown);
  CHECK(near_pairs(grown.tree, grown.near) == 0);

  const Grown both(points, Points(copies, points[0]), 60);
  CHECK(near_pairs(both.tree, both.near) == 0);
}

TEST_CASE("copies of one point act on the others") {
  Points points(200000, Vec3d{0.1, 0.2, 0.3});
  const Points others = cube_points(500, 10);
  points.insert(points.end(), others.begin(), others.end());
  const Grown grown(points, points, 20);
  check_tree(grown);
  check_lists(grown);

  check_coverage(grown);
  int crowds = 0;  // the pairs of which would take a minute
  for (const Box& box : grown.tree.boxes)
    crowds += box.is_leaf && box.sources.size() >= 200000 && is_one_place(grown, box);
  CHECK(crowds == 1);
}

TEST_CASE("points that share a box of the deepest level act on each other") {
  Points points(30, Vec3d{0.5, 0.5, 0.5});
  points.push_back({0.5 + 1e-14, 0.5, 0.5});
  points.push_back({0, 0, 0});
  points.push_back({1, 1, 1});
  const Grown grown(points, points, 4);
  check_tree(grown);
  check_coverage(grown);

  // Where only some of the targets are apart, too.
  const Points sources(30, Vec3d{0.5, 0.5, 0.5});
  check_coverage(Grown(sources, points, 4));
}

TEST_CASE("points on the faces of boxes are in one of them") {
  Points lattice;
  for (int i = 0; i <= 16; ++i)
    for (int j = 0; j <= 16; ++j)
      for (int k = 0; k <= 16; ++k) lattice.push_back({i / 16.0, j / 16.0, k / 16.0});
  const Grown grown(lattice, lattice, 10);
  check_sorted(grown.sources, lattice, 1);
  check_tree(grown);
  check_lists(grown);
  check_coverage(grown);
}

}  // namespace fmbem::test::octree_tests
