// P2L, and P2P out of the near lists' reach, of hybrids.
#include "fmbem/cuda/acting.cuh"
#include "fmbem/cuda/irregular.cuh"
#include "fmbem/cuda/m2p.cuh"
#include "fmbem/cuda/p2m.cuh"
#include "fmbem/cuda/p2p_sums.cuh"

namespace fmbem::cuda {
namespace {

template <class T, class N, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    p2l_kernel(PointsView<double> sources, StrengthsView<N> strengths, P2lRowsView rows,
               TreeView tree, Cube root, TableView<T> table, ExpansionsView<T> expansions,
               Kernel in_tree) {
  T* const s_room = dynamic_shared<T>();
  const Steps<T> steps(table, s_room);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, v = blockIdx.y;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_size) + warp;
  if (row >= rows.count) return;
  T* const buffer =
      s_room + Steps<T>::numbers(table.p, table.pairs) + warp * p2m_numbers<T>(table.pairs, 1);
  T* const sums = buffer + slots_at_once * padded_row;
  const int slots = 2 * table.pairs;
  for (int k = lane; k < slots; k += warp_size) sums[k] = 0;
  const std::int32_t box = rows.boxes[row];
  const ToUnitBox<T, double> unit_box(root, tree, box);
  const Kernel kernel = in_unit(in_tree, 1 / unit_box.scale);
  const std::int32_t* const of_row = rows.sources + rows.begin[row];
  const auto many = static_cast<std::int32_t>(rows.begin[row + 1] - rows.begin[row]);
  __syncwarp();
  for_rounds(0, many, [&]<int Each>(std::integral_constant<int, Each>, std::int32_t first) {
    Vec3<T> place[Each];
    T weight[Each], distance[Each];
#pragma unroll
    for (int i = 0; i < Each; ++i) {
      const std::int32_t k = first + i * warp_size + lane;
      place[i] = {};
      weight[i] = distance[i] = 0;
      if (k >= many) continue;
      const std::int32_t j = of_row[k];
      const Vec3<T> apart = unit_box(sources.x[j], sources.y[j], sources.z[j]);
      const T r2 = norm2(apart), w = exact_root(r2);
      distance[i] = r2 * w;
      place[i] = (w * w) * apart;
      weight[i] = w * static_cast<T>(strengths.places[v * sources.count + j].charge);
    }
    const InvertedFactors<T, Each, Kernel> factors(kernel, distance, table.p);
    add_moments<Each>(table, steps, factors, place, weight, buffer, sums);
  });
  __syncwarp();
  T* const local = expansions.local(box, v);
  for (int slot = lane; slot < slots; slot += warp_size)
    if (table.position[slot] >= 0) local[table.position[slot]] += sums[slot];
}

/// Of a warp: sources that all of its lanes read.
template <class N, bool Dipoles>
struct ActingRoom {
  ChargedPoint<double> places[warp_size];
  ChargedPoint<N> dipoles[Dipoles ? warp_size : 1];
};

/// Adds the sources of boxes, every so-manieth piece of 32, in units of the leaf's side.
template <int Each, bool Dipoles, int Channels, class N, class Kernel>
__device__ void add_points(const FarPairsArguments<N>& a, const Kernel& in_tree,
                           const ActingItem& item, ActingRoom<N, Dipoles>& room,
                           ItemTargets<Each, Channels>& targets) {
  constexpr bool gradient = Channels == 4;
  const int lane = targets.lane(), groups = targets.groups(),
            warps = static_cast<int>(blockDim.x) / warp_size,
            warp = static_cast<int>(threadIdx.x) / warp_size;
  const std::int64_t before = blockIdx.y * a.sources.count;
  const double scale = ToUnitBox<double, double>(a.root, a.tree, item.leaf).scale;
  const auto kernel = near_kernel<N>(in_unit(in_tree, 1 / scale));
  int piece = 0;
  for (int k = 0; k < item.boxes; ++k) {
    const int2 range = a.tree.sources[a.acting.boxes[item.begin + k]];
    for (std::int32_t begin = range.x; begin < range.y; begin += warp_size, ++piece) {
      if (piece % warps != warp) continue;
      const int n = min(range.y - begin, warp_size), j = begin + lane;
      __syncwarp();  // all are done with those before
      if (lane < n) {
        room.places[lane] = {a.sources.x[j], a.sources.y[j], a.sources.z[j],
                             static_cast<double>(a.strengths.places[before + j].charge)};
        if constexpr (Dipoles) {
          const ChargedPoint<N> d = a.strengths.dipoles[before + j];
          const auto to_leaf = static_cast<N>(scale);
          room.dipoles[lane] = {to_leaf * d.x, to_leaf * d.y, to_leaf * d.z, N(0)};
        }
      }
      __syncwarp();
      Sums<N, true, gradient> of_some[Each];
#pragma unroll 4
      for (int i = targets.group(); i < n; i += groups) {
        const ChargedPoint<double> s = room.places[i];
        ChargedPoint<N> dipole{};
        if constexpr (Dipoles) dipole = room.dipoles[i];
#pragma unroll
        for (int t = 0; t < Each; ++t) {
          const Vec3d apart = scale * (targets.x[t] - Vec3d{s.x, s.y, s.z});
          const Vec3<N> d{static_cast<N>(apart.x), static_cast<N>(apart.y),
                          static_cast<N>(apart.z)};
          const N r2 = norm2(d), w = r2 > 0 ? exact_root(r2) : N(0);
          of_some[t].template add<Dipoles, 2>(kernel, static_cast<N>(s.charge),
                                              {dipole.x, dipole.y, dipole.z}, d, r2, w);
        }
      }
#pragma unroll
      for (int t = 0; t < Each; ++t) {
        targets.total[t][0] += scale * static_cast<double>(of_some[t].potential);
        if constexpr (gradient) {
          targets.total[t][1] += scale * scale * static_cast<double>(of_some[t].x);
          targets.total[t][2] += scale * scale * static_cast<double>(of_some[t].y);
          targets.total[t][3] += scale * scale * static_cast<double>(of_some[t].z);
        }
      }
    }
  }
}

/// A block for each item, from `first` on.
template <class N, class Kernel, int Channels, bool Dipoles>
__global__ void __launch_bounds__(most_acting_warps* warp_size)
    far_pairs_kernel(const __grid_constant__ FarPairsArguments<N> a, std::int64_t first) {
  // Of each warp its sources, then of each its sums.
  auto* const rooms = dynamic_shared<ActingRoom<N, Dipoles>>();
  auto* const sums =
      reinterpret_cast<ActingSums<Channels>*>(rooms + static_cast<int>(blockDim.x) / warp_size);
  const ActingItem item = a.acting.items[first + blockIdx.x];
  sum_item<Channels>(item, a.targets, a.results, sums, [&](auto& targets) {
    add_points(a, kernel_of<Kernel>(a.kappa), item, rooms[threadIdx.x / warp_size], targets);
  });
}

template <int Channels, bool Dipoles, class N>
void launch_far_pairs(const FarPairsArguments<N>& a, cudaStream_t stream) {
  fmm::with_kernel(a.kappa, [&]<class Kernel>(Kernel) {
    launch_items(far_pairs_kernel<N, Kernel, Channels, Dipoles>, a, a.vectors, 0,
                 sizeof(ActingRoom<N, Dipoles>) + sizeof(ActingSums<Channels>), stream);
  });
}

}  // namespace

template <class T, class N>
void p2l(const PointsView<double>& sources, const StrengthsView<N>& strengths,
         const P2lRowsView& rows, const TreeView& tree, const Cube& root, const TableView<T>& table,
         const ExpansionsView<T>& expansions, const FarKernel& far, cudaStream_t stream) {
  const WarpBlocks<T> blocks(table, p2m_numbers<T>(table.pairs, 1));
  fmm::with_kernel(far.kappa, [&]<class Kernel>(Kernel kernel) {
    launch(p2l_kernel<T, N, Kernel>, dim3(blocks_for(rows.count, blocks.warps), expansions.vectors),
           blocks.warps * warp_size, blocks.shared_bytes, stream, sources, strengths, rows, tree,
           root, table, expansions, kernel);
  });
}

template <class N>
void p2p_out_of_reach(const FarPairsArguments<N>& a, cudaStream_t stream) {
  const bool gradient = a.results.gradient[0] != nullptr;
  if (a.strengths.dipoles)
    gradient ? launch_far_pairs<4, true>(a, stream) : launch_far_pairs<1, true>(a, stream);
  else
    gradient ? launch_far_pairs<4, false>(a, stream) : launch_far_pairs<1, false>(a, stream);
}

#define FMBEM_INSTANTIATE(T, N)                                                                  \
  template void p2l(const PointsView<double>&, const StrengthsView<N>&, const P2lRowsView&,      \
                    const TreeView&, const Cube&, const TableView<T>&, const ExpansionsView<T>&, \
                    const FarKernel&, cudaStream_t);
FMBEM_INSTANTIATE(double, double)
FMBEM_INSTANTIATE(double, float)
FMBEM_INSTANTIATE(float, double)
FMBEM_INSTANTIATE(float, float)
#undef FMBEM_INSTANTIATE
template void p2p_out_of_reach(const FarPairsArguments<double>&, cudaStream_t);
template void p2p_out_of_reach(const FarPairsArguments<float>&, cudaStream_t);

}  // namespace fmbem::cuda
