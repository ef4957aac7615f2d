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

/// The device memory that all blocks may work in: where systems are large fewer run.
constexpr std::int64_t solvation_workspace_bytes = std::int64_t{1} << 29;
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

/// The system of a leaf, by a block. A thread has some nodes as sources.
__device__ void fill_equations(const SolvationSystemsView& view, const std::int32_t* cut, int m,
                               const SquareMatrix& a) {
  const SolvationNodes& of = view.of;
  for (int l = static_cast<int>(threadIdx.x); l < m; l += general_threads) {
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
      const auto set = [&](int column, const double(&of_sides)[2]) {
        *reinterpret_cast<float2*>(a.column(column) + 2 * k) = {static_cast<float>(of_sides[0]),
                                                                static_cast<float>(of_sides[1])};
      };
      set(2 * l, entries.of_potential);
      set(2 * l + 1, entries.of_flux);
    }
  }
  __syncthreads();
}

/// Shared memory of a block, whose system has so many unknowns, of which so many are a leaf's: what
/// columns they are in, sizes of rows, and what an elimination works in.
struct SolvationWorkspace {
  std::int32_t* column_of;
  unsigned* largest;
  float* room;

  __host__ __device__ static constexpr int numbers(int size, int own) {
    return (size + own + 3) / 4 * 4;
  }
  static constexpr std::int64_t bytes(int size, int own) {
    return (numbers(size, own) + elimination_floats(size)) *
           static_cast<std::int64_t>(sizeof(float));
  }
  __device__ SolvationWorkspace(std::int32_t* memory, int size, int own)
      : column_of(memory),
        largest(reinterpret_cast<unsigned*>(memory + size)),
        room(reinterpret_cast<float*>(memory + numbers(size, own))) {}
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
    fill_equations(view, view.cut + begin, m, a);
    if (!eliminate(a, own, space.column_of, space.room)) {
      if (threadIdx.x == 0) atomicMin(view.singular, view.of.panel_at[leaf.begin]);
      __syncthreads();
      continue;
    }
    round_rows([&](int k, int i) { return a.at(others + i, space.column_of[k]); }, 2 * m, own,
               space.largest, view.rows + view.row_begin[f],
               view.scale + 2 * std::int64_t{leaf.begin}, 2);
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
