#include <algorithm>
#include <climits>
#include <vector>

#include "fmbem/bem/precond/cuda/mixed_parts.cuh"
#include "fmbem/bem/precond/cuda/mixed_system.cuh"
#include "fmbem/bem/precond/cuda/mixed_systems.cuh"
#include "fmbem/bem/precond/cuda/round_rows.cuh"
#include "fmbem/cuda/copied.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Leaves whose systems are in device memory in parts at a time, and entries of these systems, more
/// than which there cannot be of any part.
constexpr std::int64_t leaves_at_once = 8192, entries_at_once = std::int64_t{1} << 29;

/// Device memory that blocks may work in where systems do not fit into shared memory.
constexpr std::int64_t mixed_workspace_bytes = std::int64_t{1} << 28;

/// Blocks of a multiprocessor: registers have to suffice for so many.
constexpr int most_mixed_blocks = 2;

struct MixedMemory {
  unsigned char* of_all;
  std::int64_t rows_bytes, bytes;
};

/// Blocks take the leaves order[first] to order[last − 1] one after the other.
template <bool in_shared>
__global__ void __launch_bounds__(solve_threads, most_mixed_blocks)
    solve_mixed(const __grid_constant__ BatchView a, int first, int last, MixedMemory memory,
                unsigned* taken) {
  __shared__ int s_next;
  unsigned char* const of_block = memory.of_all + blockIdx.x * memory.bytes;
  auto* const rows = reinterpret_cast<float*>(of_block);
  unsigned char* const work =
      in_shared ? dynamic_shared<unsigned char>() : of_block + memory.rows_bytes;
  const int thread = static_cast<int>(threadIdx.x);
  for (;;) {
    if (thread == 0) s_next = first + static_cast<int>(atomicAdd(taken, 1u));
    __syncthreads();
    if (s_next >= last) return;
    const std::int32_t f = a.order[s_next];
    const int m = a.node_begin[f + 1] - a.node_begin[f], own = a.own[f],
              stride = static_cast<int>(row_stride(own));
    const MixedWorkspace space(work, m, own);
    bool any_long = false;
    for (int k = thread; k < m; k += solve_threads) {
      space.nodes[k] = a.nodes[a.node_begin[f] + k];
      any_long = any_long || norm2(space.nodes[k].segment.half) > 0;
    }
    const bool has_long = __syncthreads_or(any_long) != 0;
    const Augmented b{space.matrix, m, own};
    fill_smooth(b, space.nodes, has_long);
    for (std::int32_t e = a.entry_begin[f] + thread; e < a.entry_begin[f + 1]; e += solve_threads)
      b.at(a.entries[e].column, a.entries[e].row) = a.entries[e].value;
    __syncthreads();
    set_charge_rows(a, f, b, space.nodes);
    scale_equations(b, space.scale);
    if (!eliminate(b)) {
      if (thread == 0) atomicMin(a.singular, a.place[f]);
      __syncthreads();
      continue;
    }
    const int more = stride - own;
    for (int e = thread; e < m * more; e += solve_threads)
      rows[e / more * stride + own + e % more] = 0;
    write_solution(
        b, [&](int i, int k, float value) { rows[k * stride + i] = value * space.scale[k]; });
    __syncthreads();
    add_means(space.nodes, a.laws + a.law_begin[f], a.law_begin[f + 1] - a.law_begin[f], m, own,
              stride, rows);
    // Potentials and fluxes have different units, so none takes what is left of another.
    round_rows(rows, m, own, reinterpret_cast<unsigned*>(space.scale), a.rows + a.row_begin[f],
               a.scale + a.place[f], m);
  }
}

/// What the system of a leaf takes.
struct LeafBytes {
  std::int32_t leaf;
  std::int64_t system, rows;
};

/// The leaves of all cuts on the host.
struct HostLeaves {
  std::vector<std::int64_t> cut_begin;   ///< [leaves + 1]
  std::vector<std::int32_t> own, place;  ///< [leaves]: panels, and the place of the first one
};

__global__ void take_leaves(const Cluster* nodes, const std::int32_t* leaves, std::int64_t n,
                            std::int32_t* own, std::int32_t* place) {
  const std::int64_t f = thread_index();
  if (f >= n) return;
  own[f] = nodes[leaves[f]].size();
  place[f] = nodes[leaves[f]].begin;
}

/// Behind the leaves that go together with leaf `first`.
std::int64_t end_of_batch(const HostLeaves& leaves, std::int64_t first) {
  const auto n = static_cast<std::int64_t>(leaves.own.size());
  std::int64_t last = first, entries = 0;
  for (; last < std::min(first + leaves_at_once, n); ++last) {
    const std::int64_t m = leaves.cut_begin[last + 1] - leaves.cut_begin[last];
    entries += m * m;
    if (last > first && entries > entries_at_once) break;
  }
  return last;
}

/// Of the leaves of a batch, the largest systems first.
std::vector<LeafBytes> sizes_of(const HostLeaves& leaves, std::int64_t first, std::int64_t last) {
  std::vector<LeafBytes> sizes;
  for (std::int64_t f = first; f < last; ++f) {
    const auto m = static_cast<int>(leaves.cut_begin[f + 1] - leaves.cut_begin[f]);
    sizes.push_back({static_cast<std::int32_t>(f - first), MixedWorkspace::bytes(m, leaves.own[f]),
                     row_stride(leaves.own[f]) * m * static_cast<std::int64_t>(sizeof(float))});
  }
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const LeafBytes& a, const LeafBytes& b) { return a.system > b.system; });
  return sizes;
}

/// Enqueues the systems of a batch: those that do not fit into shared memory, then the others.
void enqueue(const BatchView& view, const std::vector<LeafBytes>& sizes,
             DeviceBuffer<unsigned char>& room, cudaStream_t stream) {
  const auto most = static_cast<std::int64_t>(shared_memory_of_a_block());
  const std::int64_t all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
                     processors = device_attribute(cudaDevAttrMultiProcessorCount);
  const auto n = static_cast<int>(sizes.size());
  const auto launch_range = [&](int first, int last, bool in_shared) {
    if (first == last) return;
    const std::int64_t bytes = sizes[first].system;
    std::int64_t rows_bytes = 0;
    for (int i = first; i < last; ++i) rows_bytes = std::max(rows_bytes, sizes[i].rows);
    rows_bytes = (rows_bytes + 15) / 16 * 16;
    constexpr std::int64_t besides = 5376;  // static arrays and what the driver takes
    const std::int64_t block_bytes = rows_bytes + (in_shared ? 0 : bytes),
                       blocks = in_shared ? std::clamp<std::int64_t>(all / (bytes + besides), 1,
                                                                     most_mixed_blocks)
                                          : most_mixed_blocks,
                       count = std::min(
                           {std::int64_t{last - first}, processors * blocks,
                            std::max<std::int64_t>(1, mixed_workspace_bytes / block_bytes)});
    grow(room, count * block_bytes, stream);
    DeviceBuffer<unsigned> taken(1, stream);
    taken.fill_bytes(0);
    launch(in_shared ? solve_mixed<true> : solve_mixed<false>, static_cast<unsigned>(count),
           solve_threads, in_shared ? bytes : 0, stream, view, first, last,
           MixedMemory{room.data(), rows_bytes, block_bytes}, taken.data());
  };
  int fits = 0;
  while (fits < n && sizes[fits].system > most) ++fits;
  launch_range(0, fits, false);
  launch_range(fits, n, true);
}

}  // namespace

DeviceRows solve_mixed_systems(const DeviceMixedNodes& of, cudaStream_t stream) {
  const auto n_leaves = static_cast<std::int64_t>(of.tree.leaves.size());
  DeviceBuffer<std::int32_t> own(n_leaves, stream), place(n_leaves, stream);
  launch(take_leaves, blocks_for(n_leaves), threads_per_block, 0, stream, of.tree.nodes.data(),
         of.tree.leaves.data(), n_leaves, own.data(), place.data());
  HostLeaves leaves{std::vector<std::int64_t>(n_leaves + 1), std::vector<std::int32_t>(n_leaves),
                    std::vector<std::int32_t>(n_leaves)};
  of.cuts.begin.download(leaves.cut_begin.data());
  own.download(leaves.own.data());
  place.download(leaves.place.data());
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  std::vector<std::int64_t> begin{0};
  for (std::int64_t f = 0; f < n_leaves; ++f)
    begin.push_back(begin.back() +
                    (leaves.cut_begin[f + 1] - leaves.cut_begin[f]) * row_stride(leaves.own[f]));
  DeviceRows rows;
  rows.values = DeviceBuffer<__half>(begin.back(), stream);
  rows.scale = DeviceBuffer<float>(of.tree.size(), stream);
  rows.begin = to_device(begin, stream);
  DeviceBuffer<std::int32_t> singular(1, stream);
  const std::int32_t none = INT_MAX;
  singular.upload(&none);
  DeviceBuffer<unsigned char> room;
  for (std::int64_t first = 0, last = 0; first < n_leaves; first = last) {
    last = end_of_batch(leaves, first);
    const DeviceBatch batch = system_parts(of, leaves.cut_begin, first, last, stream);
    const std::vector<LeafBytes> sizes = sizes_of(leaves, first, last);
    std::vector<std::int32_t> order;
    for (const LeafBytes& size : sizes) order.push_back(size.leaf);
    const DeviceBuffer<std::int32_t> in_order = copied_to_device(order, stream);
    enqueue({batch.node_begin.data(), batch.entry_begin.data(), batch.laws.law_begin.data(),
             batch.laws.given_begin.data(), batch.nodes.data(), batch.entries.data(),
             batch.laws.laws.data(), batch.laws.terms.data(), batch.laws.given.data(),
             batch.laws.numbers.data(), in_order.data(), own.data() + first, place.data() + first,
             rows.begin.data() + first, rows.values.data(), rows.scale.data(), singular.data()},
            sizes, room, stream);
  }
  if (const std::int32_t at = download_one(singular.data(), stream); at != none)
    FMBEM_REQUIRE(false, "the preconditioner's system at panel "
                             << download_one(of.panel_at.data() + at, stream)
                             << " is singular: check the mesh");
  return rows;
}

}  // namespace fmbem::cuda::bem
