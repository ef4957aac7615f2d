#include "fmbem/fmm/tree/octree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace fmbem::fmm {
namespace {

/// With fewer boxes than this, waking the other threads takes longer than the work.
constexpr std::int32_t worth_a_thread = 4096;

/// Keys of the boxes of a level, ascending: the leading 3·level bits of a Morton key.
using Keys = std::vector<TreeKey>;

std::int32_t first_not_below(std::span<const TreeKey> keys, Range range, TreeKey bound) {
  return static_cast<std::int32_t>(
      std::lower_bound(keys.begin() + range.begin, keys.begin() + range.end, bound) - keys.begin());
}

/// How many of a box's points may not sink below its level. They come first.
std::int32_t held_of(const SortedPoints& points, Range range, int level) {
  std::int32_t held = 0;
  if (!points.deepest.empty())
    while (held < range.size() && points.deepest[range.begin + held] <= level) ++held;
  return held;
}

/// Points of the 8 children of a box, by octant.
std::array<Range, 8> child_ranges(const SortedPoints& points, Range range, TreeKey key, int level) {
  const int shift = 3 * (deepest_tree_level - level - 1);
  range.begin += held_of(points, range, level);
  std::array<Range, 8> result;
  for (int octant = 0; octant < 8; ++octant) {
    const std::int32_t end =
        octant == 7 ? range.end
                    : first_not_below(points.keys, range, (key * 8 + octant + 1) << shift);
    result[octant] = {range.begin, end};
    range.begin = end;
  }
  return result;
}

/// Whether a box has points that are not held by one of its ancestors.
bool holds_points(const SortedPoints& points, TreeKey key, int level) {
  const int shift = 3 * (deepest_tree_level - level);
  const auto begin = points.keys.begin(), end = points.keys.end();
  auto first = std::lower_bound(begin, end, key << shift);
  // Points that its ancestors hold may have the same key; they come first.
  while (first != end && *first == key << shift && points.deepest_of(first - begin) < level)
    ++first;
  return first != end && *first >> shift == key;
}

/// For each level, the boxes that hold more than max_leaf points.
std::vector<Keys> crowded_boxes(const SortedPoints& sources, const SortedPoints& targets,
                                int max_leaf) {
  struct Entry {
    TreeKey key;
    Range sources, targets;
  };
  std::vector<Keys> result;
  std::vector<Entry> crowded, next;
  const auto is_crowded = [&](const Entry& e, int level) {
    return e.targets.size() > max_leaf ||
           e.sources.size() - held_of(sources, e.sources, level) > max_leaf;
  };
  const Entry root{0,
                   {0, static_cast<std::int32_t>(sources.size())},
                   {0, static_cast<std::int32_t>(targets.size())}};
  if (is_crowded(root, 0)) crowded.push_back(root);
  for (int level = 0; level < sources.levels && !crowded.empty(); ++level) {
    result.emplace_back();
    next.clear();
    for (const Entry& e : crowded) {
      result.back().push_back(e.key);
      if (level + 1 == sources.levels) continue;
      const auto s = child_ranges(sources, e.sources, e.key, level);
      const auto t = &sources == &targets ? s : child_ranges(targets, e.targets, e.key, level);
      for (int octant = 0; octant < 8; ++octant) {
        const Entry child{e.key * 8 + octant, s[octant], t[octant]};
        if (is_crowded(child, level + 1)) next.push_back(child);
      }
    }
    std::swap(crowded, next);
  }
  return result;
}

/// Tells whether a box of a level is in a set.
class KeySet {
 public:
  KeySet(const Keys& sorted, int level) : keys_(sorted) {
    const int bits = std::min(3 * level, static_cast<int>(std::bit_width(sorted.size())));
    shift_ = 3 * level - bits;
    begin_.resize((std::size_t{1} << bits) + 1);
    for (const TreeKey key : sorted) ++begin_[bucket(key) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  }
  bool contains(TreeKey key) const {
    const auto first = keys_.begin() + begin_[bucket(key)],
               last = keys_.begin() + begin_[bucket(key) + 1];
    return std::binary_search(first, last, key);
  }

 private:
  std::size_t bucket(TreeKey key) const { return static_cast<std::size_t>(key >> shift_); }

  const Keys& keys_;
  int shift_;
  std::vector<std::int32_t> begin_;  ///< of the keys with the same leading bits
};

/// Adds the boxes that have to be split for the grading (see Octree).
void grade(std::vector<Keys>& split, const SortedPoints& sources, const SortedPoints& targets) {
  for (int level = static_cast<int>(split.size()) - 2; level > 0; --level) {
    const KeySet is_split(split[level], level);
    const std::int64_t cells = std::int64_t{1} << level;
    Keys missing;
    TreeKey done = ~TreeKey{0};
    for (const TreeKey key : split[level + 1]) {
      const TreeKey parent = key >> 3;
      if (parent == done) continue;
      done = parent;
      const TreeCell cell = cell_of(parent);
      const auto first = [&](int axis) { return std::max<std::int64_t>(cell[axis] - 1, 0); };
      const auto last = [&](int axis) { return std::min(cell[axis] + 1, cells - 1); };
      for (std::int64_t i = first(0); i <= last(0); ++i)
        for (std::int64_t j = first(1); j <= last(1); ++j)
          for (std::int64_t k = first(2); k <= last(2); ++k)
            if (const TreeKey colleague = key_of({i, j, k}); !is_split.contains(colleague))
              missing.push_back(colleague);
    }
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    std::erase_if(missing, [&](TreeKey key) {
      return !holds_points(sources, key, level) &&
             (&sources == &targets || !holds_points(targets, key, level));
    });
    const auto middle = static_cast<std::ptrdiff_t>(split[level].size());
    split[level].insert(split[level].end(), missing.begin(), missing.end());
    std::inplace_merge(split[level].begin(), split[level].begin() + middle, split[level].end());
  }
}

/// The children of the boxes of a level that are split: the next level.
void add_level(Octree& tree, const Keys& split, const SortedPoints& sources,
               const SortedPoints& targets) {
  const auto level = static_cast<int>(tree.level_begin.size()) - 2;
  const auto n = static_cast<std::int32_t>(split.size());
  struct Parent {
    std::int32_t box, first_child;
    std::array<Range, 8> sources, targets;
  };
  std::vector<Parent> parents(n);
  std::int32_t box = tree.level_begin[level];
  for (std::int32_t i = 0; i < n; ++i) {
    while (key_of(tree.boxes[box].cell) != split[i]) ++box;
    parents[i].box = box;
  }
#pragma omp parallel for schedule(static) if (n >= worth_a_thread)
  for (std::int32_t i = 0; i < n; ++i) {
    Parent& p = parents[i];
    const Box& parent = tree.boxes[p.box];
    p.sources = child_ranges(sources, parent.sources, split[i], level);
    p.targets =
        &sources == &targets ? p.sources : child_ranges(targets, parent.targets, split[i], level);
  }
  const auto is_empty = [](const Parent& p, int octant) {
    return p.sources[octant].size() == 0 && p.targets[octant].size() == 0;
  };
  std::int32_t next = tree.level_begin.back();
  for (Parent& p : parents) {
    p.first_child = next;
    for (int octant = 0; octant < 8; ++octant) next += !is_empty(p, octant);
  }
  tree.level_begin.push_back(next);
  tree.boxes.resize(next);
#pragma omp parallel for schedule(static) if (n >= worth_a_thread)
  for (std::int32_t i = 0; i < n; ++i) {
    const Parent& p = parents[i];
    Box& parent = tree.boxes[p.box];
    parent.is_leaf = false;
    std::int32_t index = p.first_child;
    for (int octant = 0; octant < 8; ++octant) {
      if (is_empty(p, octant)) continue;
      parent.child[octant] = index;
      Box& child = tree.boxes[index++];
      child.cell = cell_of(split[i] * 8 + octant);
      child.level = level + 1;
      child.parent = p.box;
      child.child.fill(-1);
      child.sources = p.sources[octant];
      child.targets = p.targets[octant];
      child.held = held_of(sources, child.sources, child.level);
    }
  }
}

/// The colleague of a child at the displacement d: its parent's displacement, and its octant.
struct Step {
  int parent_place, octant;
};
std::array<std::array<Step, 27>, 8> colleague_steps() {
  std::array<std::array<Step, 27>, 8> steps{};
  for (int octant = 0; octant < 8; ++octant) {
    for (int place = 0; place < 27; ++place) {
      const int displaced[3] = {place / 9 - 1, place / 3 % 3 - 1, place % 3 - 1};
      Step step{0, 0};
      for (int axis = 0; axis < 3; ++axis) {
        const int cell = 2 + (octant >> (2 - axis) & 1) + displaced[axis];  // 1 … 4, parent at 2, 3
        step.parent_place = 3 * step.parent_place + cell / 2;
        step.octant = 2 * step.octant + cell % 2;
      }
      steps[octant][place] = step;
    }
  }
  return steps;
}

void find_colleagues(Octree& tree) {
  static const auto steps = colleague_steps();
  tree.colleagues.resize(tree.boxes.size());
  tree.colleagues[0].fill(-1);
  tree.colleagues[0][13] = 0;
  for (int level = 0; level + 1 < tree.levels(); ++level) {
    const std::int32_t begin = tree.level_begin[level], end = tree.level_begin[level + 1];
#pragma omp parallel for schedule(static) if (end - begin >= worth_a_thread)
    for (std::int32_t b = begin; b < end; ++b) {
      for (int octant = 0; octant < 8; ++octant) {
        const std::int32_t child = tree.boxes[b].child[octant];
        if (child < 0) continue;
        for (int place = 0; place < 27; ++place) {
          const Step step = steps[octant][place];
          const std::int32_t uncle = tree.colleagues[b][step.parent_place];
          tree.colleagues[child][place] = uncle < 0 ? -1 : tree.boxes[uncle].child[step.octant];
        }
      }
    }
  }
}

/// The centre of a box in the unit cube.
Vec3d unit_centre(const Box& box) {
  Vec3d centre;
  for (int axis = 0; axis < 3; ++axis)
    centre[axis] = std::ldexp(static_cast<double>(box.cell[axis]) + 0.5, -box.level);
  return centre;
}

}  // namespace

double Octree::side(int level) const { return std::ldexp(root.side, -level); }

Vec3d Octree::centre_from_corner(const Box& box) const { return root.side * unit_centre(box); }

Vec3d Octree::between_centres(const Box& a, const Box& b) const {
  return root.side * (unit_centre(a) - unit_centre(b));
}

BoxCentre::BoxCentre(const Octree& tree, const Box& box)
    : corner_(tree.root.corner), centre_(tree.centre_from_corner(box)) {
  const Vec3d unit = unit_centre(box);
  for (int axis = 0; axis < 3; ++axis)
    rest_[axis] = std::fma(tree.root.side, unit[axis], -centre_[axis]);
}

Octree build_octree(const Cube& root, const SortedPoints& sources, const SortedPoints& targets,
                    int max_leaf) {
  std::vector<Keys> split = crowded_boxes(sources, targets, max_leaf);
  grade(split, sources, targets);
  Octree tree;
  tree.root = root;
  tree.deepest = sources.levels;
  Box box;
  box.child.fill(-1);
  box.sources = {0, static_cast<std::int32_t>(sources.size())};
  box.targets = {0, static_cast<std::int32_t>(targets.size())};
  box.held = held_of(sources, box.sources, 0);
  std::size_t most_boxes = 1;
  for (const Keys& of_level : split) most_boxes += 8 * of_level.size();
  tree.boxes.reserve(most_boxes);
  tree.boxes.push_back(box);
  tree.level_begin = {0, 1};
  for (const Keys& of_level : split) add_level(tree, of_level, sources, targets);
  find_colleagues(tree);
  return tree;
}

}  // namespace fmbem::fmm
