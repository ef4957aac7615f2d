#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/bem/precond/close_kernel.hpp"
#include "fmbem/bem/precond/cluster_tree.hpp"

namespace fmbem {

/// Entries e(k, l) of rows with K' between nodes close to each other. By the smooth kernel a sheet
/// has no flux through one that faces it, where in truth there is a half. So an entry is made of
/// those of the halves of whichever node reaches farther,
///
///     e(k, l) = a e(k₁, l) + b e(k₂, l)   or   e(k, l₁) + e(k, l₂),
///
/// a, b being the shares of k's halves in its area. This goes down to panels that touch, which have
/// exact entries, and to nodes that are not close, which have those of the smooth kernel. Entries
/// between nodes of about the same size are kept; there are O(n).
class CloseEntries {
 public:
  /// Nodes are close if their centroids are less than `reach` times the sum of their radii apart.
  CloseEntries(const ClusterTree& tree, std::span<const Triangle> panels, const MixedRows& rows,
               std::span<const MeanRow> means, double reach);

  MutualEntries between(std::int32_t k, std::int32_t l) const;

  struct Triangles {
    const Triangle* all;
    const Triangle& triangle(std::int32_t i) const { return all[i]; }
    const Triangle& operator[](std::int32_t i) const { return all[i]; }
  };
  const RowNodes<Triangles>& nodes() const { return of_; }

 private:
  /// Those that are kept, k ≤ l.
  struct Pair {
    std::int32_t k, l;
    float kl, lk;
  };
  using Found = std::vector<std::vector<Pair>>;  ///< by each thread

  MutualEntries find(std::int32_t k, std::int32_t l, Found& found) const;
  void keep(const Found& found);

  std::vector<double> reach_;  ///< [nodes]
  RowNodes<Triangles> of_;
  std::vector<std::int64_t> begin_;  ///< [nodes + 1]
  std::vector<Pair> pairs_;          ///< by k, then by l
};

}  // namespace fmbem
