#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/bem/geometry/cuda/device_panels.hpp"
#include "fmbem/bem/precond/close_kernel.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda::bem {

/// Nodes of mixed rows in device memory.
using DeviceRowNodes = RowNodes<DevicePanels>;

/// What kernels see of CloseTable.
struct CloseTableView {
  const std::int32_t* begin;  ///< [nodes + 1]
  const std::uint64_t* key;   ///< [pairs]
  const float2* entries;      ///< [pairs]: kl, lk
  int bits;

  /// e(k, l) and e(l, k).
  __device__ MutualEntries between(const DeviceRowNodes& of, std::int32_t k, std::int32_t l) const {
    return entries_between(
        of, k, l,
        [&](std::int32_t a, std::int32_t b, MutualEntries& found) { return find(a, b, found); },
        [&](std::int32_t a, std::int32_t b) { return of.undivided(a, b); });
  }
  /// Of nodes in either order; false where the pair is not in the table.
  __device__ bool find(std::int32_t k, std::int32_t l, MutualEntries& found) const {
    const std::int32_t low = min(k, l), high = max(k, l), end = begin[low + 1];
    const std::uint64_t wanted = key_of(low, high);
    const std::int32_t at = lower_bound(key, begin[low], end, wanted);
    if (at == end || key[at] != wanted) return false;
    found = {entries[at].x, entries[at].y};
    if (k > l) found = swapped(found);
    return true;
  }
  __device__ std::uint64_t key_of(std::int32_t k, std::int32_t l) const {
    return static_cast<std::uint64_t>(k) << bits | static_cast<std::uint64_t>(l);
  }
};

/// fmbem::CloseEntries in device memory, of the same pairs and of their panels that touch, sorted
/// by k, then by l. They are found by levels: what the halves of close pairs are, until none is
/// close; then the entries of each level are made from those of the next one.
class CloseTable {
 public:
  /// `roots`: pairs k ≤ l of roots of trees, of which one has rows with K'.
  CloseTable(const DeviceRowNodes& of, std::int32_t n_nodes, const std::vector<int2>& roots,
             cudaStream_t stream);

  CloseTableView view() const { return {begin_.data(), key_.data(), entries_.data(), bits_}; }
  std::int64_t pairs() const { return static_cast<std::int64_t>(key_.size()); }

 private:
  int bits_;  ///< of a node's number
  DeviceBuffer<std::int32_t> begin_;
  DeviceBuffer<std::uint64_t> key_;
  DeviceBuffer<float2> entries_;
};

}  // namespace fmbem::cuda::bem
