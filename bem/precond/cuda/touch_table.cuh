#pragma once

#include <cstdint>

#include "fmbem/bem/precond/close_kernel.hpp"
#include "fmbem/bem/precond/cuda/cluster_tree.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda::bem {

/// Nodes of mixed rows in device memory.
using DeviceRowNodes = RowNodes<DevicePanels>;

/// What kernels see of TouchTable.
struct TouchTableView {
  const std::int32_t* begin;  ///< [places + 1]
  const std::int32_t* place;  ///< [pairs], of the later panel
  const float2* entries;      ///< [pairs]: of the earlier panel by the later one, and back

  /// e(k, l) and e(l, k) of panels at two places; false where they do not touch.
  __device__ bool find(std::int32_t k, std::int32_t l, MutualEntries& found) const {
    const std::int32_t low = min(k, l), high = max(k, l), end = begin[low + 1],
                       at = lower_bound(place, begin[low], end, high);
    if (at == end || place[at] != high) return false;
    found = {entries[at].x, entries[at].y};
    if (k > l) found = swapped(found);
    return true;
  }
};

/// Exact entries of all panels that touch, by their places: each pair is integrated once, however
/// many systems and nodes it is in.
class TouchTable {
 public:
  TouchTable(const DeviceRowNodes& of, const DeviceClusterTree& tree, cudaStream_t stream);
  TouchTableView view() const { return {begin_.data(), place_.data(), entries_.data()}; }

 private:
  DeviceBuffer<std::int32_t> begin_, place_;
  DeviceBuffer<float2> entries_;
};

}  // namespace fmbem::cuda::bem
