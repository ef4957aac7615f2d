#pragma once

#include <cstdint>

#include "fmbem/bem/precond/cuda/cluster_systems.cuh"

namespace fmbem::cuda::bem {

/// What a node gives to its parent's mean.
struct NodeSpan {
  std::int32_t begin, end;
  double area;
};

/// A node above the leaves, whose mean follows from those of its halves.
struct NodeAbove {
  std::int32_t node, left, right;
  std::int32_t parent;  ///< among those above, −1 for the root
};

/// Leaves with their cuts and rows.
struct LeafRowsView {
  const NodeSpan* nodes;
  std::int64_t n_nodes;
  const std::int32_t* leaves;
  const std::int64_t* cut_begin;
  const std::int32_t* cut;
  const std::int64_t* row_begin;
  const __half* rows;
  const float* scale;
  double extent;
};

/// Applies the rows that solve_systems() has found, or another solver, to values at the places of
/// the trees. Where panels have two fields rows are [cut][fields][panels of the leaf][fields], each
/// panel's and field's with a scale of its own.
class RowsProduct {
 public:
  RowsProduct(const DeviceClusterTree& tree, DeviceCuts cuts, DeviceRows rows, double extent,
              int max_leaf, cudaStream_t stream, int fields = 1);

  /// In device memory, x [n_vectors][fields][size()] and y [n_vectors][size()][fields].
  void apply(const double* x, double* y, int n_vectors, cudaStream_t stream) const;

  std::int64_t size() const { return static_cast<std::int64_t>(area_.size()); }
  std::int64_t leaves() const { return static_cast<std::int64_t>(leaves_.size()); }
  std::int64_t unknowns() const { return static_cast<std::int64_t>(cuts_.nodes.size()); }
  std::int64_t bytes() const;

 private:
  LeafRowsView view() const;
  template <int vectors>
  void apply_group(const double* x, double* y, int present, double* means, unsigned* arrived,
                   cudaStream_t stream) const;

  double extent_;
  int max_leaf_, fields_;
  DeviceBuffer<double> area_;  ///< [n]
  DeviceBuffer<NodeSpan> nodes_;
  DeviceBuffer<std::int32_t> leaves_;  ///< nodes
  DeviceBuffer<std::int32_t> parent_;  ///< [leaves], among those above
  DeviceBuffer<NodeAbove> above_;      ///< fewer than leaves
  DeviceCuts cuts_;
  DeviceRows rows_;
};

}  // namespace fmbem::cuda::bem
