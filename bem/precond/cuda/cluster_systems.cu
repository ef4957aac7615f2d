#include <algorithm>
#include <climits>
#include <vector>

#include "fmbem/bem/precond/cuda/cluster_systems.cuh"
#include "fmbem/bem/precond/cuda/round_rows.cuh"
#include "fmbem/bem/precond/cuda/small_system.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda::bem {
namespace {

/// The bits of the keys by which leaves are sorted: the lower ones are the number of unknowns.
constexpr std::int32_t general_flag = 1 << 30;

/// The part of device memory that blocks may work in, for their rows in single precision and for
/// matrices that are not in shared memory, as those of long panels' systems. Where these are large,
/// fewer blocks run.
constexpr std::int64_t workspace_bytes(bool general) {
  return std::int64_t{1} << (general ? 28 : 27);
}

/// Blocks of a multiprocessor: registers have to suffice for so many.
constexpr int most_blocks(bool general) { return general ? general_blocks : 3; }
constexpr int threads_of_block(bool general) { return general ? general_threads : solve_threads; }

struct SystemsView {
  const Cluster* nodes;
  const std::int32_t *leaves, *order;
  const std::int64_t* cut_begin;
  const std::int32_t* cut;
  DevicePanels panels;
  const std::int64_t* row_begin;
  __half* rows;
  float* scale;
  std::int32_t* singular;  ///< the first panel of a leaf whose system is
};

/// Device memory of each block: its rows in single precision and what of its workspace is not in
/// shared memory.
struct BlockMemory {
  unsigned char* of_all;
  std::int64_t rows_bytes, bytes;
};

/// Shared memory that an elimination works in.
__host__ __device__ constexpr std::int64_t room_bytes(int m) {
  return (elimination_floats(m) * static_cast<std::int64_t>(sizeof(float)) + 15) / 16 * 16;
}

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

/// Writes what eliminate() has found.
__device__ void write_rows(const SquareMatrix& a, const std::int32_t* column_of,
                           const RowWriter& write) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int k = thread / warp_size; k < a.size; k += block_threads() / warp_size)
    for (int i = thread % warp_size; i < write.own; i += warp_size)
      write(i, k, a.at(a.size - write.own + i, column_of[k]));
}

/// Solves the system of a leaf and writes its rows in single precision; returns whether it could.
/// `room` is for an elimination.
template <bool general>
__device__ bool solve_leaf(const SystemsView& view, const Cluster& leaf, std::int64_t begin, int m,
                           const Workspace& space, float* room, float* rows) {
  const int own = leaf.size();
  const int padded = Workspace::padded(m), pad = padded - m;
  const int n_panels =
      place_unknowns<general>(view.nodes, view.panels, leaf, view.cut + begin, m, space);

  const double unit = 1 / leaf.radius;
  const RowWriter write{space.unknowns + pad, space.row_scale, own, rows};
  const int more = static_cast<int>(row_stride(own)) - own;
  for (int e = static_cast<int>(threadIdx.x); e < m * more; e += block_threads())
    rows[e / more * row_stride(own) + own + e % more] = 0;

  if constexpr (general) {
    const SquareMatrix a{space.matrix, m};
    fill_equations(a, space.unknowns + pad, space.segment);
    for_exact_entries<true>(view.panels, space, pad, n_panels, unit,
                            [&](int k, int l, double kl, double lk) {
                              a.at(k, l) = static_cast<float>(kl);
                              a.at(l, k) = static_cast<float>(lk);
                            });
    if (eliminate(a, own, space.column_of, room)) {
      write_rows(a, space.column_of, write);
      return true;
    }
    __syncthreads();
  }
  // Between sheets that are far closer than clusters are large, clusters that face each other have
  // the same entries to rounding. The smooth kernel alone is positive definite to rounding.
  enum { as_it_is, stiffer_clusters, smooth_kernel };
  const TileMatrix tiles{space.matrix, padded / tile};
  for (int attempt = general ? stiffer_clusters : as_it_is; attempt <= smooth_kernel; ++attempt) {
    constexpr float of_panels[] = {1, 1 + rounding_of_sums, stiffer};
    fill_tiles<general>(tiles, space, pad, of_panels[attempt], attempt == as_it_is ? 1 : stiffer);
    if (attempt != smooth_kernel)
      for_exact_entries<general>(
          view.panels, space, pad, n_panels, unit, [&](int k, int l, double kl, double lk) {
            tiles.entry(pad + k, pad + l) = static_cast<float>(0.5 * (kl + lk));
          });
    if (solve_symmetric(tiles, pad, write)) return true;
    __syncthreads();
  }
  return false;
}

/// Blocks take the leaves order[first] to order[last − 1], from the last one down; each takes the
/// next when it is done with one. They round what they have solved themselves, so that rows in
/// single precision need room for only as many leaves as blocks run. Where shared memory suffices,
/// systems are there, but for the matrices of general ones, which are never.
template <bool general, bool in_shared>
__global__ void __launch_bounds__(threads_of_block(general), most_blocks(general))
    solve_kernel(SystemsView view, std::int64_t first, std::int64_t last, BlockMemory memory,
                 unsigned* taken) {
  __shared__ std::int64_t s_next;
  unsigned char* const of_block = memory.of_all + blockIdx.x * memory.bytes;
  float* const rows = reinterpret_cast<float*>(of_block);
  auto* const shared = dynamic_shared<unsigned char>();
  for (;;) {
    if (threadIdx.x == 0) s_next = last - 1 - static_cast<std::int64_t>(atomicAdd(taken, 1u));
    __syncthreads();
    if (s_next < first) return;
    const std::int32_t f = view.order[s_next];
    const Cluster leaf = view.nodes[view.leaves[f]];
    const std::int64_t begin = view.cut_begin[f];
    const int m = static_cast<int>(view.cut_begin[f + 1] - begin);
    const std::int64_t matrix_bytes = Workspace::matrix_bytes(m, general);
    unsigned char* const matrix = in_shared && !general ? shared : of_block + memory.rows_bytes;
    unsigned char* const rest =
        in_shared && general ? shared + room_bytes(m) : matrix + matrix_bytes;
    const Workspace space(matrix, rest, m, leaf.size());
    if (!solve_leaf<general>(view, leaf, begin, m, space, reinterpret_cast<float*>(shared), rows) &&
        threadIdx.x == 0)
      atomicMin(view.singular, leaf.begin);
    __syncthreads();
    const std::int64_t stride = row_stride(leaf.size());
    round_sums([&](int k, int i) { return rows[k * stride + i]; }, m, leaf.size(), 1,
               space.row_scale, view.rows + view.row_begin[f], view.scale + leaf.begin);
  }
}

/// Numbers by which leaves are sorted.
__global__ void find_keys(const std::int64_t* cut_begin, const std::int32_t* has_long,
                          std::int64_t n_leaves, std::int32_t* key, std::int32_t* index) {
  const std::int64_t f = thread_index();
  if (f >= n_leaves) return;
  key[f] =
      static_cast<std::int32_t>(cut_begin[f + 1] - cut_begin[f]) | (has_long[f] ? general_flag : 0);
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

__global__ void take_leaves(const Cluster* nodes, const std::int32_t* leaves, std::int64_t n,
                            std::int32_t* own, std::int32_t* place) {
  const std::int64_t f = thread_index();
  if (f >= n) return;
  own[f] = nodes[leaves[f]].size();
  place[f] = nodes[leaves[f]].begin;
}

__global__ void place_begins(const std::int32_t* order, const std::int64_t* from,
                             std::int64_t n_leaves, std::int64_t* to) {
  const std::int64_t i = thread_index();
  if (i < n_leaves) to[order[i]] = from[i];
}

/// Memory that a system needs, shared if it is there.
std::int64_t bytes_of_system(int m, int max_leaf, bool general) {
  const std::int64_t rest = Workspace::rest_bytes(m, std::min(m, max_leaf), general);
  return rest + (general ? room_bytes(m) : Workspace::matrix_bytes(m, false));
}

/// Blocks of a multiprocessor where each needs so many bytes of shared memory; 0 if no block can
/// have them.
int blocks_at_a_time(std::int64_t bytes, std::int64_t most, std::int64_t all, int most_blocks) {
  constexpr std::int64_t besides = 5376;  // static arrays and what the driver takes
  if (bytes > most) return 0;
  return static_cast<int>(std::clamp<std::int64_t>(all / (bytes + besides), 1, most_blocks));
}

/// Leaves in the order of the numbers of their unknowns, those that need an elimination last.
struct SortedLeaves {
  DeviceBuffer<std::int32_t> order;
  std::vector<std::int32_t> keys;
};

/// Also says where the rows of each begin, and makes room for them.
SortedLeaves sort_leaves(const DeviceClusterTree& tree, const DeviceCuts& cuts, DeviceRows& rows,
                         cudaStream_t stream) {
  const auto n = static_cast<std::int64_t>(tree.leaves.size());
  DeviceBuffer<std::int32_t> key(n, stream), index(n, stream), sorted_key(n, stream);
  DeviceBuffer<std::int64_t> row_size(n + 1, stream), begin(n + 1, stream);
  SortedLeaves sorted{DeviceBuffer<std::int32_t>(n, stream), std::vector<std::int32_t>(n)};
  launch(find_keys, blocks_for(n), threads_per_block, 0, stream, cuts.begin.data(),
         cuts.has_long.data(), n, key.data(), index.data());
  sort_pairs(key.data(), sorted_key.data(), index.data(), sorted.order.data(), n, 31, stream);
  launch(size_rows, blocks_for(n + 1), threads_per_block, 0, stream, tree.nodes.data(),
         tree.leaves.data(), cuts.begin.data(), sorted.order.data(), n, row_size.data());
  exclusive_sum(row_size.data(), begin.data(), n + 1, stream);
  rows.begin = DeviceBuffer<std::int64_t>(n, stream);
  launch(place_begins, blocks_for(n), threads_per_block, 0, stream, sorted.order.data(),
         begin.data(), n, rows.begin.data());
  sorted_key.download(sorted.keys.data());
  rows.values = DeviceBuffer<__half>(download_one(begin.data() + n, stream), stream);
  return sorted;
}

/// Solves the systems of sorted leaves [begin, end).
template <bool general>
void solve_range(const SystemsView& view, const SortedLeaves& leaves, std::int64_t begin,
                 std::int64_t end, int max_leaf, cudaStream_t stream) {
  const auto most = static_cast<std::int64_t>(shared_memory_of_a_block());
  const std::int64_t all = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor),
                     processors = device_attribute(cudaDevAttrMultiProcessorCount);
  const auto unknowns_of = [&](std::int64_t i) { return leaves.keys[i] & ~general_flag; };
  const auto bytes_of = [&](std::int64_t i) {
    return bytes_of_system(unknowns_of(i), max_leaf, general);
  };
  DeviceBuffer<unsigned char> room;
  DeviceBuffer<unsigned> taken(1, stream);
  // Largest systems first; those that allow the same number of blocks at a time go together.
  while (begin < end) {
    const std::int64_t bytes = bytes_of(end - 1);
    const int blocks = blocks_at_a_time(bytes, most, all, most_blocks(general));
    std::int64_t first = end - 1;
    while (first > begin &&
           blocks_at_a_time(bytes_of(first - 1), most, all, most_blocks(general)) == blocks)
      --first;
    const bool in_shared = blocks > 0;
    const int m = unknowns_of(end - 1);
    if (general) require_eliminable(m);
    const std::int64_t rows_bytes = row_stride(std::min(m, max_leaf)) * m *
                                    static_cast<std::int64_t>(sizeof(float)),
                       matrix_bytes = Workspace::matrix_bytes(m, general),
                       rest_bytes = Workspace::rest_bytes(m, std::min(m, max_leaf), general),
                       block_bytes = rows_bytes + (in_shared && !general ? 0 : matrix_bytes) +
                                     (in_shared ? 0 : rest_bytes);
    const std::int64_t count =
        std::min({end - first, processors * (in_shared ? blocks : most_blocks(general)),
                  std::max<std::int64_t>(1, workspace_bytes(general) / block_bytes)});
    grow(room, count * block_bytes, stream);
    taken.fill_bytes(0);
    launch(in_shared ? solve_kernel<general, true> : solve_kernel<general, false>,
           static_cast<unsigned>(count), threads_of_block(general),
           in_shared ? bytes
           : general ? room_bytes(m)
                     : 0,
           stream, view, first, end, BlockMemory{room.data(), rows_bytes, block_bytes},
           taken.data());
    end = first;
  }
}

}  // namespace

LeavesOfCuts leaves_of_cuts(const DeviceClusterTree& tree, const DeviceCuts& cuts,
                            cudaStream_t stream) {
  const auto n = static_cast<std::int64_t>(tree.leaves.size());
  LeavesOfCuts leaves{DeviceBuffer<std::int32_t>(n, stream), DeviceBuffer<std::int32_t>(n, stream),
                      std::vector<std::int32_t>(n), std::vector<std::int64_t>(n + 1)};
  launch(take_leaves, blocks_for(n), threads_per_block, 0, stream, tree.nodes.data(),
         tree.leaves.data(), n, leaves.own.data(), leaves.place.data());
  leaves.own.download(leaves.own_on_host.data());
  cuts.begin.download(leaves.cut_begin.data());
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return leaves;
}

DeviceRows solve_systems(const DeviceClusterTree& tree, const DeviceCuts& cuts,
                         const DevicePanels& panels, int max_leaf, cudaStream_t stream) {
  DeviceRows rows;
  const SortedLeaves leaves = sort_leaves(tree, cuts, rows, stream);
  rows.scale = DeviceBuffer<float>(panels.size, stream);
  DeviceBuffer<std::int32_t> singular(1, stream);
  const std::int32_t none = INT_MAX;
  singular.upload(&none);
  const SystemsView view{tree.nodes.data(), tree.leaves.data(), leaves.order.data(),
                         cuts.begin.data(), cuts.nodes.data(),  panels,
                         rows.begin.data(), rows.values.data(), rows.scale.data(),
                         singular.data()};
  const auto n_leaves = static_cast<std::int64_t>(leaves.keys.size());
  const std::int64_t symmetric =
      std::lower_bound(leaves.keys.begin(), leaves.keys.end(), general_flag) - leaves.keys.begin();
  solve_range<true>(view, leaves, symmetric, n_leaves, max_leaf, stream);
  solve_range<false>(view, leaves, 0, symmetric, max_leaf, stream);
  const std::int32_t at = download_one(singular.data(), stream);
  FMBEM_REQUIRE(at == none,
                "the preconditioner's system at panel " << at << " is singular: check the mesh");
  return rows;
}

}  // namespace fmbem::cuda::bem
