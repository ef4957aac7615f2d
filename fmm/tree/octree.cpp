#include "fmbem/fmm/tree/octree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "fmbem/fmm/base/chunks.hpp"

namespace fmbem::fmm {
namespace {

/// With fewer boxes than this, waking the other threads takes longer than the work; with fewer
/// splits, where points are searched for.
constexpr std::int32_t worth_a_thread = 4096, splits_worth_a_thread = 512;

/// Keys of the boxes of a level, ascending: the leading 3·level bits of a Morton key.
using Keys = LargeVector<TreeKey>;

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

/// Whether bookmarks tell where the points of boxes of a level are.
bool are_counted(const SortedPoints& points, int level) {
  return !points.bookmarks.begin.empty() && level <= points.bookmarks.level;
}

/// Points of the 8 children of a box, by octant.
std::array<Range, 8> child_ranges(const SortedPoints& points, Range range, TreeKey key, int level) {
  std::array<Range, 8> result;
  if (are_counted(points, level + 1)) {
    for (int octant = 0; octant < 8; ++octant)
      result[octant] = points.bookmarks.range(key * 8 + octant, level + 1);
    return result;
  }
  const int shift = 3 * (deepest_tree_level - level - 1);
  range.begin += held_of(points, range, level);
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
  if (are_counted(points, level)) return points.bookmarks.range(key, level).size() > 0;
  const int shift = 3 * (deepest_tree_level - level);
  const auto begin = points.keys.begin(), end = points.keys.end();
  auto first = std::lower_bound(begin, end, key << shift);
  // Points that its ancestors hold may have the same key; they come first.
  while (first != end && *first == key << shift && points.deepest_of(first - begin) < level)
    ++first;
  return first != end && *first >> shift == key;
}

Chunks splits_in_chunks(std::size_t splits) {
  return Chunks::of_size(splits_worth_a_thread, static_cast<std::int64_t>(splits));
}

void sort_once(auto& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

/// For each level, the boxes that hold more than max_leaf points.
std::vector<Keys> crowded_boxes(const SortedPoints& sources, const SortedPoints& targets,
                                int max_leaf) {
  struct Entry {
    TreeKey key;
    Range sources, targets;
  };
  std::vector<Keys> result;
  LargeVector<Entry> crowded;
  const auto is_crowded = [&](const Entry& e, int level) {
    return e.targets.size() > max_leaf ||
           e.sources.size() - held_of(sources, e.sources, level) > max_leaf;
  };
  const Entry root{0,
                   {0, static_cast<std::int32_t>(sources.size())},
                   {0, static_cast<std::int32_t>(targets.size())}};
  if (is_crowded(root, 0)) crowded.push_back(root);
  for (int level = 0; level < sources.levels && !crowded.empty(); ++level) {
    result.emplace_back(crowded.size());
    std::transform(crowded.begin(), crowded.end(), result.back().begin(),
                   [](const Entry& e) { return e.key; });
    if (level + 1 == sources.levels) break;
    crowded = found_in_chunks<Entry>(
        splits_in_chunks(crowded.size()),
        [&](std::int64_t first, std::int64_t last, std::vector<Entry>& found) {
          for (std::int64_t i = first; i < last; ++i) {
            const Entry& e = crowded[i];
            const auto s = child_ranges(sources, e.sources, e.key, level);
            const auto t =
                &sources == &targets ? s : child_ranges(targets, e.targets, e.key, level);
            for (int octant = 0; octant < 8; ++octant) {
              const Entry child{e.key * 8 + octant, s[octant], t[octant]};
              if (is_crowded(child, level + 1)) found.push_back(child);
            }
          }
        });
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

/// Calls body(key) for the cells of a level that touch one, and for itself.
template <class Body>
void for_colleagues(TreeKey key, int level, Body&& body) {
  const std::int64_t cells = std::int64_t{1} << level;
  const TreeCell cell = cell_of(key);
  // A key has the bits of three coordinates, each between those of the others.
  std::array<std::array<TreeKey, 3>, 3> bits;
  std::array<int, 3> count{};
  for (int axis = 0; axis < 3; ++axis)
    for (int step = -1; step <= 1; ++step) {
      TreeCell along{};
      along[axis] = cell[axis] + step;
      if (along[axis] >= 0 && along[axis] < cells) bits[axis][count[axis]++] = key_of(along);
    }
  for (int i = 0; i < count[0]; ++i)
    for (int j = 0; j < count[1]; ++j)
      for (int k = 0; k < count[2]; ++k) body(bits[0][i] | bits[1][j] | bits[2][k]);
}

/// Adds the boxes that have to be split for the grading (see Octree).
void grade(std::vector<Keys>& split, const SortedPoints& sources, const SortedPoints& targets) {
  for (int level = static_cast<int>(split.size()) - 2; level > 0; --level) {
    const KeySet is_split(split[level], level);
    const Keys& below = split[level + 1];
    const auto find = [&](std::int64_t first, std::int64_t last, std::vector<TreeKey>& missing) {
      for (std::int64_t i = first; i < last; ++i) {
        const TreeKey parent = below[i] >> 3;
        if (i > first && below[i - 1] >> 3 == parent) continue;
        for_colleagues(parent, level, [&](TreeKey colleague) {
          if (!is_split.contains(colleague)) missing.push_back(colleague);
        });
      }
      sort_once(missing);
      std::erase_if(missing, [&](TreeKey key) {
        return !holds_points(sources, key, level) &&
               (&sources == &targets || !holds_points(targets, key, level));
      });
    };
    Keys missing = found_in_chunks<TreeKey>(splits_in_chunks(below.size()), find);
    sort_once(missing);
    const auto middle = static_cast<std::ptrdiff_t>(split[level].size());
    split[level].insert(split[level].end(), missing.begin(), missing.end());
    std::inplace_merge(split[level].begin(), split[level].begin() + middle, split[level].end());
  }
}

constexpr std::array<std::int32_t, 8> no_children{-1, -1, -1, -1, -1, -1, -1, -1};

/// The children of the boxes of a level that are split: the next level. `keys` are those of the
/// level's boxes, and then of the next one's.
void add_level(Octree& tree, const Keys& split, const SortedPoints& sources,
               const SortedPoints& targets, Keys& keys) {
  const auto level = static_cast<int>(tree.level_begin.size()) - 2;
  const auto n = static_cast<std::int32_t>(split.size());
  struct Parent {
    std::int32_t box, first_child;
    std::array<Range, 8> sources, targets;
  };
  LargeVector<Parent> parents(n);
  const std::int32_t begin = tree.level_begin[level];
  for (std::int32_t i = 0, place = 0; i < n; ++i) {
    while (keys[place] != split[i]) ++place;
    parents[i].box = begin + place;
  }
#pragma omp parallel for schedule(static) if (n >= splits_worth_a_thread)
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
  const std::int32_t first = tree.level_begin.back();
  std::int32_t next = first;
  for (Parent& p : parents) {
    p.first_child = next;
    for (int octant = 0; octant < 8; ++octant) next += !is_empty(p, octant);
  }
  tree.level_begin.push_back(next);
  tree.boxes.resize(next);
  keys = Keys(next - first);
#pragma omp parallel for schedule(static) if (n >= splits_worth_a_thread)
  for (std::int32_t i = 0; i < n; ++i) {
    const Parent& p = parents[i];
    Box& parent = tree.boxes[p.box];
    parent.is_leaf = false;
    std::int32_t index = p.first_child;
    for (int octant = 0; octant < 8; ++octant) {
      if (is_empty(p, octant)) continue;
      parent.child[octant] = index;
      const TreeKey key = keys[index - first] = split[i] * 8 + octant;
      tree.boxes[index++] = {.cell = cell_of(key),
                             .level = level + 1,
                             .parent = p.box,
                             .child = no_children,
                             .sources = p.sources[octant],
                             .targets = p.targets[octant],
                             .held = held_of(sources, p.sources[octant], level + 1)};
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

}  // namespace

double unit_side(int level) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(1023 - level) << 52);
}

Vec3d unit_centre(const Box& box) {
  Vec3d centre;
  for (int axis = 0; axis < 3; ++axis)
    centre[axis] = (static_cast<double>(box.cell[axis]) + 0.5) * unit_side(box.level);
  return centre;
}

double Octree::side(int level) const { return root.side * unit_side(level); }

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
  const Range all{0, static_cast<std::int32_t>(sources.size())};
  std::size_t most_boxes = 1;
  for (const Keys& of_level : split) most_boxes += 8 * of_level.size();
  tree.boxes.reserve(most_boxes);
  tree.boxes.push_back({.child = no_children,
                        .sources = all,
                        .targets = {0, static_cast<std::int32_t>(targets.size())},
                        .held = held_of(sources, all, 0)});
  tree.level_begin = {0, 1};
  Keys keys{TreeKey{0}};
  for (const Keys& of_level : split) add_level(tree, of_level, sources, targets, keys);
  find_colleagues(tree);
  return tree;
}

}  // namespace fmbem::fmm
