#include "fmbem/fmm/lists/dual_traversal.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "fmbem/fmm/expansion/translations.hpp"
#include "fmbem/fmm/lists/m2l_rows.hpp"
#include "fmbem/fmm/lists/near_lists.hpp"
#include "fmbem/fmm/lists/treecode_walk.hpp"

namespace fmbem::fmm {
namespace {

/// Pairs whose direct sum takes so many times as long as all 26 rows of M2L of a parent are split
/// without a look at what that costs.
constexpr double rows_of_sure_splits = 50 * 26;

class Traversal {
 public:
  Traversal(const PointTree& tree, double theta, const HybridCosts& costs)
      : tree_(tree.octree),
        points_(tree),
        theta_(theta),
        in_blocks_(theta >= theta_of_blocks),
        costs_(costs),
        leaves_(tree_.boxes.size(), 1.0f) {
    if (in_blocks_) share_among_all();
  }

  FoundPairs run() const {
    FoundPairs all;
    std::vector<BoxPair> waiting{{0, 0}}, tasks;
    while (!waiting.empty()) {
      std::vector<BoxPair> next;
      for (const BoxPair pair : waiting) {
        if (!is_sure_to_split(pair)) {
          tasks.push_back(pair);
          continue;
        }
        if (in_blocks_) {
          all.split.push_back(pair);
          all.seconds += blocks_seconds(pair);
        }
        for_children(pair, [&](BoxPair children) { next.push_back(children); });
      }
      waiting = std::move(next);
    }
    std::vector<FoundPairs> found(tasks.size());
#pragma omp parallel for schedule(dynamic, 1)
    for (std::size_t k = 0; k < tasks.size(); ++k) found[k].seconds = visit(tasks[k], found[k]);
    for (const FoundPairs& some : found) all.append(some);
    all.seconds += paid_seconds_;
    return all;
  }

  /// From now on the leaves are those that these pairs need.
  void count_leaves(const FoundPairs& found) {
    const std::vector<std::uint8_t> is_split = split_boxes(tree_, found);
    for (std::size_t b = tree_.boxes.size(); b-- > 0;) {
      leaves_[b] = is_split[b] ? 0.0f : 1.0f;
      for (const std::int32_t child : tree_.boxes[b].child)
        if (is_split[b] && child >= 0) leaves_[b] += leaves_[child];
    }
  }

  /// From now on those splits share the rows that they have, and a row that none has is one pair's
  /// alone. If they are paid for, their rows take no more time.
  void share_among(const std::vector<BoxPair>& splits, bool paid) {
    std::vector<std::array<int, orbits>> sharers(tree_.boxes.size());
    for (const BoxPair pair : splits) {
      for_shares(pair.a, pair.b, [&](int k) { ++sharers[pair.a][k]; });
      if (pair.a != pair.b) for_shares(pair.b, pair.a, [&](int k) { ++sharers[pair.b][k]; });
    }
    for (std::size_t b = 0; b < sharers.size(); ++b)
      for (int k = 0; k < orbits; ++k) {
        const int count = sharers[b][k];
        if (paid && count > 0) paid_seconds_ += share_seconds(static_cast<std::int32_t>(b), k);
        shares_[b][k] = count == 0 ? 1.0f : paid ? 0.0f : 1.0f / static_cast<float>(count);
      }
  }

 private:
  static double targets(const Box& box) { return box.targets.size(); }
  static double sources(const Box& box) { return box.sources.size(); }

  /// The share of a pair of colleagues in the time of each row of M2L of a box and, at 0, as orbit
  /// 0 has no row, in that of the box as a parent.
  using Shares = std::array<float, orbits>;

  /// Calls body(k) for the shares of box a that M2L from the children of b is in.
  template <class Body>
  void for_shares(std::int32_t a, std::int32_t b, Body&& body) const {
    body(0);
    if (tree_.boxes[a].targets.size() == 0) return;
    for (std::uint32_t some = orbits_at(place_of(tree_, a, b), occupied_[b]); some;
         some &= some - 1)
      body(std::countr_zero(some));
  }

  /// At first all colleagues share a row that have sources in its orbit.
  void share_among_all() {
    occupied_ = occupied_octants(tree_);
    shares_.resize(tree_.boxes.size());
#pragma omp parallel for schedule(static) if (tree_.boxes.size() > 10'000)
    for (std::size_t b = 0; b < tree_.boxes.size(); ++b) {
      std::array<int, orbits> sharers{};
      for (const std::int32_t uncle : tree_.colleagues[b])
        if (uncle >= 0)
          for_shares(static_cast<std::int32_t>(b), uncle, [&](int k) { ++sharers[k]; });
      for (int k = 0; k < orbits; ++k)
        shares_[b][k] = 1.0f / static_cast<float>(std::max(1, sharers[k]));
    }
  }

  /// What M2L from the children of b to those of a adds to the time, and what a's children do.
  double blocks_seconds(std::int32_t a, std::int32_t b) const {
    double seconds = 0;
    for_shares(a, b, [&](int k) { seconds += shares_[a][k] * share_seconds(a, k); });
    return seconds;
  }

  /// Of a row, or of a parent: M2L however few rows it has, and what its children do.
  double share_seconds(std::int32_t a, int k) const {
    if (k > 0) return costs_.m2l_row;
    const Box& box = tree_.boxes[a];
    const auto children =
        std::count_if(box.child.begin(), box.child.end(), [](std::int32_t c) { return c >= 0; });
    return costs_.box * static_cast<double>(children) + (box.targets.size() > 0) * costs_.parent;
  }

  double blocks_seconds(BoxPair pair) const {
    return blocks_seconds(pair.a, pair.b) + (pair.a == pair.b ? 0 : blocks_seconds(pair.b, pair.a));
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
    return costs_.pair * (targets(a) * sources(b) + targets(b) * sources(a)) +
           costs_.near_source * (forth * in_a * sources(b) + back * in_b * sources(a)) +
           costs_.near_box * in_a * in_b * (forth + back);
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
    return is_accepted(tree_, a, b, theta_);
  }

  /// The pairs that a pair is split into: of boxes of one level both are, or else the one that is
  /// not a leaf.
  template <class Body>
  void for_children(BoxPair pair, Body&& body) const {
    const Box &a = tree_.boxes[pair.a], &b = tree_.boxes[pair.b];
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
    if (same && is_one_place(tree_, a, points_.sources, points_.targets())) return 0;
    const double direct = direct_seconds(pair);
    if (!same && is_far(pair)) return visit_far(pair, direct, found);
    double seconds = std::numeric_limits<double>::infinity();
    const FoundPairs::Sizes before = found.sizes();
    if (!a.is_leaf || !b.is_leaf) {
      const bool both = !a.is_leaf && !b.is_leaf;
      seconds = both && in_blocks_ ? blocks_seconds(pair) : 0;
      if (both && in_blocks_) found.split.push_back(pair);
      if (seconds < direct)
        for_children(pair, [&](BoxPair children) {
          if (seconds < direct) seconds += visit(children, found);
        });
    }
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
    const auto way_of = [&](const Box& to, const Box& from) -> std::pair<Way, double> {
      if (targets(to) * sources(from) == 0) return {Way::none, 0};
      const double m2l = one_level ? costs_.m2l_pair : std::numeric_limits<double>::infinity(),
                   m2p = costs_.m2p_target * targets(to), p2l = costs_.p2l_source * sources(from);
      if (m2l <= m2p && m2l <= p2l) return {Way::m2l, m2l};
      return m2p <= p2l ? std::pair(Way::m2p, m2p) : std::pair(Way::p2l, p2l);
    };
    const auto [forth, seconds_forth] = way_of(a, b);
    const auto [back, seconds_back] = way_of(b, a);
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
  double theta_;
  bool in_blocks_;
  HybridCosts costs_;
  std::vector<std::uint8_t> occupied_;
  std::vector<float> leaves_;  ///< in each box, as far as they are known
  std::vector<Shares> shares_;
  double paid_seconds_ = 0;
};

constexpr std::vector<BoxPair> FoundPairs::*kinds[] = {
    &FoundPairs::p2p, &FoundPairs::split, &FoundPairs::m2l, &FoundPairs::m2p, &FoundPairs::p2l};

}  // namespace

std::vector<std::uint8_t> split_boxes(const Octree& tree, const FoundPairs& found) {
  std::vector<std::uint8_t> is_split(tree.boxes.size());
  for (const auto* pairs : {&found.p2p, &found.m2l, &found.m2p, &found.p2l})
    for (const auto [a, b] : *pairs)
      for (const std::int32_t parent : {tree.boxes[a].parent, tree.boxes[b].parent})
        if (parent >= 0) is_split[parent] = true;
  for (const auto [a, b] : found.split) is_split[a] = is_split[b] = true;
  for (std::size_t b = tree.boxes.size(); b-- > 1;)  // children come after their parents
    if (is_split[b]) is_split[tree.boxes[b].parent] = true;
  return is_split;
}

int place_of(const Octree& tree, std::int32_t a, std::int32_t b) {
  const Box &from = tree.boxes[a], &to = tree.boxes[b];
  int place = 0;
  for (int axis = 0; axis < 3; ++axis) place = 3 * place + to.cell[axis] - from.cell[axis] + 1;
  return place;
}

void FoundPairs::append(const FoundPairs& other) {
  for (const auto kind : kinds)
    (this->*kind).insert((this->*kind).end(), (other.*kind).begin(), (other.*kind).end());
  seconds += other.seconds;
}

FoundPairs::Sizes FoundPairs::sizes() const {
  Sizes sizes{};
  for (std::size_t k = 0; k < sizes.size(); ++k) sizes[k] = (this->*kinds[k]).size();
  return sizes;
}

void FoundPairs::shrink(const Sizes& sizes) {
  for (std::size_t k = 0; k < sizes.size(); ++k) (this->*kinds[k]).resize(sizes[k]);
}

FoundPairs traverse_pairs(const PointTree& tree, double theta, const HybridCosts& costs) {
  Traversal traversal(tree, theta, costs);
  FoundPairs found = traversal.run();
  if (theta < theta_of_blocks) return found;
  // Who shares a row is known when its pairs are. So a second traversal knows better which rows
  // pay, and a third spares the pairs, and entries of near lists, that rows can which are there
  // anyway.
  traversal.share_among(found.split, false);
  found = traversal.run();
  traversal.share_among(found.split, true);
  traversal.count_leaves(found);
  return traversal.run();
}

}  // namespace fmbem::fmm
