#include "fmbem/bem/precond/cuda/mixed_parts.cuh"
#include "fmbem/bem/precond/cuda/pair_entries.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda::bem {
namespace {

/// A node of a cut as a test of closeness needs it, in the leaf's coordinates.
struct alignas(16) CloseNode {
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
/// The same but for panels that touch in single precision, whose threshold is shifted by more than
/// its rounding, so that some do not.
__device__ SetPair near_pair(const CloseNode& k, const CloseNode& l, bool is_same) {
  const float dx = k.x - l.x, dy = k.y - l.y, dz = k.z - l.z, d2 = dx * dx + dy * dy + dz * dz;
  const bool panels = k.is_panel && l.is_panel;
  const float reach = panels ? 1.001f * static_cast<float>(touching) * (k.radius + l.radius) +
                                   1e-6f * (fabsf(k.x) + fabsf(k.y) + fabsf(k.z))
                             : k.reach + l.reach;
  const bool is_close = panels ? d2 <= reach * reach : d2 < reach * reach;
  return {is_close && (panels ? !is_same : k.has_flux),
          is_close && !is_same && (panels || l.has_flux)};
}
__device__ SetPair set_pair(const DeviceRowNodes& of, const CloseNode& k, const CloseNode& l,
                            bool is_same) {
  const SetPair near = near_pair(k, l, is_same);
  const bool both = !(k.is_panel && l.is_panel) || of.touch(k.node, l.node);
  return {near.kl && both, near.lk && both};
}

/// Calls set(k, l, which) for pairs k ≤ l of a leaf's nodes, by a block. Near pairs, which are few,
/// are gathered first, so that threads do not wait for others: by warps, which take 32 × 32 nodes
/// at a time.
template <class Set>
__device__ void for_set_pairs(const DeviceRowNodes& of, const CloseNode* nodes, std::int32_t m,
                              Set&& set) {
  constexpr int at_a_time = warps_per_block * warp_size * warp_size, enough = 2048;
  __shared__ ushort2 s_near[enough + at_a_time];
  __shared__ int s_count;
  const auto thread = static_cast<std::int32_t>(threadIdx.x), lane = thread % warp_size;
  const std::int32_t parts = (m + warp_size - 1) / warp_size, squares = parts * (parts + 1) / 2;
  std::int32_t of_k = thread / warp_size, of_l = 0;  // parts of the square, of_k ≤ of_l
  if (thread == 0) s_count = 0;
  __syncthreads();
  for (std::int32_t first = 0; first < squares; first += warps_per_block, of_k += warps_per_block) {
    for (; of_k > of_l; ++of_l) of_k -= of_l + 1;
    if (of_l < parts) {
      const std::int32_t k = of_k * warp_size + lane, end = min((of_l + 1) * warp_size, m);
      const CloseNode own = nodes[min(k, m - 1)];
#pragma unroll 4
      for (std::int32_t l = of_l * warp_size; l < end; ++l) {
        const SetPair near = near_pair(own, nodes[l], k == l);
        if (k <= l && (near.kl || near.lk))
          s_near[atomicAdd(&s_count, 1)] =
              make_ushort2(static_cast<std::uint16_t>(k), static_cast<std::uint16_t>(l));
      }
    }
    __syncthreads();
    const int count = s_count;
    __syncthreads();
    if (count <= enough && first + warps_per_block < squares) continue;
    for (int i = thread; i < count; i += threads_per_block) {
      const std::int32_t k = s_near[i].x, l = s_near[i].y;
      const SetPair which = set_pair(of, nodes[k], nodes[l], k == l);
      if (which.kl || which.lk) set(k, l, which);
    }
    if (thread == 0) s_count = 0;
    __syncthreads();
  }
}

/// Of each leaf, [leaves + 1], or where they begin.
struct TaskCounts {
  std::int32_t *entries, *pairs;
};

__global__ void __launch_bounds__(threads_per_block, 8)
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
__global__ void __launch_bounds__(threads_per_block, 8)
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
                  pairs[atomicAdd(&s_pair, 1)] = {{own[k].node, own[l].node}, kl, lk};
                });
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
  find_entries(of, mixed.close().view(), tasks, result.entries.data(), stream);
  result.entry_begin = std::move(entries.begin);
  result.laws = law_parts(batch, mixed.laws(), result.nodes.data(), stream);
  return result;
}

}  // namespace fmbem::cuda::bem
