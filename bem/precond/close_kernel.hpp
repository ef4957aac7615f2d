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

/// e(k, l) and e(l, k), k ≠ l or known, from those of their halves and so on: as halves' shares
/// multiply,
///
///     e(k, l) = Σ A_k'/A_k e(k', l'),   e(l, k) = Σ A_l'/A_l e(l', k').
///
/// This goes down to what known(k, l, entries) finds, which is asked for close nodes and for
/// panels, and to others(k, l).
template <class Nodes, class Known, class Others>
FMBEM_HD MutualEntries entries_between(const Nodes& of, std::int32_t k, std::int32_t l,
                                       Known&& known, Others&& others) {
  struct Pair {
    std::int32_t k, l;
  };
  // As deep as trees are, unless panels lie on top of each other; others() will do there.
  constexpr int most_pending = 64;
  Pair pending[most_pending], at{k, l};
  int count = 0;
  MutualEntries sum{0, 0};
  for (;;) {
    const Cluster &a = of.nodes[at.k], &b = of.nodes[at.l];
    const bool divides = of.have_halves(at.k, at.l);
    MutualEntries found;
    if (!(divides || (a.is_panel() && b.is_panel())) || !known(at.k, at.l, found)) {
      if (divides && count < most_pending) {
        if (of.splits_other(at.k, at.l)) {
          pending[count++] = {at.k, b.right};
          at.l = b.left;
        } else {
          pending[count++] = {a.right, at.l};
          at.k = a.left;
        }
        continue;
      }
      found = others(at.k, at.l);
    }
    sum.kl += a.area / of.nodes[k].area * found.kl;
    sum.lk += b.area / of.nodes[l].area * found.lk;
    if (count == 0) return sum;
    at = pending[--count];
  }
}

}  // namespace fmbem
