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
constexpr std::int64_t leaves_at_once = 16384, entries_at_once = std::int64_t{1} << 30;

/// Device memory that blocks may work in: where systems are large fewer run.
constexpr std::int64_t mixed_workspace_bytes = std::int64_t{1} << 28;

/// Blocks take the leaves order[first] to order[last − 1] one after the other; each has room for a
/// matrix.
__global__ void __launch_bounds__(general_threads, general_blocks)
    solve_mixed(const __grid_constant__ BatchView a, int first, int last, float* room,
                std::int64_t room_size, unsigned* taken) {
  __shared__ int s_next;
  const int thread = static_cast<int>(threadIdx.x);
  for (;;) {
    if (thread == 0) s_next = first + static_cast<int>(atomicAdd(taken, 1u));
    __syncthreads();
    if (s_next >= last) return;
    const std::int32_t f = a.order[s_next];
    const int m = a.node_begin[f + 1] - a.node_begin[f], own = a.own[f];
    const MixedWorkspace space(dynamic_shared<std::int32_t>(), m, own);
    space.take(a.nodes + a.node_begin[f], m);
    __syncthreads();
    bool any_long = false;
    for (int k = thread; k < m; k += general_threads)
      any_long = any_long || norm2(space.nodes[k].segment.half) > 0;
    const bool has_long = __syncthreads_or(any_long) != 0;
    const SquareMatrix b{room + blockIdx.x * room_size, m};
    if (has_long)
      fill_smooth<true>(b, space.nodes);
    else
      fill_smooth<false>(b, space.nodes);
    for (std::int32_t e = a.entry_begin[f] + thread; e < a.entry_begin[f + 1]; e += general_threads)
      b.at(a.entries[e].row, a.entries[e].column) = a.entries[e].value;
    __syncthreads();
    set_charge_rows(a, f, b, space);
    if (!eliminate(b, own, space.column_of, space.room)) {
      if (thread == 0) atomicMin(a.singular, a.place[f]);
      __syncthreads();
      continue;
    }
    const auto values = [&](int k, int i) -> float& {
      return b.at(m - own + i, space.column_of[k]);
    };
    add_means(a.laws + a.law_begin[f], a.law_begin[f + 1] - a.law_begin[f], m, own, space, values);
    // Potentials and fluxes have different units, so none takes what is left of another.
    round_rows(values, m, own, space.factor, a.rows + a.row_begin[f], a.scale + a.place[f]);
  }
}

/// The shared memory that the system of a leaf takes.
struct LeafBytes {
  std::int32_t leaf, unknowns;
  std::int64_t shared;
};

/// Behind the leaves that go together with leaf `first`.
std::int64_t end_of_batch(const LeavesOfCuts& leaves, std::int64_t first) {
  const auto n = static_cast<std::int64_t>(leaves.own_on_host.size());
  std::int64_t last = first, entries = 0;
  for (; last < std::min(first + leaves_at_once, n); ++last) {
    const std::int64_t m = leaves.cut_begin[last + 1] - leaves.cut_begin[last];
    entries += m * m;
    if (last > first && entries > entries_at_once) break;
  }
  return last;
}

/// Of the leaves of a batch, the largest systems first.
std::vector<LeafBytes> sizes_of(const LeavesOfCuts& leaves, std::int64_t first, std::int64_t last) {
  std::vector<LeafBytes> sizes;
  for (std::int64_t f = first; f < last; ++f) {
    const auto m = static_cast<int>(leaves.cut_begin[f + 1] - leaves.cut_begin[f]);
    require_eliminable(m);
    sizes.push_back(
        {static_cast<std::int32_t>(f - first), m, MixedWorkspace::bytes(m, leaves.own_on_host[f])});
  }
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const LeafBytes& a, const LeafBytes& b) { return a.shared > b.shared; });
  return sizes;
}

/// Enqueues the systems of a batch, those together that as many blocks of a multiprocessor have
/// shared memory for.
void enqueue(const BatchView& view, const std::vector<LeafBytes>& sizes, DeviceBuffer<float>& room,
             cudaStream_t stream) {
  const std::int64_t all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
                     processors = device_attribute(cudaDevAttrMultiProcessorCount);
  constexpr std::int64_t besides = 5376;  // static arrays and what the driver takes
  const auto blocks_of = [&](int i) {
    return std::clamp<std::int64_t>(all / (sizes[i].shared + besides), 1, general_blocks);
  };
  const auto n = static_cast<int>(sizes.size());
  for (int first = 0, last = 0; first < n; first = last) {
    const std::int64_t blocks = blocks_of(first);
    int unknowns = 0;
    for (; last < n && blocks_of(last) == blocks; ++last)
      unknowns = std::max(unknowns, sizes[last].unknowns);
    const std::int64_t bytes = SquareMatrix::bytes(unknowns),
                       count = std::min({std::int64_t{last - first}, processors * blocks,
                                         std::max<std::int64_t>(1, mixed_workspace_bytes / bytes)}),
                       size = bytes / static_cast<std::int64_t>(sizeof(float));
    grow(room, count * size, stream);
    DeviceBuffer<unsigned> taken(1, stream);
    taken.fill_bytes(0);
    launch(solve_mixed, static_cast<unsigned>(count), general_threads, sizes[first].shared, stream,
           view, first, last, room.data(), size, taken.data());
  }
}

}  // namespace

DeviceRows solve_mixed_systems(const DeviceMixedNodes& of, cudaStream_t stream) {
  const LeavesOfCuts leaves = leaves_of_cuts(of.tree, of.cuts, stream);
  const auto n_leaves = static_cast<std::int64_t>(leaves.own_on_host.size());
  std::vector<std::int64_t> begin{0};
  for (std::int64_t f = 0; f < n_leaves; ++f)
    begin.push_back(begin.back() + (leaves.cut_begin[f + 1] - leaves.cut_begin[f]) *
                                       row_stride(leaves.own_on_host[f]));
  DeviceRows rows;
  rows.values = DeviceBuffer<__half>(begin.back(), stream);
  rows.scale = DeviceBuffer<float>(of.tree.size(), stream);
  rows.begin = to_device(begin, stream);
  DeviceBuffer<std::int32_t> singular(1, stream);
  const std::int32_t none = INT_MAX;
  singular.upload(&none);
  DeviceBuffer<float> room;
  for (std::int64_t first = 0, last = 0; first < n_leaves; first = last) {
    last = end_of_batch(leaves, first);
    // The host sorts while the batch before is under way.
    const std::vector<LeafBytes> sizes = sizes_of(leaves, first, last);
    std::vector<std::int32_t> order;
    for (const LeafBytes& size : sizes) order.push_back(size.leaf);
    const DeviceBuffer<std::int32_t> in_order = copied_to_device(order, stream);
    const DeviceBatch batch = system_parts(of, leaves.cut_begin, first, last, stream);
    enqueue({batch.node_begin.data(), batch.entry_begin.data(), batch.laws.law_begin.data(),
             batch.laws.given_begin.data(), batch.nodes.data(), batch.entries.data(),
             batch.laws.laws.data(), batch.laws.terms.data(), batch.laws.given.data(),
             batch.laws.numbers.data(), in_order.data(), leaves.own.data() + first,
             leaves.place.data() + first, rows.begin.data() + first, rows.values.data(),
             rows.scale.data(), singular.data()},
            sizes, room, stream);
  }
  if (const std::int32_t at = download_one(singular.data(), stream); at != none)
    FMBEM_REQUIRE(false, "the preconditioner's system at panel "
                             << download_one(of.panel_at.data() + at, stream)
                             << " is singular: check the mesh");
  return rows;
}

}  // namespace fmbem::cuda::bem
