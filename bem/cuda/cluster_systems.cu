#include <algorithm>
#include <climits>
#include <vector>

#include "fmbem/bem/cuda/cluster_systems.cuh"
#include "fmbem/bem/cuda/small_system.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda {
namespace {

/// Of keys by which leaves are sorted: the number of unknowns below.
constexpr std::int32_t general_flag = 1 << 30;

/// For matrices that do not fit into shared memory.
constexpr std::int64_t workspace_bytes = std::int64_t{1} << 28;

/// Entries of rows that are in single precision at a time, on their way to half.
constexpr std::int64_t entries_at_once = std::int64_t{1} << 25;

struct SystemsView {
  const Cluster* nodes;
  const std::int32_t* leaves;
  const std::int64_t* cut_begin;
  const std::int32_t* cut;
  const std::int64_t* row_begin;
  float* rows;             ///< of the leaves that are being solved
  std::int64_t first_row;  ///< the row_begin of the first of them
  DevicePanels panels;
  std::int32_t* singular;  ///< the first panel of a leaf whose system is

  __device__ float* rows_of(std::int32_t leaf) const {
    return rows + (row_begin[leaf] - first_row);
  }
};

/// Scales entry (i, k) of the inverse, i an own panel, and writes it.
struct RowWriter {
  const Unknown* unknowns;  ///< [m]
  const float* row_scale;
  int own;
  float* rows;

  __device__ void operator()(int i, int k, float value) const {
    rows[k * row_stride(own) + i] = value * (row_scale[i] * unknowns[k].at.scale);
  }
};

__device__ bool solve_symmetric(const TileMatrix& matrix, int pad, const RowWriter& write) {
  if (!factorise(matrix)) return false;
  const int others = tile * matrix.count - write.own;
  write_last_rows(matrix, others / tile, [&](int row, int column, float value) {
    if (row >= others && column >= pad) write(row - others, column - pad, value);
  });
  return true;
}

__device__ bool solve_general(const Augmented& b, const RowWriter& write) {
  if (!eliminate(b)) return false;
  write_solution(b, write);
  return true;
}

/// A block for each leaf from order[last − 1] down, the matrices in shared memory or, where they
/// are too large, in the workspace.
template <bool general, bool in_shared>
__global__ void __launch_bounds__(solve_threads, 3)
    solve_kernel(SystemsView view, const std::int32_t* order, std::int64_t last,
                 unsigned char* workspace, std::int64_t stride) {
  const std::int32_t f = order[last - 1 - blockIdx.x];
  const Cluster leaf = view.nodes[view.leaves[f]];
  const std::int64_t begin = view.cut_begin[f];
  const int m = static_cast<int>(view.cut_begin[f + 1] - begin), own = leaf.size();
  const int padded = Workspace::padded(m), pad = padded - m;
  unsigned char* memory;
  if constexpr (in_shared)
    memory = dynamic_shared<unsigned char>();
  else
    memory = workspace + blockIdx.x * stride;
  const Workspace space(memory, m, own, general);
  const int n_panels =
      place_unknowns(view.nodes, leaf, view.cut + begin, m, view.panels.extent, space);

  const double unit = 1 / leaf.radius;
  float* rows = view.rows_of(f);
  const RowWriter write{space.unknowns + pad, space.row_scale, own, rows};
  const int more = static_cast<int>(row_stride(own)) - own;
  for (int e = static_cast<int>(threadIdx.x); e < m * more; e += solve_threads)
    rows[e / more * row_stride(own) + own + e % more] = 0;

  const TileMatrix tiles{space.matrix, padded / tile};
  bool solved;
  if constexpr (general) {
    const Augmented b{space.matrix, m, own};
    fill_transposed(b, space.unknowns + pad);
    for_exact_entries(view.panels, space, pad, n_panels, unit,
                      [&](int k, int l, double kl, double lk) {
                        b.at(l, k) = static_cast<float>(kl);
                        b.at(k, l) = static_cast<float>(lk);
                      });
    solved = solve_general(b, write);
  } else {
    fill_tiles(tiles, space.unknowns, 1);
    for_exact_entries(view.panels, space, pad, n_panels, unit,
                      [&](int k, int l, double kl, double lk) {
                        tiles.entry(pad + k, pad + l) = static_cast<float>(0.5 * (kl + lk));
                      });
    solved = solve_symmetric(tiles, pad, write);
  }
  if (solved) return;
  // The smooth kernel alone is positive definite to rounding.
  __syncthreads();
  fill_tiles(tiles, space.unknowns, stiffer);
  if (!solve_symmetric(tiles, pad, write) && threadIdx.x == 0) atomicMin(view.singular, leaf.begin);
}

/// A block for each leaf from order[last − 1] down: its rows in half precision.
__global__ void __launch_bounds__(threads_per_block)
    round_rows(SystemsView view, const std::int32_t* order, std::int64_t last, __half* values,
               float* scale) {
  unsigned* const s_largest = dynamic_shared<unsigned>();  // bits, [row_stride(own)]
  const std::int32_t f = order[last - 1 - blockIdx.x];
  const Cluster leaf = view.nodes[view.leaves[f]];
  const auto stride = static_cast<int>(row_stride(leaf.size()));
  const int entries = static_cast<int>(view.cut_begin[f + 1] - view.cut_begin[f]) * stride;
  const float* const rows = view.rows_of(f);
  __half* const out = values + view.row_begin[f];
  for (int i = threadIdx.x; i < stride; i += blockDim.x) s_largest[i] = 0;
  __syncthreads();
  for (int e = threadIdx.x; e < entries; e += blockDim.x)
    atomicMax(s_largest + e % stride, __float_as_uint(fabsf(rows[e])));
  __syncthreads();
  constexpr int largest_power = 14;
  const auto power_of = [&](int i) {
    return s_largest[i] == 0 ? 0 : static_cast<int>(s_largest[i] >> 23) - 127 - largest_power;
  };
  for (int i = threadIdx.x; i < leaf.size(); i += blockDim.x)
    scale[leaf.begin + i] = ldexpf(1, power_of(i));
  for (int e = threadIdx.x; e < entries; e += blockDim.x)
    out[e] = __float2half_rn(ldexpf(rows[e], -power_of(e % stride)));
}

/// Numbers by which leaves are sorted.
__global__ void find_keys(const std::int64_t* cut_begin, const std::int32_t* has_slivers,
                          std::int64_t n_leaves, std::int32_t* key, std::int32_t* index) {
  const std::int64_t f = thread_index();
  if (f >= n_leaves) return;
  key[f] = static_cast<std::int32_t>(cut_begin[f + 1] - cut_begin[f]) |
           (has_slivers[f] ? general_flag : 0);
  index[f] = static_cast<std::int32_t>(f);
}

/// Of the leaves in their order.
__global__ void size_rows(const Cluster* nodes, const std::int32_t* leaves,
                          const std::int64_t* cut_begin, const std::int32_t* order,
                          std::int64_t n_leaves, std::int64_t* row_size) {
  const std::int64_t i = thread_index();
  if (i > n_leaves) return;
  const std::int32_t f = i < n_leaves ? order[i] : 0;
  row_size[i] =
      i < n_leaves ? (cut_begin[f + 1] - cut_begin[f]) * row_stride(nodes[leaves[f]].size()) : 0;
}

__global__ void place_begins(const std::int32_t* order, const std::int64_t* from,
                             std::int64_t n_leaves, std::int64_t* to) {
  const std::int64_t i = thread_index();
  if (i < n_leaves) to[order[i]] = from[i];
}

/// Of a multiprocessor of the current device.
std::int64_t all_shared_memory() {
  int device = 0, bytes = 0;
  FMBEM_CUDA(cudaGetDevice(&device));
  FMBEM_CUDA(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  return bytes;
}

/// Blocks of a multiprocessor, up to three, whose registers suffice for no more, where each needs
/// so many bytes of shared memory; 0 if no block can have them.
int blocks_at_a_time(std::int64_t bytes, std::int64_t most, std::int64_t all) {
  constexpr std::int64_t besides = 5376;  // static arrays and what the driver takes
  if (bytes > most) return 0;
  return static_cast<int>(std::clamp<std::int64_t>(all / (bytes + besides), 1, 3));
}

/// Leaves in the order of the numbers of their unknowns, those that need an elimination last.
struct SortedLeaves {
  DeviceBuffer<std::int32_t> order;
  std::vector<std::int32_t> keys;
  std::vector<std::int64_t> row_begin;  ///< [leaves + 1], where the rows of each begin
};

SortedLeaves sort_leaves(const DeviceClusterTree& tree, const DeviceCuts& cuts,
                         DeviceBuffer<std::int64_t>& row_begin, cudaStream_t stream) {
  const auto n = static_cast<std::int64_t>(tree.leaves.size());
  DeviceBuffer<std::int32_t> key(n, stream), index(n, stream), sorted_key(n, stream);
  DeviceBuffer<std::int64_t> row_size(n + 1, stream), begin(n + 1, stream);
  SortedLeaves sorted{DeviceBuffer<std::int32_t>(n, stream), std::vector<std::int32_t>(n),
                      std::vector<std::int64_t>(n + 1)};
  launch(find_keys, blocks_for(n), threads_per_block, 0, stream, cuts.begin.data(),
         cuts.has_slivers.data(), n, key.data(), index.data());
  sort_pairs(key.data(), sorted_key.data(), index.data(), sorted.order.data(), n, 31, stream);
  launch(size_rows, blocks_for(n + 1), threads_per_block, 0, stream, tree.nodes.data(),
         tree.leaves.data(), cuts.begin.data(), sorted.order.data(), n, row_size.data());
  exclusive_sum(row_size.data(), begin.data(), n + 1, stream);
  row_begin = DeviceBuffer<std::int64_t>(n, stream);
  launch(place_begins, blocks_for(n), threads_per_block, 0, stream, sorted.order.data(),
         begin.data(), n, row_begin.data());
  sorted_key.download(sorted.keys.data());
  begin.download(sorted.row_begin.data());
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return sorted;
}

/// Solves the systems of sorted leaves [begin, end) and rounds their rows.
template <bool general>
void solve_range(SystemsView view, const SortedLeaves& leaves, std::int64_t begin, std::int64_t end,
                 int max_leaf, const DeviceRows& rows, cudaStream_t stream) {
  const auto most = static_cast<std::int64_t>(shared_memory_of_a_block());
  const std::int64_t all = all_shared_memory();
  DeviceBuffer<unsigned char> workspace;
  DeviceBuffer<float> in_single;
  const auto bytes_of = [&](std::int64_t i) {
    const int m = leaves.keys[i] & ~general_flag;
    return Workspace::bytes(m, std::min(m, max_leaf), general);
  };
  // The largest first, those together that leave room for as many blocks at a time.
  while (begin < end) {
    const std::int64_t bytes = bytes_of(end - 1);
    const int blocks = blocks_at_a_time(bytes, most, all);
    std::int64_t most_leaves = end - begin;
    if (blocks == 0) {
      most_leaves = std::clamp<std::int64_t>(workspace_bytes / bytes, 1, most_leaves);
      grow(workspace, most_leaves * bytes, stream);
    }
    std::int64_t first = end - 1;
    while (first > begin && end - first < most_leaves &&
           leaves.row_begin[end] - leaves.row_begin[first - 1] <= entries_at_once &&
           blocks_at_a_time(bytes_of(first - 1), most, all) == blocks)
      --first;
    view.first_row = leaves.row_begin[first];
    grow(in_single, leaves.row_begin[end] - view.first_row, stream);
    view.rows = in_single.data();
    const auto count = static_cast<unsigned>(end - first);
    if (blocks > 0)
      launch(solve_kernel<general, true>, count, solve_threads, bytes, stream, view,
             leaves.order.data(), end, nullptr, 0);
    else
      launch(solve_kernel<general, false>, count, solve_threads, 0, stream, view,
             leaves.order.data(), end, workspace.data(), bytes);
    launch(round_rows, count, threads_per_block, row_stride(max_leaf) * sizeof(unsigned), stream,
           view, leaves.order.data(), end, rows.values.data(), rows.scale.data());
    end = first;
  }
}

}  // namespace

DeviceRows solve_systems(const DeviceClusterTree& tree, const DeviceCuts& cuts,
                         const DevicePanels& panels, int max_leaf, cudaStream_t stream) {
  DeviceRows rows;
  const SortedLeaves leaves = sort_leaves(tree, cuts, rows.begin, stream);
  rows.values = DeviceBuffer<__half>(leaves.row_begin.back(), stream);
  rows.scale = DeviceBuffer<float>(panels.size, stream);
  DeviceBuffer<std::int32_t> singular(1, stream);
  const std::int32_t none = INT_MAX;
  singular.upload(&none);
  const SystemsView view{tree.nodes.data(),
                         tree.leaves.data(),
                         cuts.begin.data(),
                         cuts.nodes.data(),
                         rows.begin.data(),
                         nullptr,
                         0,
                         panels,
                         singular.data()};
  const auto n_leaves = static_cast<std::int64_t>(leaves.keys.size());
  const std::int64_t symmetric =
      std::lower_bound(leaves.keys.begin(), leaves.keys.end(), general_flag) - leaves.keys.begin();
  solve_range<true>(view, leaves, symmetric, n_leaves, max_leaf, rows, stream);
  solve_range<false>(view, leaves, 0, symmetric, max_leaf, rows, stream);
  const std::int32_t at = download_one(singular.data(), stream);
  FMBEM_REQUIRE(at == none,
                "the preconditioner's system at panel " << at << " is singular: check the mesh");
  return rows;
}

}  // namespace fmbem::cuda
