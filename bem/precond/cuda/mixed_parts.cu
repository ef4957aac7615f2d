#include "fmbem/bem/precond/cuda/mixed_parts.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda::bem {
namespace {

/// A node of a cut as a test of closeness needs it, in the leaf's coordinates.
struct CloseNode {
  float x, y, z, reach;
  float radius;  ///< of a panel
  std::int32_t node;
  bool is_panel, has_flux;
};

/// A block for each leaf.
__global__ void place_nodes(DeviceRowNodes of, LeafBatch batch, SystemNode* nodes, CloseNode* close,
                            std::int32_t* node_begin) {
  const std::int64_t f = blockIdx.x;
  const std::int32_t first = batch.node_begin(f), m = batch.node_begin(f + 1) - first;
  if (threadIdx.x == 0) {
    node_begin[f] = first;
    if (f + 1 == batch.count) node_begin[f + 1] = first + m;
  }
  const Cluster& leaf = of.nodes[batch.leaves[f]];
  const double unit = 1 / leaf.radius;
  for (std::int32_t k = static_cast<std::int32_t>(threadIdx.x); k < m; k += threads_per_block) {
    const std::int32_t number = batch.cut[batch.cut_begin[f] + k];
    const Cluster& node = of.nodes[number];
    const SystemNode placed = place_node(node, of.means[number], leaf.centroid, unit);
    nodes[first + k] = placed;
    close[first + k] = {
        placed.x,
        placed.y,
        placed.z,
        static_cast<float>(unit * of.reach[number]),
        node.is_panel() ? static_cast<float>(unit * of.panels[of.panel_of(node)].radius) : 0,
        number,
        node.is_panel(),
        of.has_flux(node)};
  }
}

/// Which of the entries (k, l) and (l, k), k ≤ l, are not those of the smooth kernel: of panels
/// that touch, and in rows with K' those of other nodes that are close.
struct SetPair {
  bool kl, lk;
};
__device__ SetPair set_pair(const DeviceRowNodes& of, const CloseNode& k, const CloseNode& l,
                            bool is_same) {
  const float dx = k.x - l.x, dy = k.y - l.y, dz = k.z - l.z, d2 = dx * dx + dy * dy + dz * dz;
  if (k.is_panel && l.is_panel) {
    // A shift of the threshold in single precision, larger than its rounding.
    const float reach = 1.001f * static_cast<float>(touching) * (k.radius + l.radius) +
                        1e-6f * (fabsf(k.x) + fabsf(k.y) + fabsf(k.z));
    const bool both = !is_same && d2 <= reach * reach && of.touch(k.node, l.node);
    return {both, both};
  }
  const float reach = k.reach + l.reach;
  const bool is_close = d2 < reach * reach;
  return {is_close && k.has_flux, is_close && l.has_flux && !is_same};
}

/// Calls set(k, l, which) for pairs k ≤ l of a leaf's nodes, by a block; a warp for each l.
template <class Set>
__device__ void for_set_pairs(const DeviceRowNodes& of, const CloseNode* nodes, std::int32_t m,
                              Set&& set) {
  const auto lane = static_cast<std::int32_t>(threadIdx.x) % warp_size;
  for (auto l = static_cast<std::int32_t>(threadIdx.x) / warp_size; l < m; l += warps_per_block)
    for (std::int32_t k = lane; k <= l; k += warp_size) {
      const SetPair which = set_pair(of, nodes[k], nodes[l], k == l);
      if (which.kl || which.lk) set(k, l, which);
    }
}

/// The entries between two nodes; −1 where one is not set.
struct PairTask {
  std::int32_t k, l;
  std::int32_t kl, lk;
};

/// Of each leaf, [leaves + 1], or where they begin.
struct TaskCounts {
  std::int32_t *entries, *pairs;
};

__global__ void __launch_bounds__(threads_per_block)
    count_tasks(DeviceRowNodes of, LeafBatch batch, const CloseNode* nodes, TaskCounts counts) {
  __shared__ std::int32_t s_pairs, s_entries;
  const std::int64_t f = blockIdx.x;
  if (threadIdx.x == 0) s_pairs = s_entries = 0;
  __syncthreads();
  const std::int32_t first = batch.node_begin(f);
  std::int32_t pairs = 0, entries = 0;
  for_set_pairs(of, nodes + first, batch.node_begin(f + 1) - first,
                [&](std::int32_t, std::int32_t, SetPair which) {
                  entries += which.kl + which.lk;
                  ++pairs;
                });
  atomicAdd(&s_pairs, pairs);
  atomicAdd(&s_entries, entries);
  __syncthreads();
  if (threadIdx.x > 0) return;
  counts.entries[f] = s_entries;
  counts.pairs[f] = s_pairs;
  if (f + 1 == batch.count) counts.entries[f + 1] = counts.pairs[f + 1] = 0;
}

/// The order of a leaf's entries does not matter, as each has a place of its own in the matrix.
__global__ void __launch_bounds__(threads_per_block)
    list_tasks(DeviceRowNodes of, LeafBatch batch, const CloseNode* nodes, TaskCounts begins,
               SetEntry* entries, PairTask* pairs) {
  __shared__ std::int32_t s_entry, s_pair;
  const std::int64_t f = blockIdx.x;
  if (threadIdx.x == 0) {
    s_entry = begins.entries[f];
    s_pair = begins.pairs[f];
  }
  __syncthreads();
  const std::int32_t first = batch.node_begin(f);
  const CloseNode* const own = nodes + first;
  const auto add = [&](std::int32_t row, std::int32_t column) {
    const std::int32_t at = atomicAdd(&s_entry, 1);
    entries[at] = {static_cast<std::uint16_t>(row), static_cast<std::uint16_t>(column), 0};
    return at;
  };
  for_set_pairs(of, own, batch.node_begin(f + 1) - first,
                [&](std::int32_t k, std::int32_t l, SetPair which) {
                  const std::int32_t kl = which.kl ? add(k, l) : -1, lk = which.lk ? add(l, k) : -1;
                  pairs[atomicAdd(&s_pair, 1)] = {own[k].node, own[l].node, kl, lk};
                });
}

__global__ void find_entries(DeviceRowNodes of, CloseTableView table, const PairTask* pairs,
                             std::int64_t n, SetEntry* entries) {
  const std::int64_t t = thread_index();
  if (t >= n) return;
  const PairTask pair = pairs[t];
  const MutualEntries found = table.between(of, pair.k, pair.l);
  if (pair.kl >= 0) entries[pair.kl].value = static_cast<float>(found.kl);
  if (pair.lk >= 0) entries[pair.lk].value = static_cast<float>(found.lk);
}

}  // namespace

Begins begins_of(const DeviceBuffer<std::int32_t>& counts, cudaStream_t stream) {
  Begins result{DeviceBuffer<std::int32_t>(counts.size(), stream), 0};
  exclusive_sum(counts.data(), result.begin.data(), static_cast<std::int64_t>(counts.size()),
                stream);
  result.count = download_one(result.begin.data() + counts.size() - 1, stream);
  return result;
}

DeviceBatch system_parts(const DeviceMixedNodes& mixed, const std::vector<std::int64_t>& cut_begin,
                         std::int64_t first, std::int64_t last, cudaStream_t stream) {
  const DeviceRowNodes of = mixed.view();
  const LeafBatch batch{mixed.tree.leaves.data() + first, mixed.cuts.begin.data() + first,
                        mixed.cuts.nodes.data(), cut_begin[first], last - first};
  const auto blocks = static_cast<unsigned>(batch.count);
  const std::int64_t n_nodes = cut_begin[last] - cut_begin[first];
  DeviceBatch result;
  result.nodes = DeviceBuffer<SystemNode>(n_nodes, stream);
  result.node_begin = DeviceBuffer<std::int32_t>(batch.count + 1, stream);
  DeviceBuffer<CloseNode> close(n_nodes, stream);
  launch(place_nodes, blocks, threads_per_block, 0, stream, of, batch, result.nodes.data(),
         close.data(), result.node_begin.data());
  const auto room = [&] { return DeviceBuffer<std::int32_t>(batch.count + 1, stream); };
  const DeviceBuffer<std::int32_t> of_entries = room(), of_pairs = room();
  launch(count_tasks, blocks, threads_per_block, 0, stream, of, batch, close.data(),
         TaskCounts{of_entries.data(), of_pairs.data()});
  Begins entries = begins_of(of_entries, stream);
  const Begins pairs = begins_of(of_pairs, stream);
  result.entries = DeviceBuffer<SetEntry>(entries.count, stream);
  DeviceBuffer<PairTask> tasks(pairs.count, stream);
  launch(list_tasks, blocks, threads_per_block, 0, stream, of, batch, close.data(),
         TaskCounts{entries.begin.data(), pairs.begin.data()}, result.entries.data(), tasks.data());
  launch(find_entries, blocks_for(pairs.count), threads_per_block, 0, stream, of,
         mixed.close().view(), tasks.data(), pairs.count, result.entries.data());
  result.entry_begin = std::move(entries.begin);
  result.laws = law_parts(batch, mixed.laws(), result.nodes.data(), stream);
  return result;
}

}  // namespace fmbem::cuda::bem
