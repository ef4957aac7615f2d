#include <algorithm>
#include <climits>
#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/precond/cuda/elimination.cuh"
#include "fmbem/bem/precond/cuda/round_rows.cuh"
#include "fmbem/bem/precond/cuda/solvation_systems.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cuda::bem {
namespace {

/// Blocks of a multiprocessor, and the device memory that all may work in: where systems are large
/// fewer run.
constexpr int most_solvation_blocks = 2;
constexpr std::int64_t solvation_workspace_bytes = std::int64_t{1} << 29;
/// Panels of a leaf, at most.
constexpr int most_solvation_own = 128;
/// Closer than so many radii of the source panels take closed forms.
constexpr double close_radii = 4;

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

/// V and K of a panel at the centroid of another one. Far away by the middles of its edges, which
/// is exact for polynomials of degree 2.
struct PanelPotentials {
  double v, k;
};
__device__ PanelPotentials panel_potentials(const Triangle& t, Vec3d x) {
  if (norm2(x - t.centroid) < close_radii * close_radii * t.radius * t.radius)
    return {triangle_potential(t, x), triangle_double_layer(t, x)};
  PanelPotentials sum{0, 0};
  for (int edge = 0; edge < 3; ++edge) {
    const Vec3d d = x - 0.5 * (t.vertex[edge] + t.vertex[(edge + 1) % 3]);
    const double over = 1 / std::sqrt(norm2(d));
    sum.v += over;
    sum.k += dot(t.normal, d) * over * over * over;
  }
  const double weight = inv_4pi * t.area / 3;
  return {weight * sum.v, weight * sum.k};
}

/// The transposed system of a leaf, by a block, with unit vectors for its own unknowns behind it. A
/// thread has some nodes as sources.
__device__ void fill_transposed(const SolvationSystemsView& view, const std::int32_t* cut, int m,
                                const Augmented& b) {
  const SolvationNodes& of = view.of;
  for (int l = static_cast<int>(threadIdx.x); l < m; l += solve_threads) {
    const Cluster from = view.nodes[cut[l]];
    const NodeSides of_l = of.sides[cut[l]];
    Triangle t;
    if (from.is_panel()) {
      const Vec3d* const vertex = of.vertices + 3 * std::int64_t{of.panel_at[from.begin]};
      t = make_triangle(vertex[0], vertex[1], vertex[2]);
    }
    for (int k = 0; k < m; ++k) {
      const Cluster& to = view.nodes[cut[k]];
      const double distance = smeared_distance(to, from);
      PanelPotentials p{smooth_v(from, distance), smooth_k(to, from, of_l.normal, distance)};
      if (from.is_panel() && to.is_panel()) p = panel_potentials(t, to.centroid);
      if (k == l) p.k = of_l.own_k;
      const PairEquations entries =
          pair_equations(of.sides[cut[k]], of_l, k == l, p.v, p.k, distance, of.media);
      for (int side = 0; side < 2; ++side) {
        b.at(2 * l, 2 * k + side) = static_cast<float>(entries.of_potential[side]);
        b.at(2 * l + 1, 2 * k + side) = static_cast<float>(entries.of_flux[side]);
      }
    }
  }
  const int first = b.unknowns - b.right_sides;
  for (int e = static_cast<int>(threadIdx.x); e < b.unknowns * b.right_sides; e += solve_threads) {
    const int row = e % b.unknowns, column = e / b.unknowns;
    b.at(row, b.unknowns + column) = row == first + column ? 1.f : 0.f;
  }
  __syncthreads();
}

/// Blocks take one leaf after the other; each has room for its rows in single precision and, behind
/// them, for its system.
__global__ void __launch_bounds__(solve_threads, most_solvation_blocks)
    solve_solvation(SolvationSystemsView view, float* room, std::int64_t rows_size,
                    std::int64_t block_size, unsigned* taken) {
  __shared__ std::int64_t s_leaf;
  __shared__ unsigned s_largest[2 * most_solvation_own];
  float* const rows = room + blockIdx.x * block_size;
  for (;;) {
    if (threadIdx.x == 0) s_leaf = atomicAdd(taken, 1u);
    __syncthreads();
    const std::int64_t f = s_leaf;
    if (f >= view.n_leaves) return;
    const Cluster& leaf = view.nodes[view.leaves[f]];
    const std::int64_t begin = view.cut_begin[f];
    const int m = static_cast<int>(view.cut_begin[f + 1] - begin), own = 2 * leaf.size(),
              stride = static_cast<int>(row_stride(own));
    const Augmented b{rows + rows_size, 2 * m, own};
    fill_transposed(view, view.cut + begin, m, b);
    for (int e = static_cast<int>(threadIdx.x); e < 2 * m * (stride - own); e += solve_threads)
      rows[e / (stride - own) * stride + own + e % (stride - own)] = 0;
    if (eliminate(b))
      write_solution(b, [&](int i, int k, float value) { rows[k * stride + i] = value; });
    else if (threadIdx.x == 0)
      atomicMin(view.singular, view.of.panel_at[leaf.begin]);
    __syncthreads();
    round_rows(rows, 2 * m, own, s_largest, view.rows + view.row_begin[f],
               view.scale + 2 * std::int64_t{leaf.begin}, 2);
  }
}

__global__ void find_sizes(const Cluster* nodes, const std::int32_t* leaves, std::int64_t n_leaves,
                           std::int32_t* size) {
  const std::int64_t f = thread_index();
  if (f < n_leaves) size[f] = nodes[leaves[f]].size();
}

}  // namespace

DeviceRows solve_solvation_systems(const SolvationNodes& of, const DeviceClusterTree& tree,
                                   const DeviceCuts& cuts, cudaStream_t stream) {
  const auto n_leaves = static_cast<std::int64_t>(tree.leaves.size());
  DeviceBuffer<std::int32_t> sizes(n_leaves, stream);
  launch(find_sizes, blocks_for(n_leaves), threads_per_block, 0, stream, tree.nodes.data(),
         tree.leaves.data(), n_leaves, sizes.data());
  std::vector<std::int32_t> size(n_leaves);
  std::vector<std::int64_t> cut_begin(n_leaves + 1), row_begin{0};
  sizes.download(size.data());
  cuts.begin.download(cut_begin.data());
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  std::int64_t rows_size = 0, block_size = 0;
  for (std::int64_t f = 0; f < n_leaves; ++f) {
    const int own = 2 * size[f], m = 2 * static_cast<int>(cut_begin[f + 1] - cut_begin[f]);
    FMBEM_REQUIRE(own <= 2 * most_solvation_own, "leaves of the preconditioner hold at most "
                                                     << most_solvation_own << " panels on the GPU");
    const std::int64_t rows = m * row_stride(own);
    row_begin.push_back(row_begin.back() + rows);
    rows_size = std::max(rows_size, rows);
    block_size = std::max(block_size, Augmented::size(m, own));
  }
  block_size = rows_size + (block_size + 3) / 4 * 4;  // rows are read by fours
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
      {n_leaves,
       std::int64_t{most_solvation_blocks} * device_attribute(cudaDevAttrMultiProcessorCount),
       std::max<std::int64_t>(1, solvation_workspace_bytes /
                                     (block_size * static_cast<std::int64_t>(sizeof(float))))});
  DeviceBuffer<float> room(blocks * block_size, stream);
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
  launch(solve_solvation, static_cast<unsigned>(blocks), solve_threads, 0, stream, view,
         room.data(), rows_size, block_size, taken.data());
  const std::int32_t at = download_one(singular.data(), stream);
  FMBEM_REQUIRE(at == none,
                "the preconditioner's system at panel " << at << " is singular: check the mesh");
  return rows;
}

}  // namespace fmbem::cuda::bem
