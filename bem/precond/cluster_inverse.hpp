#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/precond/cluster_tree.hpp"
#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {

struct ClusterInverseOptions {
  int max_leaf = 64;     ///< panels whose rows share one cut
  double opening = 0.7;  ///< θ > 0: clusters of a radius up to θ times their distance stay closed
  double nearness = 0.5;  ///< κ: and those of a radius up to κ times that of the leaf's panels
  int most_unknowns = 400;
};

/// The same options. Throws InputError for those out of range.
const ClusterInverseOptions& checked(const ClusterInverseOptions& options);

/// An approximate inverse of the single layer V, the preconditioner of its systems.
///
/// The rows of each leaf of panels come from one small dense system whose unknowns are charges: of
/// the leaf's panels and those close by one by one, of clusters of panels farther away, the coarser
/// the farther, so that every row sees the whole surface. Its equations are that the mean potential
/// of each of them is that of the right-hand side; its entries those of the smooth kernel of
/// Cluster, or exact ones for panels that touch. What comes out for the leaf's own panels is kept:
/// so a row acts on means over clusters. Rows of the inverse from
/// small systems about each panel are Vavasis' (1992), overlapping ones those of Nabors et al.
/// (1994); what lies beyond is left out there (docs/decisions.md compares). O(n) memory, work and,
/// to apply, about 160 n operations.
class ClusterInverse final : public ApproximateInverse {
 public:
  /// The panels need not outlive it. Throws InputError for options out of range.
  explicit ClusterInverse(const Panels& panels, const ClusterInverseOptions& options = {});
  /// The same where their triangles are made already.
  ClusterInverse(const Panels& panels, std::span<const Triangle> triangles,
                 const ClusterInverseOptions& options = {});

  std::string name() const override { return "cluster inverse"; }
  std::int64_t memory_bytes() const override;

  std::size_t size() const override { return tree_.nodes[0].size(); }
  std::size_t leaves() const { return tree_.leaves.size(); }
  double mean_unknowns() const;  ///< of the small systems

 protected:
  /// The same bits for any number of threads.
  void multiply(const double* x, double* y, const Product& product) const override;

 private:
  class Assembly;
  std::span<const std::int32_t> cut_of(std::size_t leaf) const;
  /// [nodes]: area-weighted means over all nodes of the tree.
  void take_means(const double* x, double* means) const;

  ClusterTree tree_;
  double extent_;
  std::vector<std::int64_t> cut_begin_;  ///< [leaves + 1]
  std::vector<std::int32_t> cut_;        ///< nodes of the tree
  std::vector<std::int64_t> row_begin_;  ///< [leaves + 1]
  Buffer<float> rows_;  ///< leaf after leaf, [cut][panels of the leaf], times the extent
};

}  // namespace fmbem
