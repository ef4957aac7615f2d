#include <algorithm>
#include <climits>
#include <vector>

#include "fmbem/bem/precond/cuda/elimination.cuh"
#include "fmbem/bem/precond/cuda/round_rows.cuh"
#include "fmbem/bem/precond/cuda/solvation_by_parts.cuh"
#include "fmbem/bem/precond/cuda/solvation_system.cuh"
#include "fmbem/bem/precond/cuda/solvation_systems.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/copied.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cuda::bem {
namespace {

constexpr auto bytes_of_one = static_cast<std::int64_t>(sizeof(float));

/// The device memory that all blocks may work in: where systems are large fewer run.
constexpr std::int64_t solvation_workspace_bytes = std::int64_t{1} << 29;

struct SolvationSystemsView {
  SolvationNodes of;
  const Cluster* nodes;
  const std::int32_t* leaves;
  const std::int64_t* cut_begin;
  const std::int32_t* cut;
  const std::int64_t* row_begin;
  __half* rows;
  float* scale;
};

struct LeafList {
  const std::int32_t* leaf;  ///< [count]
  std::int64_t count;
  unsigned* taken;
};

/// Leaves whose systems want other pivots than those on the diagonal.
struct LeavesLeft {
  std::int32_t* leaf;
  unsigned* count;
};

/// The numbers of an elimination before its room in shared memory: columns of equations and factors
/// of rows.
__host__ __device__ constexpr int shared_before(int size, int own) {
  return (size + own + 3) / 4 * 4;
}

/// The system of a leaf.
struct SolvationLeaf {
  const Cluster* leaf;
  const std::int32_t* cut;
  int m, own;  ///< nodes, and unknowns of the leaf
  __half* rows;
  float* scale;

  __device__ SolvationLeaf(const SolvationSystemsView& view, std::int64_t f)
      : leaf(view.nodes + view.leaves[f]),
        cut(view.cut + view.cut_begin[f]),
        m(static_cast<int>(view.cut_begin[f + 1] - view.cut_begin[f])),
        own(2 * leaf->size()),
        rows(view.rows + view.row_begin[f]),
        scale(view.scale + 2 * std::int64_t{leaf->begin}) {}
};

/// Solves the systems of the leaves of a list, one after the other. Where solve(leaf) is false, one
/// thread calls left(leaf's number).
template <class Solve, class Left>
__device__ void for_leaves(const SolvationSystemsView& view, const LeafList& list, Solve&& solve,
                           Left&& left) {
  __shared__ std::int64_t s_next;
  for (;;) {
    if (threadIdx.x == 0) s_next = atomicAdd(list.taken, 1u);
    __syncthreads();
    const std::int64_t next = s_next;
    if (next >= list.count) return;
    const std::int32_t leaf = list.leaf[next];
    if (!solve(SolvationLeaf(view, leaf)) && threadIdx.x == 0) left(leaf);
    __syncthreads();
  }
}

/// Of blocks with `room_size` floats of device memory each. `singular` becomes the first panel of a
/// leaf whose system is.
__global__ void __launch_bounds__(general_threads, general_blocks)
    eliminate_solvation(SolvationSystemsView view, LeafList list, float* room,
                        std::int64_t room_size, std::int32_t* singular) {
  const auto solve = [&](const SolvationLeaf& of) {
    const int size = 2 * of.m, others = size - of.own;
    auto* const numbers = dynamic_shared<float>();
    auto* const column_of = reinterpret_cast<std::int32_t*>(numbers);
    float *const factor = numbers + size, *const shared = numbers + shared_before(size, of.own);
    const SquareMatrix a{room + blockIdx.x * room_size, size};
    const auto store = [&](int k, int l, float2 of_potential, float2 of_flux) {
      *reinterpret_cast<float2*>(a.column(2 * l) + 2 * k) = of_potential;
      *reinterpret_cast<float2*>(a.column(2 * l + 1) + 2 * k) = of_flux;
    };
    SolvationFill(view.of, view.nodes, *of.leaf, of.cut, of.m, SolvationRoom(shared, of.m),
                  store)();
    if (!eliminate(a, of.own, column_of, shared)) return false;
    round_sums([&](int k, int i) { return a.at(others + i, column_of[k]); }, size, of.own, 2,
               factor, of.rows, of.scale);
    return true;
  };
  for_leaves(view, list, solve, [&](std::int32_t leaf) {
    atomicMin(singular, view.of.panel_at[view.nodes[view.leaves[leaf]].begin]);
  });
}

__global__ void __launch_bounds__(shared_threads, shared_blocks)
    solve_solvation_by_parts(SolvationSystemsView view, LeafList list, float* room,
                             std::int64_t room_size, LeavesLeft left) {
  __shared__ float s_factor[2 * shared_tile];
  const auto solve = [&](const SolvationLeaf& of) {
    auto* const shared = dynamic_shared<float>();
    const SolvationParts parts(room + blockIdx.x * room_size, of.m);
    const auto store = [&](int k, int l, float2 of_potential, float2 of_flux) {
      parts.store(k, l, of_potential, of_flux);
    };
    parts.fill_pad();
    SolvationFill(view.of, view.nodes, *of.leaf, of.cut, of.m, SolvationRoom(shared, of.m),
                  store)();
    const SolvationByParts system(parts, shared);
    if (!system.solve()) return false;
    const int before = shared_tile - of.own / 2;
    round_sums([&](int k, int i) { return system(before + i / 2, i % 2, k / 2, k % 2); }, 2 * of.m,
               of.own, 2, s_factor, of.rows, of.scale);
    return true;
  };
  for_leaves(view, list, solve,
             [&](std::int32_t leaf) { left.leaf[atomicAdd(left.count, 1u)] = leaf; });
}

/// What a kernel needs for the leaves of a list.
struct SystemsOfSize {
  std::vector<std::int32_t> leaves;
  std::int64_t room_floats = 0, shared_bytes = 0;  ///< of a block

  void add(std::int64_t leaf, std::int64_t floats, std::int64_t bytes) {
    leaves.push_back(static_cast<std::int32_t>(leaf));
    room_floats = std::max(room_floats, floats);
    shared_bytes = std::max(shared_bytes, bytes);
  }
};

template <class Kernel, class Result>
void launch_systems(Kernel kernel, int threads, int blocks_together, const SystemsOfSize& systems,
                    const SolvationSystemsView& view, const Result& result, cudaStream_t stream) {
  if (systems.leaves.empty()) return;
  const auto count = static_cast<std::int64_t>(systems.leaves.size());
  const std::int64_t blocks = std::min(
      {count, std::int64_t{blocks_together} * device_attribute(cudaDevAttrMultiProcessorCount),
       std::max<std::int64_t>(1,
                              solvation_workspace_bytes / (bytes_of_one * systems.room_floats))});
  const DeviceBuffer<std::int32_t> leaves = to_device(systems.leaves, stream);
  DeviceBuffer<unsigned> taken(1, stream);
  taken.fill_bytes(0);
  DeviceBuffer<float> room(blocks * systems.room_floats, stream);
  launch(kernel, static_cast<unsigned>(blocks), threads, systems.shared_bytes, stream, view,
         LeafList{leaves.data(), count, taken.data()}, room.data(), systems.room_floats, result);
}

}  // namespace

DeviceRows solve_solvation_systems(const SolvationNodes& of, const DeviceClusterTree& tree,
                                   const DeviceCuts& cuts, cudaStream_t stream) {
  const LeavesOfCuts leaves = leaves_of_cuts(tree, cuts, stream);
  const auto n_leaves = static_cast<std::int64_t>(leaves.own_on_host.size());
  std::vector<std::int64_t> row_begin{0};
  SystemsOfSize by_parts, eliminated;
  const auto nodes_of = [&](std::int64_t f) {
    return static_cast<int>(leaves.cut_begin[f + 1] - leaves.cut_begin[f]);
  };
  const auto eliminate_leaf = [&](std::int64_t f) {
    const int own = 2 * leaves.own_on_host[f], size = 2 * nodes_of(f);
    require_eliminable(size);
    eliminated.add(
        f, SquareMatrix::bytes(size) / bytes_of_one,
        shared_before(size, own) * bytes_of_one +
            std::max(elimination_floats(size) * bytes_of_one, SolvationRoom::bytes(size / 2)));
  };
  for (std::int64_t f = 0; f < n_leaves; ++f) {
    const int own = leaves.own_on_host[f], m = nodes_of(f);
    row_begin.push_back(row_begin.back() + 2 * m * row_stride(2 * own));
    if (m <= most_in_shared && own <= shared_tile) {
      const int whole = SharedMatrix::whole_tiles(m);
      by_parts.add(f, SolvationParts::floats(whole),
                   std::max(SolvationByParts::bytes(whole), SolvationRoom::bytes(m)));
    } else {
      eliminate_leaf(f);
    }
  }
  DeviceRows rows;
  rows.begin = to_device(row_begin, stream);
  rows.values = DeviceBuffer<__half>(row_begin.back(), stream);
  rows.scale = DeviceBuffer<float>(2 * tree.size(), stream);
  const SolvationSystemsView view{of,
                                  tree.nodes.data(),
                                  tree.leaves.data(),
                                  cuts.begin.data(),
                                  cuts.nodes.data(),
                                  rows.begin.data(),
                                  rows.values.data(),
                                  rows.scale.data()};
  DeviceBuffer<std::int32_t> left(static_cast<std::int64_t>(by_parts.leaves.size()), stream);
  DeviceBuffer<unsigned> left_count(1, stream);
  left_count.fill_bytes(0);
  launch_systems(solve_solvation_by_parts, shared_threads, shared_blocks, by_parts, view,
                 LeavesLeft{left.data(), left_count.data()}, stream);
  if (const unsigned count = download_one(left_count.data(), stream); count > 0) {
    std::vector<std::int32_t> all(by_parts.leaves.size());
    left.download(all.data());
    FMBEM_CUDA(cudaStreamSynchronize(stream));
    std::for_each_n(all.begin(), count, eliminate_leaf);
  }
  const std::int32_t none = INT_MAX;
  DeviceBuffer<std::int32_t> singular(1, stream);
  singular.upload(&none);
  launch_systems(eliminate_solvation, general_threads, general_blocks, eliminated, view,
                 singular.data(), stream);
  const std::int32_t at = download_one(singular.data(), stream);
  FMBEM_REQUIRE(at == none,
                "the preconditioner's system at panel " << at << " is singular: check the mesh");
  return rows;
}

}  // namespace fmbem::cuda::bem
