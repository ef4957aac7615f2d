#include "fmbem/fmm/lists/trial_trees.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <mutex>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/lists/m2l_rows.hpp"

namespace fmbem::fmm {
namespace {

/// What counting needs to know of a box, in one place.
struct TrialBox {
  std::int32_t cut = 0;  ///< it is split in so many of the trees, the first ones
  std::int32_t parents_cut = 0;
  std::int32_t asks = 0;  ///< in so many trees its split asks for those of the grading
  std::int32_t sources = 0, held = 0;
  std::int32_t lists_if_split = 0;  ///< its children, and itself, that have sources of their own
};

/// Calls `at(b)` for the boxes of one level.
template <class At>
void for_level(const Octree& tree, int level, At&& at) {
  const std::int32_t begin = tree.level_begin[level], end = tree.level_begin[level + 1];
#pragma omp parallel for schedule(static) if (end - begin > 1000)
  for (std::int32_t b = begin; b < end; ++b) at(b);
}

std::vector<TrialBox> trial_boxes(const Octree& tree, std::span<const int> max_leaf,
                                  Leaves leaves) {
  std::vector<TrialBox> boxes(tree.boxes.size());
  std::vector<std::int32_t> children_ask(tree.boxes.size());
  for (int level = tree.levels() - 1; level >= 0; --level) {
    for_level(tree, level, [&](std::int32_t b) {
      const Box& box = tree.boxes[b];
      TrialBox& trial = boxes[b];
      trial.sources = box.sources.size();
      trial.held = box.held;
      if (box.is_leaf) return;
      const int crowd = leaves == Leaves::merged
                            ? crowd_about(tree, b)
                            : std::max(box.targets.size(), box.sources.size() - box.held);
      trial.asks = static_cast<std::int32_t>(
          std::lower_bound(max_leaf.begin(), max_leaf.end(), crowd) - max_leaf.begin());
      for (const std::int32_t child : box.child)
        if (child >= 0) trial.asks = std::max(trial.asks, boxes[child].cut);
      // The grading: where a box that asks is split, the colleagues of its parent are split.
      trial.cut = trial.asks;
      for (const std::int32_t c : tree.colleagues[b])
        if (c >= 0) trial.cut = std::max(trial.cut, children_ask[c]);
      if (leaves == Leaves::plain) trial.asks = trial.cut;
      trial.lists_if_split = box.held > 0;
      for (const std::int32_t child : box.child) {
        if (child < 0) continue;
        boxes[child].parents_cut = trial.cut;
        trial.lists_if_split += boxes[child].sources > 0;
      }
    });
    if (level == 0) break;
    for_level(tree, level - 1, [&](std::int32_t b) {
      for (const std::int32_t child : tree.boxes[b].child)
        if (child >= 0) children_ask[b] = std::max(children_ask[b], boxes[child].asks);
    });
  }
  return boxes;
}

/// Sources near to a leaf, and the boxes that have them.
struct Near {
  std::int32_t sources = 0, boxes = 0;
};

/// What the ancestors of a box, from the grandparent up, and their colleagues hold.
std::vector<Near> held_above(const Octree& tree) {
  std::vector<Near> above(tree.boxes.size());
  const auto holds = [](const Box& box) { return box.held > 0; };
  if (std::none_of(tree.boxes.begin(), tree.boxes.end(), holds)) return above;
  for (int level = 0; level < tree.levels(); ++level)
    for_level(tree, level, [&](std::int32_t b) {
      const std::int32_t parent = tree.boxes[b].parent;
      if (parent < 0) return;
      const std::int32_t grandparent = tree.boxes[parent].parent;
      if (grandparent < 0) return;
      above[b] = above[parent];
      for (const std::int32_t c : tree.colleagues[grandparent]) {
        if (c < 0 || tree.boxes[c].held == 0) continue;
        above[b].sources += tree.boxes[c].held;
        ++above[b].boxes;
      }
    });
  return above;
}

class Counter {
 public:
  Counter(const Octree& tree, std::span<const int> max_leaf, Leaves leaves, double reach)
      : tree_(tree),
        reach_(reach),
        boxes_(trial_boxes(tree, max_leaf, leaves)),
        held_above_(held_above(tree)),
        occupied_(occupied_octants(tree)),
        trials_(static_cast<int>(max_leaf.size())) {}

  void add(std::int32_t b, std::vector<TreeWork>& work) const {
    if (boxes_[b].cut > 0) add_parent(b, work);
    if (tree_.boxes[b].targets.size() > 0) add_leaf(b, work);
  }

 private:
  /// Adds a box to the work of the trees in which it is split.
  void add_parent(std::int32_t b, std::vector<TreeWork>& work) const {
    const Box& box = tree_.boxes[b];
    const int trees = boxes_[b].cut;
    const auto children = static_cast<double>(
        std::count_if(box.child.begin(), box.child.end(), [](std::int32_t c) { return c >= 0; }));
    const bool expands = has_expansions(tree_, box.level + 1, reach_);
    std::array<std::uint32_t, most_trial_trees> orbits{};  // in this tree, but not in the next
    if (expands && box.level > 0 && box.targets.size() > 0) {
      for (int place = 0; place < 27; ++place) {
        const std::int32_t uncle = tree_.colleagues[b][place];
        if (uncle >= 0 && boxes_[uncle].cut > 0)
          orbits[std::min(boxes_[uncle].cut, trees) - 1] |= orbits_at(place, occupied_[uncle]);
      }
    }
    std::uint32_t with_sources = 0;
    for (int c = trees - 1; c >= 0; --c) {
      with_sources |= orbits[c];
      work[c].m2l_rows += std::popcount(with_sources);
      work[c].boxes += children;
      if (expands) work[c].expansions += children;
      ++work[c].splits;
      work[c].has_far = work[c].has_far || (expands && box.level > 0);
    }
  }

  /// Adds a box to the work of the trees in which it is a leaf.
  void add_leaf(std::int32_t b, std::vector<TreeWork>& work) const {
    const Box& box = tree_.boxes[b];
    const int first = boxes_[b].cut, end = box.parent < 0 ? trials_ : boxes_[b].parents_cut;
    if (first >= end) return;
    // before[c]: what is near in tree c − 1, but not in tree c.
    std::array<Near, most_trial_trees + 1> before{};
    const auto add_before = [&](int c, std::int32_t sources, std::int32_t boxes) {
      Near& near = before[std::clamp(c, first, end)];
      near.sources += sources;
      near.boxes += boxes;
    };
    for (const std::int32_t q : tree_.colleagues[b]) {
      if (q < 0) continue;
      const TrialBox& other = boxes_[q];
      const std::int32_t as_leaf = other.sources > 0;
      add_before(box.parent < 0 ? end : other.parents_cut, other.sources, as_leaf);
      if (other.cut <= first) continue;
      add_before(other.cut, 0, other.lists_if_split - as_leaf);
      for (const std::int32_t child : tree_.boxes[q].child) {
        if (child < 0 || boxes_[child].cut <= first) continue;
        add_before(boxes_[child].cut, 0,
                   boxes_[child].lists_if_split - (boxes_[child].sources > 0));
      }
    }
    Near near = held_above_[b];
    if (box.level == tree_.deepest) {  // its points coincide, and do not act on each other
      near.sources -= boxes_[b].sources;
      near.boxes -= boxes_[b].sources > 0;
    }
    if (box.parent >= 0) {
      const std::int32_t grandparent = tree_.boxes[box.parent].parent;
      for (const std::int32_t q : tree_.colleagues[box.parent]) {
        if (q < 0) continue;
        const TrialBox& other = boxes_[q];
        const std::int32_t as_leaf = other.sources > 0;
        // A leaf where its parent is split; where it is split, it is near for what it holds.
        add_before(grandparent < 0 ? end : other.parents_cut, other.sources, as_leaf);
        add_before(other.cut, other.held - other.sources, (other.held > 0) - as_leaf);
      }
      if (grandparent >= 0)
        for (const std::int32_t q : tree_.colleagues[grandparent]) {
          if (q < 0 || boxes_[q].cut >= end) continue;  // what it holds is known
          const TrialBox& other = boxes_[q];
          const Near more{other.sources - other.held, (other.sources > 0) - (other.held > 0)};
          add_before(end, more.sources, more.boxes);
          add_before(other.cut, -more.sources, -more.boxes);
        }
    }
    for (int c = end - 1; c >= first; --c) {
      near.sources += before[c + 1].sources;
      near.boxes += before[c + 1].boxes;
      work[c].near_sources += near.sources;
      work[c].near_pairs += static_cast<double>(near.sources) * box.targets.size();
      work[c].near_boxes += near.boxes;
    }
  }

  const Octree& tree_;
  double reach_;
  std::vector<TrialBox> boxes_;
  std::vector<Near> held_above_;
  std::vector<std::uint8_t> occupied_;
  int trials_;
};

}  // namespace

std::vector<TreeWork> work_of_trees(const Octree& finest, std::span<const int> max_leaf,
                                    Leaves leaves, double reach) {
  FMBEM_REQUIRE(max_leaf.size() <= most_trial_trees,
                "at most " << most_trial_trees << " trees are compared, not " << max_leaf.size());
  const Counter counter(finest, max_leaf, leaves, reach);
  const Box& root = finest.boxes[0];
  const TreeWork root_alone{.points = 0.5 * (root.sources.size() + root.targets.size()),
                            .boxes = 1,
                            .expansions = has_expansions(finest, 0, reach) ? 1.0 : 0.0};
  std::vector<TreeWork> total(max_leaf.size(), root_alone);
  std::mutex adding;
#pragma omp parallel
  {
    std::vector<TreeWork> mine(max_leaf.size());
#pragma omp for schedule(static) nowait
    for (std::size_t b = 0; b < finest.boxes.size(); ++b)
      counter.add(static_cast<std::int32_t>(b), mine);
    const std::lock_guard one_at_a_time(adding);
    for (std::size_t c = 0; c < mine.size(); ++c) {
      total[c].boxes += mine[c].boxes;
      total[c].splits += mine[c].splits;
      total[c].expansions += mine[c].expansions;
      total[c].m2l_rows += mine[c].m2l_rows;
      total[c].has_far = total[c].has_far || mine[c].has_far;
      total[c].near_pairs += mine[c].near_pairs;
      total[c].near_sources += mine[c].near_sources;
      total[c].near_boxes += mine[c].near_boxes;
    }
  }
  return total;
}

}  // namespace fmbem::fmm
