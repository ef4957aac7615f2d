// P2L, M2P and P2P out of the near lists' reach, of hybrids.
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/hybrid.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/m2p.cuh"
#include "fmbem/cuda/p2m.cuh"
#include "fmbem/cuda/p2p_sums.cuh"
#include "fmbem/fmm/kernel/laplace.hpp"

namespace fmbem::cuda {
namespace {

template <class T, class N>
__global__ void __launch_bounds__(threads_per_block)
    p2l_kernel(PointsView<double> sources, StrengthsView<N> strengths, P2lRowsView rows,
               TreeView tree, Cube root, TableView<T> table, ExpansionsView<T> expansions) {
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
  const std::int32_t* const of_row = rows.sources + rows.begin[row];
  const auto many = static_cast<std::int32_t>(rows.begin[row + 1] - rows.begin[row]);
  __syncwarp();
  for_rounds(0, many, [&]<int Each>(std::integral_constant<int, Each>, std::int32_t first) {
    Vec3<T> place[Each];
    T weight[Each];
#pragma unroll
    for (int i = 0; i < Each; ++i) {
      const std::int32_t k = first + i * warp_size + lane;
      place[i] = {};
      weight[i] = 0;
      if (k >= many) continue;
      const std::int32_t j = of_row[k];
      const Vec3<T> apart = unit_box(sources.x[j], sources.y[j], sources.z[j]);
      const T w = exact_root(norm2(apart));
      place[i] = (w * w) * apart;
      weight[i] = w * static_cast<T>(strengths.places[v * sources.count + j].charge);
    }
    const DegreeFactors<T, Each, fmm::Laplace> factors(fmm::Laplace(), nullptr, table.p);
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

template <int Each, int Channels>
struct ItemSums {
  double total[Each][Channels] = {};
};

/// Numbers of shared memory for the recurrence, and for a warp's expansion: multiples of 16 bytes.
template <class T>
__host__ __device__ int numbers_of_steps(const TableView<T>& table) {
  return (Steps<T>::numbers(table.p, table.pairs) + 3) / 4 * 4;
}
template <class T>
__host__ __device__ int numbers_of_a_warp(const TableView<T>& table, int channels) {
  return (SphericalSeries<T>::numbers(table.pairs, channels) + 3) / 4 * 4;
}

/// Adds the expansions of boxes.
template <int Each, int Channels, class T, class N>
__device__ void add_expansions(const ActingArguments<T, N>& a, const Steps<T>& steps,
                               const ActingItem& item, const Vec3d (&x)[Each], T* room,
                               ItemSums<Each, Channels>& sums) {
  constexpr int boxes_at_a_time = 32;  // summed in T
  const SphericalSeries<T> series{a.table, steps};
  for (int begin = 0; begin < item.m2p; begin += boxes_at_a_time) {
    T far[Each][Channels] = {};
    for (int k = begin; k < min(begin + boxes_at_a_time, item.m2p); ++k) {
      const std::int32_t box = a.acting.boxes[item.begin + k];
      __syncwarp();  // all are done with the one before
      series.template load<Channels>(a.expansions.moment(box, blockIdx.y), room);
      __syncwarp();
      const ToUnitBox<T, double> unit_box(a.root, a.tree, box);
      Vec3<T> d[Each];
#pragma unroll
      for (int t = 0; t < Each; ++t) d[t] = unit_box(x[t].x, x[t].y, x[t].z);
      add_m2p(series, room, d, static_cast<T>(unit_box.scale), far);
    }
#pragma unroll
    for (int t = 0; t < Each; ++t)
#pragma unroll
      for (int c = 0; c < Channels; ++c) sums.total[t][c] += static_cast<double>(far[t][c]);
  }
}

/// Adds the sources of boxes, in units of the leaf's side.
template <int Each, bool Dipoles, int Channels, class T, class N>
__device__ void add_points(const ActingArguments<T, N>& a, const ActingItem& item,
                           const Vec3d (&x)[Each], ActingRoom<N, Dipoles>& room,
                           ItemSums<Each, Channels>& sums) {
  constexpr bool gradient = Channels == 4;
  const int lane = threadIdx.x % warp_size;
  const std::int64_t before = blockIdx.y * a.sources.count;
  const double scale = ToUnitBox<T, double>(a.root, a.tree, item.leaf).scale;
  for (int k = 0; k < item.p2p; ++k) {
    const int2 range = a.tree.sources[a.acting.boxes[item.begin + item.m2p + k]];
    for (std::int32_t begin = range.x; begin < range.y; begin += warp_size) {
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
      for (int i = 0; i < n; ++i) {
        const ChargedPoint<double> s = room.places[i];
        ChargedPoint<N> dipole{};
        if constexpr (Dipoles) dipole = room.dipoles[i];
#pragma unroll
        for (int t = 0; t < Each; ++t) {
          const Vec3d apart = scale * (x[t] - Vec3d{s.x, s.y, s.z});
          const Vec3<N> d{static_cast<N>(apart.x), static_cast<N>(apart.y),
                          static_cast<N>(apart.z)};
          const N r2 = norm2(d), w = r2 > 0 ? exact_root(r2) : N(0);
          of_some[t].template add<Dipoles, 2>(fmm::Laplace(), static_cast<N>(s.charge),
                                              {dipole.x, dipole.y, dipole.z}, d, r2, w);
        }
      }
#pragma unroll
      for (int t = 0; t < Each; ++t) {
        sums.total[t][0] += scale * static_cast<double>(of_some[t].potential);
        if constexpr (gradient) {
          sums.total[t][1] += scale * scale * static_cast<double>(of_some[t].x);
          sums.total[t][2] += scale * scale * static_cast<double>(of_some[t].y);
          sums.total[t][3] += scale * scale * static_cast<double>(of_some[t].z);
        }
      }
    }
  }
}

/// All that acts on an item's targets, `Each` a lane; lanes without one repeat the last.
template <int Each, bool Dipoles, int Channels, class T, class N>
__device__ void act_on_item(const ActingArguments<T, N>& a, const Steps<T>& steps,
                            const ActingItem& item, T* expansion, ActingRoom<N, Dipoles>& room) {
  const int lane = threadIdx.x % warp_size;
  Vec3d x[Each];
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    const std::int32_t i = item.first + min(t * warp_size + lane, item.count - 1);
    x[t] = {a.targets.x[i], a.targets.y[i], a.targets.z[i]};
  }
  ItemSums<Each, Channels> sums;
  add_expansions(a, steps, item, x, expansion, sums);
  add_points<Each, Dipoles>(a, item, x, room, sums);
#pragma unroll
  for (int t = 0; t < Each; ++t) {
    if (t * warp_size + lane >= item.count) continue;
    const std::int64_t i = blockIdx.y * a.targets.count + item.first + t * warp_size + lane;
    if (a.results.potential) a.results.potential[i] += sums.total[t][0];
    if constexpr (Channels == 4) {
#pragma unroll
      for (int axis = 0; axis < 3; ++axis) a.results.gradient[axis][i] += sums.total[t][1 + axis];
    }
  }
}

template <class T, class N, int Channels, bool Dipoles>
__global__ void __launch_bounds__(threads_per_block)
    acting_kernel(const __grid_constant__ ActingArguments<T, N> a) {
  T* const s_room = dynamic_shared<T>();
  const Steps<T> steps(a.table, s_room);
  const int warps = blockDim.x / warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * warps + warp;
  if (k >= a.acting.count) return;
  // Steps, then of each warp its expansion and its sources.
  const int numbers = numbers_of_a_warp(a.table, Channels);
  T* const expansions = s_room + numbers_of_steps(a.table);
  auto& room = reinterpret_cast<ActingRoom<N, Dipoles>*>(expansions + warps * numbers)[warp];
  const ActingItem item = a.acting.items[k];
  if (item.count > warp_size)
    act_on_item<2, Dipoles, Channels>(a, steps, item, expansions + warp * numbers, room);
  else
    act_on_item<1, Dipoles, Channels>(a, steps, item, expansions + warp * numbers, room);
}

template <int Channels, bool Dipoles, class T, class N>
void launch_acting(const ActingArguments<T, N>& a, cudaStream_t stream) {
  const std::size_t steps = sizeof(T) * numbers_of_steps(a.table),
                    of_a_warp = sizeof(T) * numbers_of_a_warp(a.table, Channels) +
                                sizeof(ActingRoom<N, Dipoles>);
  const int warps = static_cast<int>(std::clamp<std::size_t>(
      (shared_memory_of_a_block() - steps) / of_a_warp, 1, warps_per_block));
  launch(acting_kernel<T, N, Channels, Dipoles>,
         dim3(blocks_for(a.acting.count, warps), a.expansions.vectors), warps * warp_size,
         steps + warps * of_a_warp, stream, a);
}

}  // namespace

template <class T, class N>
void p2l(const PointsView<double>& sources, const StrengthsView<N>& strengths,
         const P2lRowsView& rows, const TreeView& tree, const Cube& root, const TableView<T>& table,
         const ExpansionsView<T>& expansions, cudaStream_t stream) {
  const WarpBlocks<T> blocks(table, p2m_numbers<T>(table.pairs, 1));
  launch(p2l_kernel<T, N>, dim3(blocks_for(rows.count, blocks.warps), expansions.vectors),
         blocks.warps * warp_size, blocks.shared_bytes, stream, sources, strengths, rows, tree,
         root, table, expansions);
}

template <class T, class N>
void act_on_points(const ActingArguments<T, N>& a, cudaStream_t stream) {
  const bool gradient = a.results.gradient[0] != nullptr;
  if (a.strengths.dipoles)
    gradient ? launch_acting<4, true>(a, stream) : launch_acting<1, true>(a, stream);
  else
    gradient ? launch_acting<4, false>(a, stream) : launch_acting<1, false>(a, stream);
}

#define FMBEM_INSTANTIATE(T, N)                                                                  \
  template void p2l(const PointsView<double>&, const StrengthsView<N>&, const P2lRowsView&,      \
                    const TreeView&, const Cube&, const TableView<T>&, const ExpansionsView<T>&, \
                    cudaStream_t);                                                               \
  template void act_on_points(const ActingArguments<T, N>&, cudaStream_t);
FMBEM_INSTANTIATE(double, double)
FMBEM_INSTANTIATE(double, float)
FMBEM_INSTANTIATE(float, double)
FMBEM_INSTANTIATE(float, float)
#undef FMBEM_INSTANTIATE

}  // namespace fmbem::cuda
