#pragma once

// Entries by halves between nodes of mixed rows, shared by CPU and GPU.
#include "fmbem/bem/precond/mixed_kernel.hpp"

namespace fmbem {

/// Nodes of trees over mixed rows, as their entries need them. Panels has triangle(i), and [i] with
/// a centroid and a radius.
template <class Panels>
struct RowNodes {
  const Cluster* nodes;
  const MeanRow* means;          ///< [nodes]
  const std::int32_t* panel_at;  ///< [places], or null: each at the place of its number
  const double *alpha, *beta;    ///< [panels]
  Panels panels;
  /// [nodes]: two are close if their centroids are less than these together apart.
  const double* reach;

  FMBEM_HD std::int32_t panel_of(const Cluster& node) const {
    return panel_at ? panel_at[node.begin] : node.begin;
  }
  /// Whether rows have K', which all of a tree have or none.
  FMBEM_HD bool has_flux(const Cluster& node) const {
    const std::int32_t i = panel_of(node);
    return beta[i] != 0 || alpha[i] == 0;
  }
  FMBEM_HD bool have_halves(std::int32_t k, std::int32_t l) const {
    const Cluster &a = nodes[k], &b = nodes[l];
    if (a.is_panel() && b.is_panel()) return false;
    const double both = reach[k] + reach[l];
    return norm2(a.centroid - b.centroid) < both * both;
  }
  /// Whether the halves are taken of l, not of k: of the node that reaches farther, or of the first
  /// one if both reach as far.
  FMBEM_HD bool splits_other(std::int32_t k, std::int32_t l) const {
    const Cluster &a = nodes[k], &b = nodes[l];
    if (a.is_panel() || b.is_panel()) return a.is_panel();
    return reach[k] < reach[l] || (reach[k] == reach[l] && l < k);
  }
  FMBEM_HD double left_share(std::int32_t k) const {
    return nodes[nodes[k].left].area / nodes[k].area;
  }
  /// Whether they are panels that take exact entries.
  FMBEM_HD bool touch(std::int32_t k, std::int32_t l) const {
    const Cluster &a = nodes[k], &b = nodes[l];
    if (k == l || !a.is_panel() || !b.is_panel()) return false;
    const std::int32_t i = panel_of(a), j = panel_of(b);
    if (!fmbem::touch(panels[i], panels[j])) return false;
    return (!a.is_long() && !b.is_long()) ||
           triangles_touch(panels.triangle(i), panels.triangle(j));
  }
  /// Of panel `to` by panel `from`.
  FMBEM_HD double exact(std::int32_t to, std::int32_t from) const {
    return exact_entry(alpha[to], beta[to], panels.triangle(to), panels.triangle(from));
  }
  /// Of nodes that are panels.
  FMBEM_HD MutualEntries exact_pair(std::int32_t k, std::int32_t l) const {
    const std::int32_t i = panel_of(nodes[k]), j = panel_of(nodes[l]);
    return {exact(i, j), exact(j, i)};
  }
  FMBEM_HD MutualEntries smooth(std::int32_t k, std::int32_t l) const {
    if (k != l) return smooth_entries(nodes[k], means[k], nodes[l], means[l]);
    const double own = own_entry(nodes[k], means[k]);
    return {own, own};
  }
  FMBEM_HD MutualEntries undivided(std::int32_t k, std::int32_t l) const {
    return touch(k, l) ? exact_pair(k, l) : smooth(k, l);
  }
};

/// A radius of a node times the reach of close entries.
FMBEM_HD inline double reach_of(const Cluster& node, double reach) {
  return reach * (node.radius + norm(node.half));
}

FMBEM_HD inline MutualEntries swapped(MutualEntries entries) { return {entries.lk, entries.kl}; }

/// e(k, l) and e(l, k) from those of k's halves, of which the left one has this share of the area.
FMBEM_HD inline MutualEntries of_halves(double share, MutualEntries left, MutualEntries right) {
  return {share * left.kl + (1 - share) * right.kl, left.lk + right.lk};
}
/// e(k, k) from the halves' own entries, and those between them.
FMBEM_HD inline MutualEntries of_own_halves(double share, MutualEntries left, MutualEntries mutual,
                                            MutualEntries right) {
  const double own = share * (left.kl + mutual.kl) + (1 - share) * (mutual.lk + right.kl);
  return {own, own};
}

/// Two nodes.
struct NodePair {
  std::int32_t k, l;
};
/// What is known of a pair: its entries, or, if these are not, that it is `divided` into two, of
/// which those of the pair are made.
struct PairStep {
  bool divided;
  MutualEntries entries;
  NodePair halves[2];
};

/// known(k, l, entries) is asked for close nodes and for panels. Nodes that are not close, and
/// those that may not be divided, have the entries others(k, l).
template <class Nodes, class Known, class Others>
FMBEM_HD PairStep pair_step(const Nodes& of, NodePair pair, bool may_divide, Known&& known,
                            Others&& others) {
  const auto [k, l] = pair;
  const Cluster &a = of.nodes[k], &b = of.nodes[l];
  const bool is_close = of.have_halves(k, l);
  PairStep step{};
  if ((is_close || (a.is_panel() && b.is_panel())) && known(k, l, step.entries)) return step;
  step.divided = is_close && may_divide;
  if (!step.divided) {
    step.entries = others(k, l);
  } else if (of.splits_other(k, l)) {
    step.halves[0] = {k, b.left};
    step.halves[1] = {k, b.right};
  } else {
    step.halves[0] = {a.left, l};
    step.halves[1] = {a.right, l};
  }
  return step;
}

/// e(k, l) and e(l, k), k ≠ l or known, from those of their halves and so on: as halves' shares
/// multiply,
///
///     e(k, l) = Σ A_k'/A_k e(k', l'),   e(l, k) = Σ A_l'/A_l e(l', k').
template <class Nodes>
FMBEM_HD void add_share(const Nodes& of, NodePair whole, NodePair part, MutualEntries entries,
                        MutualEntries& sum) {
  sum.kl += of.nodes[part.k].area / of.nodes[whole.k].area * entries.kl;
  sum.lk += of.nodes[part.l].area / of.nodes[whole.l].area * entries.lk;
}

/// That sum, pair after pair.
class EntriesBetween {
 public:
  FMBEM_HD void start(NodePair whole) {
    whole_ = at_ = whole;
    count_ = 0;
    sum_ = {0, 0};
  }
  /// Goes on by one pair of which step_of(pair, may_divide) is known; whether there are more.
  template <class Nodes, class StepOf>
  FMBEM_HD bool go_on(const Nodes& of, StepOf&& step_of) {
    const PairStep step = step_of(at_, count_ < most_pending);
    if (step.divided) {
      at_ = step.halves[0];
      pending_[count_++] = step.halves[1];
      return true;
    }
    add_share(of, whole_, at_, step.entries, sum_);
    if (count_ == 0) return false;
    at_ = pending_[--count_];
    return true;
  }
  /// When there are no more.
  FMBEM_HD MutualEntries sum() const { return sum_; }

 private:
  // As deep as trees are, unless panels lie on top of each other; others() will do there.
  static constexpr int most_pending = 64;
  NodePair whole_, at_, pending_[most_pending];
  int count_;
  MutualEntries sum_;
};

}  // namespace fmbem
