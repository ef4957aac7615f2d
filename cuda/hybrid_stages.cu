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

/// Warps of a block for a long item, if shared memory suffices: they share what acts on it.
constexpr int most_acting_warps = 8;

/// Of a warp: sources that all of its lanes read.
template <class N, bool Dipoles>
struct ActingRoom {
  ChargedPoint<double> places[warp_size];
  ChargedPoint<N> dipoles[Dipoles ? warp_size : 1];
};

/// Of a warp: what its boxes give at an item's targets.
template <int Channels>
struct ActingSums {
  double at[targets_of_an_item][Channels];
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

/// A lane's share of the targets of an item, `Each` of them. Where there are few, `width` lanes
/// have one each, and groups of so many lanes share the sources.
template <int Each, int Channels>
struct LaneTargets {
  int width = 1;
  Vec3d x[Each];
  double total[Each][Channels] = {};

  __device__ LaneTargets(const ActingItem& item, const PointsView<double>& targets) {
    while (width < min(item.count, warp_size)) width *= 2;
#pragma unroll
    for (int t = 0; t < Each; ++t) {
      const std::int32_t i = item.first + min(t * warp_size + place(), item.count - 1);
      x[t] = {targets.x[i], targets.y[i], targets.z[i]};
    }
  }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
  __device__ int place() const { return lane() % width; }
  __device__ int group() const { return lane() / width; }
  __device__ int groups() const { return warp_size / width; }

  /// Adds up the groups' sums, and writes them.
  __device__ void write(ActingSums<Channels>& to) {
#pragma unroll
    for (int t = 0; t < Each; ++t)
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        for (int step = width; step < warp_size; step *= 2)
          total[t][c] += __shfl_xor_sync(whole_warp, total[t][c], step);
        if (group() == 0) to.at[t * warp_size + place()][c] = total[t][c];
      }
  }
};

/// Adds the expansions of every so-manieth box, of a warp.
template <int Each, int Channels, class T, class N>
__device__ void add_expansions(const ActingArguments<T, N>& a, const Steps<T>& steps,
                               const ActingItem& item, int warp, int warps, T* room,
                               LaneTargets<Each, Channels>& targets) {
  const SphericalSeries<T> series{a.table, steps};
  for (int k = warp; k < item.m2p; k += warps) {
    const std::int32_t box = a.acting.boxes[item.begin + k];
    __syncwarp();  // all are done with the one before
    series.template load<Channels>(a.expansions.moment(box, blockIdx.y), room);
    __syncwarp();
    const ToUnitBox<T, double> unit_box(a.root, a.tree, box);
    Vec3<T> d[Each];
#pragma unroll
    for (int t = 0; t < Each; ++t) d[t] = unit_box(targets.x[t].x, targets.x[t].y, targets.x[t].z);
    T far[Each][Channels] = {};
    add_m2p(series, room, d, static_cast<T>(unit_box.scale), far);
    if (targets.group() > 0) continue;  // which has the same targets
#pragma unroll
    for (int t = 0; t < Each; ++t)
#pragma unroll
      for (int c = 0; c < Channels; ++c) targets.total[t][c] += static_cast<double>(far[t][c]);
  }
}

/// Adds the sources of boxes, every so-manieth piece of 32, in units of the leaf's side.
template <int Each, bool Dipoles, int Channels, class T, class N>
__device__ void add_points(const ActingArguments<T, N>& a, const ActingItem& item, int warp,
                           int warps, ActingRoom<N, Dipoles>& room,
                           LaneTargets<Each, Channels>& targets) {
  constexpr bool gradient = Channels == 4;
  const int lane = targets.lane(), groups = targets.groups();
  const std::int64_t before = blockIdx.y * a.sources.count;
  const double scale = ToUnitBox<T, double>(a.root, a.tree, item.leaf).scale;
  int piece = 0;
  for (int k = 0; k < item.p2p; ++k) {
    const int2 range = a.tree.sources[a.acting.boxes[item.begin + item.m2p + k]];
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
          of_some[t].template add<Dipoles, 2>(fmm::Laplace(), static_cast<N>(s.charge),
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

/// A block for each item, from `first` on. Its warps' sums are added up in their order.
template <class T, class N, int Channels, bool Dipoles>
__global__ void __launch_bounds__(most_acting_warps* warp_size)
    acting_kernel(const __grid_constant__ ActingArguments<T, N> a, std::int64_t first) {
  T* const s_room = dynamic_shared<T>();
  const Steps<T> steps(a.table, s_room);
  const int warps = blockDim.x / warp_size, warp = threadIdx.x / warp_size;
  // Steps, then of each warp its expansion, its sources and its sums.
  const int numbers = numbers_of_a_warp(a.table, Channels);
  T* const expansions = s_room + numbers_of_steps(a.table);
  auto* const rooms = reinterpret_cast<ActingRoom<N, Dipoles>*>(expansions + warps * numbers);
  auto* const sums = reinterpret_cast<ActingSums<Channels>*>(rooms + warps);
  const ActingItem item = a.acting.items[first + blockIdx.x];
  const auto act = [&]<int Each>(std::integral_constant<int, Each>) {
    LaneTargets<Each, Channels> targets(item, a.targets);
    add_expansions(a, steps, item, warp, warps, expansions + warp * numbers, targets);
    add_points<Each, Dipoles>(a, item, warp, warps, rooms[warp], targets);
    targets.write(sums[warp]);
  };
  if (item.count > warp_size)
    act(std::integral_constant<int, 2>());
  else
    act(std::integral_constant<int, 1>());
  __syncthreads();
  for (int k = threadIdx.x; k < item.count * Channels; k += blockDim.x) {
    const int target = k / Channels, c = k % Channels;
    double sum = 0;
    for (int w = 0; w < warps; ++w) sum += sums[w].at[target][c];
    double* const to = c == 0 ? a.results.potential : a.results.gradient[c - 1];
    if (to) to[blockIdx.y * a.targets.count + item.first + target] += sum;
  }
}

template <int Channels, bool Dipoles, class T, class N>
void launch_acting(const ActingArguments<T, N>& a, cudaStream_t stream) {
  const std::size_t steps = sizeof(T) * numbers_of_steps(a.table),
                    of_a_warp = sizeof(T) * numbers_of_a_warp(a.table, Channels) +
                                sizeof(ActingRoom<N, Dipoles>) + sizeof(ActingSums<Channels>);
  const int warps = static_cast<int>(std::clamp<std::size_t>(
      (shared_memory_of_a_block() - steps) / of_a_warp, 1, most_acting_warps));
  const auto launch_items = [&](std::int64_t first, std::int64_t last, int warps_of_an_item) {
    launch(acting_kernel<T, N, Channels, Dipoles>,
           dim3(static_cast<unsigned>(last - first), a.expansions.vectors),
           warps_of_an_item * warp_size, steps + warps_of_an_item * of_a_warp, stream, a, first);
  };
  launch_items(0, a.acting.long_ones, warps);
  launch_items(a.acting.long_ones, a.acting.count, 1);
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
