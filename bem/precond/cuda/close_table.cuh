#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/bem/precond/cuda/touch_table.cuh"

namespace fmbem::cuda::bem {

/// What kernels see of CloseTable.
struct CloseTableView {
  const std::int32_t* begin;  ///< [nodes + 1]
  const std::uint64_t* key;   ///< [pairs]
  const float2* entries;      ///< [pairs]: kl, lk
  int bits;
  TouchTableView touching;

  __device__ PairStep step_of(const DeviceRowNodes& of, NodePair pair, bool may_divide) const {
    const auto known = [&](std::int32_t a, std::int32_t b, MutualEntries& found) {
      return of.nodes[a].is_panel() && of.nodes[b].is_panel() ? find_panels(of, a, b, found)
                                                              : find(a, b, found);
    };
    return pair_step(of, pair, may_divide, known,
                     [&](std::int32_t a, std::int32_t b) { return of.smooth(a, b); });
  }
  /// Of nodes without halves.
  __device__ MutualEntries undivided(const DeviceRowNodes& of, std::int32_t k,
                                     std::int32_t l) const {
    MutualEntries found;
    return find_panels(of, k, l, found) ? found : of.smooth(k, l);
  }
  __device__ std::uint64_t key_of(std::int32_t k, std::int32_t l) const {
    return static_cast<std::uint64_t>(k) << bits | static_cast<std::uint64_t>(l);
  }

 private:
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
  __device__ bool find_panels(const DeviceRowNodes& of, std::int32_t k, std::int32_t l,
                              MutualEntries& found) const {
    const Cluster &a = of.nodes[k], &b = of.nodes[l];
    return a.is_panel() && b.is_panel() && touching.find(a.begin, b.begin, found);
  }
};

/// fmbem::CloseEntries in device memory, sorted by k, then by l. Pairs are found by levels: what
/// the halves of close pairs are, until none is close; then the entries of each level are made from
/// those of the next one.
class CloseTable {
 public:
  /// `roots`: pairs k ≤ l of roots of trees, of which one has rows with K'.
  CloseTable(const DeviceRowNodes& of, const DeviceClusterTree& tree,
             const std::vector<int2>& roots, cudaStream_t stream);

  CloseTableView view() const {
    return {begin_.data(), key_.data(), entries_.data(), bits_, touching_.view()};
  }

 private:
  TouchTable touching_;
  int bits_;  ///< of a node's number
  DeviceBuffer<std::int32_t> begin_;
  DeviceBuffer<std::uint64_t> key_;
  DeviceBuffer<float2> entries_;
};

}  // namespace fmbem::cuda::bem
