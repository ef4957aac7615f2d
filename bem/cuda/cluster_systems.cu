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

struct SystemsView {
  const Cluster* nodes;
  const std::int32_t* leaves;
  const std::int64_t* cut_begin;
  const std::int32_t* cut;
  const std::int64_t* row_begin;
  float* rows;
  const Triangle* triangles;
  double extent;
  std::int32_t* singular;  ///< the first panel of a leaf whose system is
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
  const int n_panels = place_unknowns(view.nodes, leaf, view.cut + begin, m, view.extent, space);

  const double unit = 1 / leaf.radius;
  float* rows = view.rows + view.row_begin[f];
  const RowWriter write{space.unknowns + pad, space.row_scale, own, rows};
  const int more = static_cast<int>(row_stride(own)) - own;
  for (int e = static_cast<int>(threadIdx.x); e < m * more; e += solve_threads)
    rows[e / more * row_stride(own) + own + e % more] = 0;

  const TileMatrix tiles{space.matrix, padded / tile};
  bool solved;
  if constexpr (general) {
    const Augmented b{space.matrix, m, own};
    fill_transposed(b, space.unknowns + pad);
    for_exact_entries(view.triangles, space, pad, n_panels, unit,
                      [&](int k, int l, double kl, double lk) {
                        b.at(l, k) = static_cast<float>(kl);
                        b.at(k, l) = static_cast<float>(lk);
                      });
    solved = solve_general(b, write);
  } else {
    fill_tiles(tiles, space.unknowns, 1);
    for_exact_entries(view.triangles, space, pad, n_panels, unit,
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

__global__ void size_rows(const Cluster* nodes, const std::int32_t* leaves,
                          const std::int64_t* cut_begin, const std::int32_t* has_slivers,
                          std::int64_t n_leaves, std::int64_t* row_size, std::int32_t* key,
                          std::int32_t* index) {
  const std::int64_t f = thread_index();
  if (f > n_leaves) return;
  if (f == n_leaves) {
    row_size[f] = 0;
    return;
  }
  const std::int64_t m = cut_begin[f + 1] - cut_begin[f];
  row_size[f] = m * row_stride(nodes[leaves[f]].size());
  key[f] = static_cast<std::int32_t>(m) | (has_slivers[f] ? general_flag : 0);
  index[f] = static_cast<std::int32_t>(f);
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

template <bool general>
void solve_range(const SystemsView& view, const std::int32_t* order,
                 const std::vector<std::int32_t>& keys, std::int64_t begin, std::int64_t end,
                 int max_leaf, cudaStream_t stream) {
  const auto most = static_cast<std::int64_t>(shared_memory_of_a_block());
  const std::int64_t all = all_shared_memory();
  const auto bytes_of = [&](std::int64_t i) {
    const int m = keys[i] & ~general_flag;
    return Workspace::bytes(m, std::min(m, max_leaf), general);
  };
  // The largest first, those together that leave room for as many blocks at a time.
  while (begin < end) {
    const std::int64_t bytes = bytes_of(end - 1);
    const int blocks = blocks_at_a_time(bytes, most, all);
    std::int64_t first = end - 1;
    while (first > begin && blocks_at_a_time(bytes_of(first - 1), most, all) == blocks) --first;
    if (blocks > 0) {
      launch(solve_kernel<general, true>, static_cast<unsigned>(end - first), solve_threads, bytes,
             stream, view, order, end, nullptr, 0);
    } else {
      const std::int64_t batch = std::clamp<std::int64_t>(workspace_bytes / bytes, 1, end - first);
      DeviceBuffer<unsigned char> workspace(batch * bytes, stream);
      for (std::int64_t last = end; last > first; last -= batch)
        launch(solve_kernel<general, false>, static_cast<unsigned>(std::min(batch, last - first)),
               solve_threads, 0, stream, view, order, last, workspace.data(), bytes);
    }
    end = first;
  }
}

}  // namespace

DeviceRows solve_systems(const DeviceClusterTree& tree, const DeviceCuts& cuts,
                         const Triangle* triangles, double extent, int max_leaf,
                         cudaStream_t stream) {
  const auto n_leaves = static_cast<std::int64_t>(tree.leaves.size());
  DeviceBuffer<std::int64_t> row_size(n_leaves + 1, stream);
  DeviceBuffer<std::int32_t> key(n_leaves, stream), index(n_leaves, stream);
  DeviceBuffer<std::int32_t> sorted_key(n_leaves, stream), order(n_leaves, stream);
  launch(size_rows, blocks_for(n_leaves + 1), threads_per_block, 0, stream, tree.nodes.data(),
         tree.leaves.data(), cuts.begin.data(), cuts.has_slivers.data(), n_leaves, row_size.data(),
         key.data(), index.data());
  DeviceRows rows;
  rows.begin = DeviceBuffer<std::int64_t>(n_leaves + 1, stream);
  exclusive_sum(row_size.data(), rows.begin.data(), n_leaves + 1, stream);
  sort_pairs(key.data(), sorted_key.data(), index.data(), order.data(), n_leaves, 31, stream);

  DeviceBuffer<std::int32_t> singular(1, stream);
  const std::int32_t none = INT_MAX;
  singular.upload(&none);
  std::vector<std::int32_t> keys(n_leaves);
  sorted_key.download(keys.data());
  rows.values = DeviceBuffer<float>(download_one(rows.begin.data() + n_leaves, stream), stream);

  const SystemsView view{
      tree.nodes.data(), tree.leaves.data(), cuts.begin.data(), cuts.nodes.data(),
      rows.begin.data(), rows.values.data(), triangles,         extent,
      singular.data()};
  const std::int64_t symmetric =
      std::lower_bound(keys.begin(), keys.end(), general_flag) - keys.begin();
  solve_range<true>(view, order.data(), keys, symmetric, n_leaves, max_leaf, stream);
  solve_range<false>(view, order.data(), keys, 0, symmetric, max_leaf, stream);
  const std::int32_t at = download_one(singular.data(), stream);
  FMBEM_REQUIRE(at == none,
                "the preconditioner's system at panel " << at << " is singular: check the mesh");
  return rows;
}

}  // namespace fmbem::cuda
