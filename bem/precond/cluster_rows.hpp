#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "fmbem/bem/layer/linear_map.hpp"
#include "fmbem/bem/precond/cluster_tree.hpp"
#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"

namespace fmbem {

struct ClusterInverseOptions {
  int max_leaf = 64;     ///< panels whose rows share one cut
  double opening = 0.7;  ///< θ > 0: clusters of a radius up to θ times their distance stay closed
  double nearness = 0.5;  ///< κ: and those of a radius up to κ times that of the leaf's panels
  int most_unknowns = 400;
};

/// The same options. Throws InputError for those out of range.
const ClusterInverseOptions& checked(const ClusterInverseOptions& options);

/// The rows of an approximate inverse. Those of a leaf act on means over the nodes of its cut: leaf
/// after leaf, [cut][panels of the leaf]. They are stored times `unit`, by which the product
/// divides. Complex rows are two parts, real and imaginary, one behind the other. Where panels have
/// several fields, such as potential and flux, there are that many equations for each node and
/// unknowns for each panel: [cut][fields][panels of the leaf][fields].
class ClusterRows {
 public:
  /// Makes the cuts, and room for the rows. Leaves of more than smallest_leaf panels are halved
  /// where they would have more than most_unknowns, for example because their panels are on both
  /// sides of other bodies. Cuts open nodes that have to be. Throws ResourceError where memory does
  /// not suffice.
  ClusterRows(ClusterTree tree, const ClusterInverseOptions& options, double unit,
              int smallest_leaf, const std::function<bool(const Cluster&)>& has_to_open = {},
              int parts = 1, int fields = 1);

  /// Fills in the rows. Each thread has one solver = make(), whose solver.solve(cut, leaf, rows) is
  /// false where a system is singular: InputError.
  template <class Make>
  void solve(Make&& make) {
    const OneBlasThread one_blas_thread;
    constexpr auto none = std::numeric_limits<std::int32_t>::max();
    std::int32_t singular = none;
#pragma omp parallel reduction(min : singular)
    {
      auto solver = make();
#pragma omp for schedule(dynamic, 16)
      for (std::size_t f = 0; f < leaves(); ++f) {
        const Cluster& leaf = tree_.nodes[tree_.leaves[f]];
        if (!solver.solve(cut_of(f), leaf, rows_.data() + row_begin_[f]))
          singular = std::min(singular, tree_.panel(leaf.begin));
      }
    }
    FMBEM_REQUIRE(singular == none, "the preconditioner's system at panel "
                                        << singular << " is singular: check the mesh");
  }

  /// y = R x by one part, for LinearMap::multiply(): [vectors][n][fields]. The same bits for any
  /// number of threads.
  void multiply(const double* x, double* y, const Product& product, int part = 0) const;

  const ClusterTree& tree() const { return tree_; }
  // For copies on a GPU.
  double unit() const { return unit_; }
  int fields() const { return fields_; }
  std::span<const std::int64_t> cut_begin() const { return cut_begin_; }  ///< [leaves + 1]
  std::span<const std::int32_t> cuts() const { return cut_; }
  std::span<const std::int64_t> row_begin() const { return row_begin_; }  ///< [leaves + 1]
  const float* rows() const { return rows_.data(); }
  /// Entries of one part.
  std::int64_t part_size() const { return row_begin_.back(); }
  std::span<const std::int32_t> cut_of(std::size_t leaf) const {
    return std::span(cut_).subspan(cut_begin_[leaf], cut_begin_[leaf + 1] - cut_begin_[leaf]);
  }
  std::size_t leaves() const { return tree_.leaves.size(); }
  double mean_unknowns() const {
    return static_cast<double>(cut_.size()) / static_cast<double>(leaves());
  }
  std::int64_t memory_bytes() const;

 private:
  /// [nodes][fields]: area-weighted means over all nodes of the tree.
  void take_means(const double* x, std::span<double> means) const;

  ClusterTree tree_;
  double unit_;
  int fields_;
  std::vector<std::int64_t> cut_begin_;  ///< [leaves + 1]
  std::vector<std::int32_t> cut_;        ///< nodes of the tree
  std::vector<std::int64_t> row_begin_;  ///< [leaves + 1]
  Buffer<float> rows_;
};

}  // namespace fmbem
