#include "fmbem/fmm/lists/dual_traversal.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/fmm/expansion/translations.hpp"
#include "fmbem/fmm/lists/m2l_rows.hpp"
#include "fmbem/fmm/lists/near_lists.hpp"
#include "fmbem/fmm/lists/treecode_walk.hpp"

namespace fmbem::fmm {
namespace {

/// Pairs whose direct sum takes so many times as long as all 26 rows of M2L of a parent are split
/// without a look at what that costs.
constexpr double rows_of_sure_splits = 50 * 26;
/// Those that are split further are shared out to threads in so many parts.
constexpr std::size_t most_parts = 1024;

/// [place][octant]: the octants of the colleague at that place that touch this one of the box.
constexpr std::array<std::array<std::uint8_t, 8>, 27> find_touching_octants() {
  std::array<std::array<std::uint8_t, 8>, 27> touching{};
  for (int place = 0; place < 27; ++place)
    for (int own = 0; own < 8; ++own)
      for (int other = 0; other < 8; ++other) {
        const int displaced[3] = {place / 9 - 1, place / 3 % 3 - 1, place % 3 - 1};
        bool touch = true;
        for (int axis = 0; axis < 3; ++axis) {
          const int bit = 2 - axis,
                    apart = 2 * displaced[axis] + (other >> bit & 1) - (own >> bit & 1);
          touch = touch && -1 <= apart && apart <= 1;
        }
        if (touch) touching[place][own] |= static_cast<std::uint8_t>(1u << other);
      }
  return touching;
}
constexpr std::array<std::array<std::uint8_t, 8>, 27> touching_octants = find_touching_octants();

/// Calls body(box) for all boxes, those of a level side by side, children before their parents.
template <class Body>
void for_levels_up(const Octree& tree, Body&& body) {
  constexpr std::int32_t worth_a_thread = 4096;
  for (int level = tree.levels() - 1; level >= 0; --level) {
    const std::int32_t begin = tree.level_begin[level], end = tree.level_begin[level + 1];
#pragma omp parallel for schedule(static) if (end - begin >= worth_a_thread)
    for (std::int32_t b = begin; b < end; ++b) body(b);
  }
}

constexpr BoxPairs FoundPairs::*kinds[] = {&FoundPairs::p2p, &FoundPairs::split, &FoundPairs::m2l,
                                           &FoundPairs::m2p, &FoundPairs::p2l};

FoundPairs joined_pairs(const std::vector<FoundPairs>& parts) {
  FoundPairs all;
  for (const auto kind : kinds)
    all.*kind = joined(
        parts, [&](const FoundPairs& part) -> const auto& { return part.*kind; });
  for (const FoundPairs& part : parts) all.seconds += part.seconds;
  return all;
}

class Traversal {
 public:
  Traversal(const PointTree& tree, double theta, double reach, const HybridCosts& costs)
      : tree_(tree.octree),
        points_(tree),
        theta_(theta),
        reach_(reach),
        in_blocks_(theta >= theta_of_blocks),
        costs_(costs),
        leaves_(tree_.boxes.size(), 1.0f) {
    if (!in_blocks_) return;
    occupied_ = occupied_octants(tree_);
    for (int level = 0; level < tree_.levels(); ++level)
      orbits_of_children_.push_back(orbits_within(reach_ / tree_.side(level + 1)));
    splits_ = numbers_where(static_cast<std::int64_t>(tree_.boxes.size()),
                            [&](std::int64_t b) { return !tree_.boxes[b].is_leaf; });
    number_.resize(tree_.boxes.size());
    shares_.resize(splits_.size());
    parent_seconds_.resize(splits_.size());
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < splits_.size(); ++k) {
      number_[splits_[k]] = static_cast<std::int32_t>(k);
      parent_seconds_[k] = parent_seconds(tree_.boxes[splits_[k]]);
    }
    share_among(places_of_colleagues(), false);  // at first all share a row
  }

  FoundPairs run() const {
    std::vector<FoundPairs> found(1);
    FoundPairs& sure = found.front();
    std::vector<BoxPair> waiting{{0, 0}}, others;
    while (!waiting.empty()) {
      std::vector<BoxPair> next;
      for (const BoxPair pair : waiting) {
        if (is_beyond(pair)) continue;
        if (!is_sure_to_split(pair)) {
          others.push_back(pair);
          continue;
        }
        if (in_blocks_) {
          sure.split.push_back(pair);
          sure.seconds += blocks_seconds(pair);
        }
        for_children(pair, [&](BoxPair children) { next.push_back(children); });
      }
      waiting = std::move(next);
    }
    const std::size_t parts = std::min(most_parts, others.size());
    found.resize(1 + parts);
#pragma omp parallel for schedule(dynamic, 1)
    for (std::size_t part = 0; part < parts; ++part) {
      FoundPairs own;
      const std::size_t first = part * others.size() / parts,
                        last = (part + 1) * others.size() / parts;
      for (std::size_t k = first; k < last; ++k) own.seconds += visit(others[k], own);
      found[1 + part] = std::move(own);
    }
    FoundPairs all = joined_pairs(found);
    all.seconds += paid_seconds_;
    return all;
  }

  /// From now on the leaves are those that these pairs need.
  void count_leaves(const FoundPairs& found) {
    const std::vector<std::uint8_t> is_split = split_boxes(tree_, found);
    for_levels_up(tree_, [&](std::int32_t b) {
      leaves_[b] = is_split[b] ? 0.0f : 1.0f;
      for (const std::int32_t child : tree_.boxes[b].child)
        if (is_split[b] && child >= 0) leaves_[b] += leaves_[child];
    });
  }

  /// From now on the splits of colleagues at these places share the rows that they have, and a row
  /// that none has is one pair's alone. If they are paid for, their rows take no more time.
  void share_among(const std::vector<std::uint32_t>& places, bool paid) {
    LargeVector<double> seconds(splits_.size());  // of the rows of each box
#pragma omp parallel for schedule(static)
    for (std::size_t split = 0; split < splits_.size(); ++split) {
      const std::int32_t b = splits_[split];
      std::array<int, orbits> sharers{};
      for (std::uint32_t some = places[b]; some; some &= some - 1) {
        const int place = std::countr_zero(some);
        for_shares(b, place, tree_.colleagues[b][place], [&](int k) { ++sharers[k]; });
      }
      seconds[split] = 0;
      for (int k = 0; k < orbits; ++k) {
        const int count = sharers[k];
        if (count > 0) seconds[split] += share_seconds(b, k);
        shares_[split][k] = count == 0 ? 1.0f : paid ? 0.0f : 1.0f / static_cast<float>(count);
      }
    }
    if (paid)
      paid_seconds_ = sum_of(static_cast<std::int64_t>(seconds.size()),
                             [&](std::int64_t split) { return seconds[split]; });
  }

 private:
  static double targets(const Box& box) { return box.targets.size(); }
  static double sources(const Box& box) { return box.sources.size(); }

  /// The share of a pair of colleagues in the time of each row of M2L of a box and, at 0, as orbit
  /// 0 has no row, in that of the box as a parent.
  using Shares = std::array<float, orbits>;

  /// Calls body(k) for the shares of box a that M2L from the children of its colleague b is in.
  template <class Body>
  void for_shares(std::int32_t a, int place, std::int32_t b, Body&& body) const {
    body(0);
    if (tree_.boxes[a].targets.size() == 0) return;
    for (std::uint32_t some = orbits_at(place, occupied_[b]) &
                              orbits_of_children_[static_cast<std::size_t>(tree_.boxes[a].level)];
         some; some &= some - 1)
      body(std::countr_zero(some));
  }

  std::vector<std::uint32_t> places_of_colleagues() const {
    std::vector<std::uint32_t> places(tree_.boxes.size());
#pragma omp parallel for schedule(static)
    for (const std::int32_t b : splits_)
      for (int place = 0; place < 27; ++place)
        if (tree_.colleagues[b][place] >= 0) places[b] |= 1u << place;
    return places;
  }

  /// What M2L from the children of b to those of a adds to the time, and what a's children do.
  double blocks_seconds(std::int32_t a, int place, std::int32_t b) const {
    double seconds = 0;
    const Shares& shares = shares_[number_[a]];
    for_shares(a, place, b, [&](int k) { seconds += shares[k] * share_seconds(a, k); });
    return seconds;
  }

  /// Of a row, or of a parent: M2L however few rows it has, and what its children do.
  double share_seconds(std::int32_t a, int k) const {
    return k > 0 ? costs_.m2l_row : parent_seconds_[number_[a]];
  }

  double parent_seconds(const Box& box) const {
    if (!has_expansions(tree_, box.level + 1, reach_)) return 0;
    const auto children =
        std::count_if(box.child.begin(), box.child.end(), [](std::int32_t c) { return c >= 0; });
    return costs_.box * static_cast<double>(children) + (box.targets.size() > 0) * costs_.parent;
  }

  double blocks_seconds(BoxPair pair) const {
    const int place = place_of(tree_, pair.a, pair.b);
    return blocks_seconds(pair.a, place, pair.b) +
           (pair.a == pair.b ? 0 : blocks_seconds(pair.b, 26 - place, pair.a));
  }

  /// Near lists are of leaves: a row and an entry for each that is known to be in the boxes.
  double direct_seconds(BoxPair pair) const {
    const Box &a = tree_.boxes[pair.a], &b = tree_.boxes[pair.b];
    const double in_a = leaves_[pair.a], in_b = leaves_[pair.b];
    if (pair.a == pair.b)
      return costs_.pair * targets(a) * sources(a) + costs_.near_source * in_a * sources(a) +
             costs_.near_box * in_a * in_a;
    const bool forth = a.targets.size() > 0 && b.sources.size() > 0,
               back = b.targets.size() > 0 && a.sources.size() > 0;
    const double of_pair = costs_.pair + (are_in_reach(pair) ? 0 : costs_.far_pair);
    return of_pair * (targets(a) * sources(b) + targets(b) * sources(a)) +
           costs_.near_source * (forth * in_a * sources(b) + back * in_b * sources(a)) +
           costs_.near_box * in_a * in_b * (forth + back);
  }

  /// Whether integers hold pairs of leaves of two boxes; those of a box that is split are taken for
  /// its children.
  bool are_in_reach(BoxPair pair) const {
    const Box &a = tree_.boxes[pair.a], &b = tree_.boxes[pair.b];
    const auto level_of_leaves = [&](std::int32_t box) {
      return tree_.boxes[box].level + (leaves_[box] > 1);
    };
    return integer_reach(a, b) &&
           std::abs(level_of_leaves(pair.a) - level_of_leaves(pair.b)) <= integer_reach.levels;
  }

  /// Points of so many leaves as kernels take them, in whole registers.
  double in_lanes(double points, double leaves) const {
    if (costs_.lanes == 1) return points;
    const double lanes = leaves * costs_.lanes;
    return lanes * std::ceil(points / lanes);
  }

  bool is_sure_to_split(BoxPair pair) const {
    return !tree_.boxes[pair.a].is_leaf && !tree_.boxes[pair.b].is_leaf &&
           !(pair.a != pair.b && is_far(pair)) &&
           direct_seconds(pair) > rows_of_sure_splits * (costs_.m2l_row + costs_.parent / 26);
  }

  bool is_far(BoxPair pair) const {
    const Box &a = tree_.boxes[pair.a], &b = tree_.boxes[pair.b];
    if (in_blocks_ && a.level == b.level)
      return !boxes_touch(Vec3d{static_cast<double>(a.cell[0] - b.cell[0]),
                                static_cast<double>(a.cell[1] - b.cell[1]),
                                static_cast<double>(a.cell[2] - b.cell[2])});
    return has_expansions(tree_, std::min(a.level, b.level), reach_) && is_accepted(a, b, theta_);
  }

  bool is_beyond(BoxPair pair) const {
    return are_beyond(tree_, tree_.boxes[pair.a], tree_.boxes[pair.b], reach_);
  }

  /// The pairs that a pair is split into: of boxes of one level both are, or else the one that is
  /// not a leaf. M2L in blocks has those that are far.
  template <class Body>
  void for_children(BoxPair pair, Body&& body) const {
    const Box &a = tree_.boxes[pair.a], &b = tree_.boxes[pair.b];
    if (in_blocks_ && !a.is_leaf && !b.is_leaf) {
      const auto& touching = touching_octants[place_of(tree_, pair.a, pair.b)];
      for (int octant = 0; octant < 8; ++octant) {
        const std::int32_t x = a.child[octant];
        if (x < 0) continue;
        for (std::uint32_t some = touching[octant]; some; some &= some - 1) {
          const std::int32_t y = b.child[std::countr_zero(some)];
          if (y >= 0 && (pair.a != pair.b || x <= y)) body(BoxPair{x, y});
        }
      }
      return;
    }
    const auto each = [&](const Box& box, std::int32_t self, auto&& of) {
      if (box.is_leaf) return of(self);
      for (const std::int32_t child : box.child)
        if (child >= 0) of(child);
    };
    each(a, pair.a, [&](std::int32_t x) {
      each(b, pair.b, [&](std::int32_t y) {
        if (pair.a != pair.b || x <= y) body(BoxPair{x, y});
      });
    });
  }

  /// Seconds of a pair by what is fastest, which is added to `found`.
  double visit(BoxPair pair, FoundPairs& found) const {
    const Box &a = tree_.boxes[pair.a], &b = tree_.boxes[pair.b];
    const bool same = pair.a == pair.b;
    if (targets(a) * sources(b) + targets(b) * sources(a) == 0) return 0;
    if (is_beyond(pair)) return 0;
    if (same && is_one_place(tree_, a, points_.sources, points_.targets())) return 0;
    const double direct = direct_seconds(pair);
    if (!same && is_far(pair)) return visit_far(pair, direct, found);
    if (a.is_leaf && b.is_leaf) {
      found.p2p.push_back(pair);
      return direct;
    }
    const FoundPairs::Sizes before = found.sizes();
    double seconds = 0;
    if (in_blocks_ && !a.is_leaf && !b.is_leaf) {
      seconds = blocks_seconds(pair);
      found.split.push_back(pair);
    }
    if (seconds < direct)
      for_children(pair, [&](BoxPair children) {
        if (seconds < direct) seconds += visit(children, found);
      });
    if (seconds < direct) return seconds;
    found.shrink(before);
    found.p2p.push_back(pair);
    return direct;
  }

  double visit_far(BoxPair pair, double direct, FoundPairs& found) const {
    const Box &a = tree_.boxes[pair.a], &b = tree_.boxes[pair.b];
    const bool one_level = a.level == b.level;
    if (in_blocks_ && one_level) return 0;  // its parents' split has it
    enum class Way { none, m2l, m2p, p2l };
    const auto way_of = [&](std::int32_t to, std::int32_t from) -> std::pair<Way, double> {
      const double of_targets = targets(tree_.boxes[to]), of_sources = sources(tree_.boxes[from]);
      if (of_targets * of_sources == 0) return {Way::none, 0};
      const double m2l = one_level ? costs_.m2l_pair : std::numeric_limits<double>::infinity(),
                   m2p = costs_.m2p_target * in_lanes(of_targets, leaves_[to]),
                   p2l = costs_.p2l_source * in_lanes(of_sources, 1);
      if (m2l <= m2p && m2l <= p2l) return {Way::m2l, m2l};
      return m2p <= p2l ? std::pair(Way::m2p, m2p) : std::pair(Way::p2l, p2l);
    };
    const auto [forth, seconds_forth] = way_of(pair.a, pair.b);
    const auto [back, seconds_back] = way_of(pair.b, pair.a);
    if (direct <= seconds_forth + seconds_back) {
      found.p2p.push_back(pair);
      return direct;
    }
    const auto add = [&](Way way, BoxPair directed) {
      if (way == Way::m2l) found.m2l.push_back(directed);
      if (way == Way::m2p) found.m2p.push_back(directed);
      if (way == Way::p2l) found.p2l.push_back(directed);
    };
    add(forth, pair);
    add(back, {pair.b, pair.a});
    return seconds_forth + seconds_back;
  }

  const Octree& tree_;
  const PointTree& points_;
  double theta_, reach_;
  bool in_blocks_;
  HybridCosts costs_;
  std::vector<std::uint8_t> occupied_;
  std::vector<std::uint32_t> orbits_of_children_;  ///< [levels]: those within reach
  std::vector<float> leaves_;                      ///< in each box, as far as they are known
  std::vector<std::int32_t> splits_;               ///< boxes that are not leaves
  LargeVector<std::int32_t> number_;               ///< of each of them, among them
  LargeVector<Shares> shares_;                     ///< of each of them
  LargeVector<double> parent_seconds_;
  double paid_seconds_ = 0;
};

}  // namespace

std::vector<std::uint8_t> split_boxes(const Octree& tree, const FoundPairs& found) {
  std::vector<std::uint8_t> is_split(tree.boxes.size());
  const auto split = [&](std::int32_t box) {
    if (box < 0) return;
#pragma omp atomic write
    is_split[box] = 1;
  };
  for (const auto* pairs : {&found.p2p, &found.m2l, &found.m2p, &found.p2l}) {
#pragma omp parallel for schedule(static)
    for (const BoxPair& pair : *pairs) {
      split(tree.boxes[pair.a].parent);
      split(tree.boxes[pair.b].parent);
    }
  }
#pragma omp parallel for schedule(static)
  for (const BoxPair& pair : found.split) {
    split(pair.a);
    split(pair.b);
  }
  for_levels_up(tree, [&](std::int32_t b) {
    for (const std::int32_t child : tree.boxes[b].child)
      if (child >= 0 && is_split[child]) is_split[b] = 1;
  });
  return is_split;
}

std::vector<std::uint32_t> places_of_splits(const Octree& tree, const BoxPairs& splits) {
  std::vector<std::uint32_t> places(tree.boxes.size());
#pragma omp parallel for schedule(static)
  for (const BoxPair& pair : splits) {
    const int place = place_of(tree, pair.a, pair.b);
#pragma omp atomic
    places[pair.a] |= 1u << place;
#pragma omp atomic
    places[pair.b] |= 1u << (26 - place);
  }
  return places;
}

int place_of(const Octree& tree, std::int32_t a, std::int32_t b) {
  const Box &from = tree.boxes[a], &to = tree.boxes[b];
  int place = 0;
  for (int axis = 0; axis < 3; ++axis) place = 3 * place + to.cell[axis] - from.cell[axis] + 1;
  return place;
}

FoundPairs::Sizes FoundPairs::sizes() const {
  Sizes sizes{};
  for (std::size_t k = 0; k < sizes.size(); ++k) sizes[k] = (this->*kinds[k]).size();
  return sizes;
}

void FoundPairs::shrink(const Sizes& sizes) {
  for (std::size_t k = 0; k < sizes.size(); ++k) (this->*kinds[k]).resize(sizes[k]);
}

FoundPairs traverse_pairs(const PointTree& tree, double theta, double reach,
                          const HybridCosts& costs) {
  Traversal traversal(tree, theta, reach, costs);
  FoundPairs found = traversal.run();
  if (theta < theta_of_blocks) return found;
  // Who shares a row is known when its pairs are. So a second traversal knows better which rows
  // pay, and a third spares the pairs, and entries of near lists, that rows can which are there
  // anyway.
  traversal.share_among(places_of_splits(tree.octree, found.split), false);
  found = traversal.run();
  traversal.share_among(places_of_splits(tree.octree, found.split), true);
  traversal.count_leaves(found);
  return traversal.run();
}

}  // namespace fmbem::fmm
