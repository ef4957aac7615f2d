#include <algorithm>
#include <climits>
#include <vector>

#include "fmbem/bem/precond/cuda/round_rows.cuh"
#include "fmbem/bem/precond/cuda/solvation_system.cuh"
#include "fmbem/bem/precond/cuda/solvation_systems.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cuda::bem {
namespace {

/// The device memory that all blocks may work in: where systems are large fewer run.
constexpr std::int64_t solvation_workspace_bytes = std::int64_t{1} << 29;

struct SolvationSystemsView {
  SolvationNodes of;
  const Cluster* nodes;
  const std::int32_t* leaves;
  std::int64_t n_leaves;
  const std::int64_t* cut_begin;
  const std::int32_t* cut;
  const std::int64_t* row_begin;
  __half* rows;
  float* scale;
  std::int32_t* singular;  ///< the first panel of a leaf whose system is
};

/// Blocks take one leaf after the other; each has room for a matrix.
__global__ void __launch_bounds__(general_threads, general_blocks)
    solve_solvation(SolvationSystemsView view, float* room, std::int64_t room_size,
                    unsigned* taken) {
  __shared__ std::int64_t s_leaf;
  for (;;) {
    if (threadIdx.x == 0) s_leaf = atomicAdd(taken, 1u);
    __syncthreads();
    const std::int64_t f = s_leaf;
    if (f >= view.n_leaves) return;
    const Cluster& leaf = view.nodes[view.leaves[f]];
    const std::int64_t begin = view.cut_begin[f];
    const int m = static_cast<int>(view.cut_begin[f + 1] - begin), own = 2 * leaf.size(),
              others = 2 * m - own;
    const SolvationWorkspace space(dynamic_shared<std::int32_t>(), 2 * m, own);
    const SquareMatrix a{room + blockIdx.x * room_size, 2 * m};
    SolvationFill(view.of, view.nodes, leaf, view.cut + begin, m, space, a)();
    if (!eliminate(a, own, space.column_of, space.room)) {
      if (threadIdx.x == 0) atomicMin(view.singular, view.of.panel_at[leaf.begin]);
      __syncthreads();
      continue;
    }
    round_sums([&](int k, int i) { return a.at(others + i, space.column_of[k]); }, 2 * m, own, 2,
               space.factor, view.rows + view.row_begin[f],
               view.scale + 2 * std::int64_t{leaf.begin});
  }
}

}  // namespace

DeviceRows solve_solvation_systems(const SolvationNodes& of, const DeviceClusterTree& tree,
                                   const DeviceCuts& cuts, cudaStream_t stream) {
  const LeavesOfCuts leaves = leaves_of_cuts(tree, cuts, stream);
  const auto n_leaves = static_cast<std::int64_t>(leaves.own_on_host.size());
  std::vector<std::int64_t> row_begin{0};
  std::int64_t matrix_bytes = 0, shared_bytes = 0;
  for (std::int64_t f = 0; f < n_leaves; ++f) {
    const int own = 2 * leaves.own_on_host[f],
              size = 2 * static_cast<int>(leaves.cut_begin[f + 1] - leaves.cut_begin[f]);
    require_eliminable(size);
    row_begin.push_back(row_begin.back() + size * row_stride(own));
    matrix_bytes = std::max(matrix_bytes, SquareMatrix::bytes(size));
    shared_bytes = std::max(shared_bytes, SolvationWorkspace::bytes(size, own));
  }
  DeviceRows rows;
  rows.begin = to_device(row_begin, stream);
  rows.values = DeviceBuffer<__half>(row_begin.back(), stream);
  rows.scale = DeviceBuffer<float>(2 * tree.size(), stream);
  const std::int32_t none = INT_MAX;
  DeviceBuffer<std::int32_t> singular(1, stream);
  singular.upload(&none);
  DeviceBuffer<unsigned> taken(1, stream);
  taken.fill_bytes(0);
  const std::int64_t blocks = std::min(
      {n_leaves, std::int64_t{general_blocks} * device_attribute(cudaDevAttrMultiProcessorCount),
       std::max<std::int64_t>(1, solvation_workspace_bytes / matrix_bytes)});
  const std::int64_t room_size = matrix_bytes / static_cast<std::int64_t>(sizeof(float));
  DeviceBuffer<float> room(blocks * room_size, stream);
  const SolvationSystemsView view{of,
                                  tree.nodes.data(),
                                  tree.leaves.data(),
                                  n_leaves,
                                  cuts.begin.data(),
                                  cuts.nodes.data(),
                                  rows.begin.data(),
                                  rows.values.data(),
                                  rows.scale.data(),
                                  singular.data()};
  launch(solve_solvation, static_cast<unsigned>(blocks), general_threads, shared_bytes, stream,
         view, room.data(), room_size, taken.data());
  const std::int32_t at = download_one(singular.data(), stream);
  FMBEM_REQUIRE(at == none,
                "the preconditioner's system at panel " << at << " is singular: check the mesh");
  return rows;
}

}  // namespace fmbem::cuda::bem
