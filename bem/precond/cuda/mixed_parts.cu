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
  bool is_panel, is_long, has_flux;
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
        static_cast<float>(unit * of.reach_of(node)),
        node.is_panel() ? static_cast<float>(unit * of.panels[of.panel_of(node)].radius) : 0,
        number,
        node.is_panel(),
        node.is_long(),
        of.has_flux(node)};
  }
}

/// Whether panels take exact entries, given that they may touch in single precision.
__device__ bool panels_touch(const DeviceRowNodes& of, const CloseNode& s, const CloseNode& t) {
  const std::int32_t i = of.panel_of(of.nodes[s.node]), j = of.panel_of(of.nodes[t.node]);
  if (!s.is_long && !t.is_long) return touch(of.panels[i], of.panels[j]);
  return triangles_touch(of.panels.triangle(i), of.panels.triangle(j));
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
    const bool both = !is_same && d2 <= reach * reach && panels_touch(of, k, l);
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

__global__ void __launch_bounds__(threads_per_block)
    count_entries(DeviceRowNodes of, LeafBatch batch, const CloseNode* close, std::int32_t* count) {
  __shared__ std::int32_t s_count;
  const std::int64_t f = blockIdx.x;
  if (threadIdx.x == 0) s_count = 0;
  __syncthreads();
  const std::int32_t first = batch.node_begin(f);
  std::int32_t own = 0;
  for_set_pairs(of, close + first, batch.node_begin(f + 1) - first,
                [&](std::int32_t, std::int32_t, SetPair which) { own += which.kl + which.lk; });
  atomicAdd(&s_count, own);
  __syncthreads();
  if (threadIdx.x > 0) return;
  count[f] = s_count;
  if (f + 1 == batch.count) count[f + 1] = 0;
}

/// The order of a leaf's entries does not matter, as each has a place of its own in the matrix.
__global__ void __launch_bounds__(threads_per_block)
    list_entries(DeviceRowNodes of, LeafBatch batch, const CloseNode* close,
                 const std::int32_t* begin, SetEntry* entries, int2* nodes) {
  __shared__ std::int32_t s_next;
  const std::int64_t f = blockIdx.x;
  if (threadIdx.x == 0) s_next = begin[f];
  __syncthreads();
  const std::int32_t first = batch.node_begin(f);
  const CloseNode* const own = close + first;
  const auto add = [&](std::int32_t row, std::int32_t column) {
    const std::int32_t at = atomicAdd(&s_next, 1);
    entries[at] = {static_cast<std::uint16_t>(row), static_cast<std::uint16_t>(column), 0};
    nodes[at] = {own[row].node, own[column].node};
  };
  for_set_pairs(of, own, batch.node_begin(f + 1) - first,
                [&](std::int32_t k, std::int32_t l, SetPair which) {
                  if (which.kl) add(k, l);
                  if (which.lk) add(l, k);
                });
}

__global__ void find_entries(DeviceRowNodes of, CloseTableView table, const int2* nodes,
                             std::int64_t n, SetEntry* entries) {
  const std::int64_t e = thread_index();
  if (e >= n) return;
  const auto [k, l] = nodes[e];
  const Cluster &to = of.nodes[k], &from = of.nodes[l];
  const double value =
      to.is_panel() && from.is_panel()
          ? of.exact(of.panel_of(to), of.panel_of(from))
          : entries_between(of, k, l, [&](std::int32_t a, std::int32_t b, MutualEntries& found) {
              return table.find(a, b, found);
            }).kl;
  entries[e].value = static_cast<float>(value);
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
  DeviceBuffer<std::int32_t> counts(batch.count + 1, stream);
  launch(count_entries, blocks, threads_per_block, 0, stream, of, batch, close.data(),
         counts.data());
  Begins begins = begins_of(counts, stream);
  result.entries = DeviceBuffer<SetEntry>(begins.count, stream);
  DeviceBuffer<int2> nodes(begins.count, stream);
  launch(list_entries, blocks, threads_per_block, 0, stream, of, batch, close.data(),
         begins.begin.data(), result.entries.data(), nodes.data());
  launch(find_entries, blocks_for(begins.count), threads_per_block, 0, stream, of,
         mixed.close().view(), nodes.data(), begins.count, result.entries.data());
  result.entry_begin = std::move(begins.begin);
  result.laws = law_parts(batch, mixed.laws(), result.nodes.data(), stream);
  return result;
}

}  // namespace fmbem::cuda::bem
