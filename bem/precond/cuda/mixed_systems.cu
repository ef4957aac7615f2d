#include <algorithm>
#include <climits>
#include <vector>

#include "fmbem/bem/precond/cuda/mixed_system.cuh"
#include "fmbem/bem/precond/cuda/mixed_systems.cuh"
#include "fmbem/bem/precond/cuda/round_rows.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/staging.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Leaves whose systems are in device memory in parts at a time, some 30 kB each.
constexpr std::size_t leaves_at_once = 2048;

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
    round_rows(rows, m, own, reinterpret_cast<unsigned*>(space.scale), a.rows + a.row_begin[f],
               a.scale + a.place[f]);
  }
}

/// In device memory, done when it returns.
template <class Container>
auto uploaded(const Container& from, cudaStream_t stream) {
  DeviceBuffer<typename Container::value_type> to(from.size(), stream);
  copy_to_device(from.data(), from.size(), to.data(), stream);
  return to;
}

/// What the system of a leaf takes.
struct LeafBytes {
  std::int32_t leaf;
  std::int64_t system, rows;
};

/// Of the leaves of a batch, the largest systems first.
std::vector<LeafBytes> sizes_of(const SystemBatch& batch, const std::vector<std::int32_t>& own) {
  std::vector<LeafBytes> sizes;
  for (std::size_t f = 0; f < own.size(); ++f) {
    const int m = batch.node_begin[f + 1] - batch.node_begin[f];
    sizes.push_back({static_cast<std::int32_t>(f), MixedWorkspace::bytes(m, own[f]),
                     row_stride(own[f]) * m * static_cast<std::int64_t>(sizeof(float))});
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

DeviceRows solve_mixed_systems(std::span<const Triangle> panels,
                               const MixedSystems<double>& systems, cudaStream_t stream) {
  const ClusterRows& cuts = systems.rows;
  const ClusterTree& tree = cuts.tree();
  std::vector<std::int64_t> begin{0};
  for (std::size_t f = 0; f < cuts.leaves(); ++f)
    begin.push_back(begin.back() + static_cast<std::int64_t>(cuts.cut_of(f).size()) *
                                       row_stride(tree.nodes[tree.leaves[f]].size()));
  DeviceRows rows;
  rows.values = DeviceBuffer<__half>(begin.back(), stream);
  rows.scale = DeviceBuffer<float>(tree.size(), stream);
  rows.begin = uploaded(begin, stream);
  DeviceBuffer<std::int32_t> singular(1, stream);
  const std::int32_t none = INT_MAX;
  singular.upload(&none);
  DeviceBuffer<unsigned char> room;
  for (std::size_t first = 0; first < cuts.leaves(); first += leaves_at_once) {
    const std::size_t last = std::min(first + leaves_at_once, cuts.leaves());
    const SystemBatch batch = system_batch(panels, systems, first, last);
    std::vector<std::int32_t> own, place;
    for (std::size_t f = first; f < last; ++f) {
      own.push_back(tree.nodes[tree.leaves[f]].size());
      place.push_back(tree.nodes[tree.leaves[f]].begin);
    }
    const std::vector<LeafBytes> sizes = sizes_of(batch, own);
    std::vector<std::int32_t> order;
    for (const LeafBytes& size : sizes) order.push_back(size.leaf);
    const auto node_begin = uploaded(batch.node_begin, stream),
               entry_begin = uploaded(batch.entry_begin, stream),
               law_begin = uploaded(batch.law_begin, stream),
               given_begin = uploaded(batch.given_begin, stream),
               in_order = uploaded(order, stream), of_own = uploaded(own, stream),
               of_place = uploaded(place, stream);
    const auto nodes = uploaded(batch.nodes, stream);
    const auto entries = uploaded(batch.entries, stream);
    const auto laws = uploaded(batch.laws, stream);
    const auto terms = uploaded(batch.terms, stream);
    const auto given = uploaded(batch.given, stream);
    const auto numbers = uploaded(batch.numbers, stream);
    enqueue({node_begin.data(), entry_begin.data(), law_begin.data(), given_begin.data(),
             nodes.data(), entries.data(), laws.data(), terms.data(), given.data(), numbers.data(),
             in_order.data(), of_own.data(), of_place.data(), rows.begin.data() + first,
             rows.values.data(), rows.scale.data(), singular.data()},
            sizes, room, stream);
  }
  const std::int32_t at = download_one(singular.data(), stream);
  FMBEM_REQUIRE(at == none, "the preconditioner's system at panel "
                                << tree.panel(at) << " is singular: check the mesh");
  return rows;
}

}  // namespace fmbem::cuda::bem
