#pragma once

// Entries by halves between nodes of mixed rows, shared by CPU and GPU.
#include "fmbem/bem/precond/mixed_kernel.hpp"

namespace fmbem {

/// Nodes of trees over mixed rows, as their entries need them. Panels has triangle(i).
template <class Panels>
struct RowNodes {
  const Cluster* nodes;
  const MeanRow* means;          ///< [nodes]
  const std::int32_t* panel_at;  ///< [places], or null: each at the place of its number
  const double *alpha, *beta;    ///< [panels]
  Panels panels;
  double reach;  ///< of close entries, in radii

  FMBEM_HD std::int32_t panel_of(const Cluster& node) const {
    return panel_at ? panel_at[node.begin] : node.begin;
  }
  /// Whether rows have K', which all of a tree have or none.
  FMBEM_HD bool has_flux(const Cluster& node) const {
    const std::int32_t i = panel_of(node);
    return beta[i] != 0 || alpha[i] == 0;
  }
  /// Two nodes are close if their centroids are less than these together apart.
  FMBEM_HD double reach_of(const Cluster& node) const {
    return reach * (node.radius + norm(node.half));
  }
  FMBEM_HD bool have_halves(std::int32_t k, std::int32_t l) const {
    const Cluster &a = nodes[k], &b = nodes[l];
    if (a.is_panel() && b.is_panel()) return false;
    const double both = reach_of(a) + reach_of(b);
    return norm2(a.centroid - b.centroid) < both * both;
  }
  /// Whether the halves are taken of l, not of k: of the node that reaches farther, or of the first
  /// one if both reach as far.
  FMBEM_HD bool splits_other(std::int32_t k, std::int32_t l) const {
    const Cluster &a = nodes[k], &b = nodes[l];
    if (a.is_panel() || b.is_panel()) return a.is_panel();
    const double of_a = reach_of(a), of_b = reach_of(b);
    return of_a < of_b || (of_a == of_b && l < k);
  }
  FMBEM_HD double left_share(std::int32_t k) const {
    return nodes[nodes[k].left].area / nodes[k].area;
  }
  /// Of panel `to` by panel `from`.
  FMBEM_HD double exact(std::int32_t to, std::int32_t from) const {
    return exact_entry(alpha[to], beta[to], panels.triangle(to), panels.triangle(from));
  }
  /// Exact for panels that touch, else by the smooth kernel.
  FMBEM_HD MutualEntries undivided(std::int32_t k, std::int32_t l) const {
    const Cluster &a = nodes[k], &b = nodes[l];
    if (k == l) {
      const double own = own_entry(a, means[k]);
      return {own, own};
    }
    if (a.is_panel() && b.is_panel()) {
      const std::int32_t i = panel_of(a), j = panel_of(b);
      if (triangles_touch(panels.triangle(i), panels.triangle(j)))
        return {exact(i, j), exact(j, i)};
    }
    return smooth_entries(a, means[k], b, means[l]);
  }
};

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

/// e(k, l) and e(l, k), k ≠ l or known, from those of their halves and so on, down to pairs without
/// halves and those that known(k, l, entries) finds: as halves' shares multiply,
///
///     e(k, l) = Σ A_k'/A_k e(k', l'),   e(l, k) = Σ A_l'/A_l e(l', k').
template <class Nodes, class Known>
FMBEM_HD MutualEntries entries_between(const Nodes& of, std::int32_t k, std::int32_t l,
                                       Known&& known) {
  struct Pair {
    std::int32_t k, l;
  };
  // As deep as trees are, unless panels lie on top of each other; the smooth kernel will do there.
  constexpr int most_pending = 64;
  Pair pending[most_pending], at{k, l};
  int count = 0;
  MutualEntries sum{0, 0};
  for (;;) {
    MutualEntries found;
    const bool divides = of.have_halves(at.k, at.l);
    if (!divides || !known(at.k, at.l, found)) {
      if (divides && count < most_pending) {
        if (of.splits_other(at.k, at.l)) {
          pending[count++] = {at.k, of.nodes[at.l].right};
          at.l = of.nodes[at.l].left;
        } else {
          pending[count++] = {of.nodes[at.k].right, at.l};
          at.k = of.nodes[at.k].left;
        }
        continue;
      }
      found = of.undivided(at.k, at.l);
    }
    sum.kl += of.nodes[at.k].area / of.nodes[k].area * found.kl;
    sum.lk += of.nodes[at.l].area / of.nodes[l].area * found.lk;
    if (count == 0) return sum;
    at = pending[--count];
  }
}

}  // namespace fmbem
