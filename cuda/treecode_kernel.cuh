#pragma once

#include "fmbem/cuda/m2p.cuh"
#include "fmbem/cuda/p2p_sums.cuh"
#include "fmbem/cuda/pass.cuh"
#include "fmbem/cuda/walk.cuh"

// Treecodes: a warp takes up to 64 targets of a leaf, two a lane, walks the tree for them and sums
// what the walk finds as it goes. What boxes and sources it finds goes to shared memory, from where
// every lane reads it.

namespace fmbem::cuda {

inline constexpr int most_targets_of_a_thread = 2;

template <class T, class Kernel>
struct TreecodeArguments {
  PointsView<double> targets;
  StrengthsView<double> strengths;
  std::int64_t sources;
  LeavesView leaves;              ///< of the targets
  const std::uint8_t* one_place;  ///< null where no leaf is of the deepest level
  TableView<T> table;             ///< with gradients by Yukawa's kernel that of RaisedTable
  const T* moments;               ///< [boxes][vectors][numbers], of harmonics or of monomials
  int vectors, numbers, numbers_in_shared;
  Kernel kernel;  ///< with its reach in the tree's unit
  double reach;
  double theta2;
  float close2;  ///< in single precision, squares of distances in sides of the leaf
  int pieces;    ///< warps for each leaf
  bool potential;
  double* sums;  ///< as of PartsView
};

/// A leaf whose points all coincide does not act on itself.
__device__ inline bool acts_point_by_point(std::int32_t box, std::int32_t leaf,
                                           const std::uint8_t* one_place) {
  return box != leaf || !one_place || !one_place[box];
}

template <class T, int Channels>
struct TreecodeSums {
  double total[most_targets_of_a_thread][Channels] = {};
};

/// Where points of pairs are seen from: in single precision a leaf's centre, in its sides; in
/// double precision nowhere else, so that differences of close coordinates are exact.
template <class T>
struct PairUnits {
  ToUnitBox<double, double> leaf;
  __device__ double scale() const { return sizeof(T) == 4 ? leaf.scale : 1; }
  __device__ Vec3<T> operator()(double x, double y, double z) const {
    if constexpr (sizeof(T) == 4) {
      const Vec3d in_leaf = leaf(x, y, z);
      return {static_cast<T>(in_leaf.x), static_cast<T>(in_leaf.y), static_cast<T>(in_leaf.z)};
    } else {
      return {x, y, z};
    }
  }
};

/// A warp's shared memory, before its numbers of an expansion.
template <class T>
struct TreecodeRoom {
  WalkStack stack;
  ChargedPoint<T> places[warp_size], dipoles[warp_size];
  // Of the leaf: not in every lane's registers.
  UnitBox leaf;
  PairUnits<T> units;
};

/// Targets of a warp: lanes without one repeat the last.
template <class T>
struct WarpTargets {
  std::int32_t first, count;
  Vec3d place[most_targets_of_a_thread];
  Vec3d from_centre[most_targets_of_a_thread];  ///< of the leaf, in a root of side 1
  Vec3<T> for_pairs[most_targets_of_a_thread];

  __device__ WarpTargets(const PointsView<double>& points, const TreecodeRoom<T>& room,
                         std::int32_t from, std::int32_t to)
      : first(from), count(min(to - from, most_targets_of_a_thread * warp_size)) {
#pragma unroll
    for (int t = 0; t < most_targets_of_a_thread; ++t) {
      const std::int32_t i =
          from + min(t * warp_size + static_cast<std::int32_t>(threadIdx.x) % warp_size, count - 1);
      place[t] = {points.x[i], points.y[i], points.z[i]};
      from_centre[t] = room.leaf.side * room.units.leaf(place[t].x, place[t].y, place[t].z);
      for_pairs[t] = room.units(place[t].x, place[t].y, place[t].z);
    }
  }
};

/// Adds the sources of a box, point by point, in single precision but for pairs that are too close
/// for it.
template <bool Dipoles, int Each, class T, class Kernel, int Channels>
__device__ inline void add_p2p(const TreecodeArguments<T, Kernel>& a, int2 range, int v,
                               const WarpTargets<T>& targets, TreecodeRoom<T>& room,
                               TreecodeSums<T, Channels>& sums) {
  constexpr bool single = sizeof(T) == 4, gradient = Channels == 4;
  const int lane = threadIdx.x % warp_size;
  const ChargedPoint<double>* const places = a.strengths.places + v * a.sources;
  const ChargedPoint<double>* const dipoles =
      Dipoles ? a.strengths.dipoles + v * a.sources : nullptr;
  const double to_units = room.units.scale();
  const Kernel in_units = in_unit(a.kernel, 1 / to_units);
  const auto kernel = near_kernel<T>(in_units);
  for (std::int32_t begin = range.x; begin < range.y; begin += warp_size) {
    const int n = min(range.y - begin, warp_size);
    __syncwarp();  // all are done with those before
    if (lane < n) {
      const ChargedPoint<double> s = places[begin + lane];
      const Vec3<T> place = room.units(s.x, s.y, s.z);
      room.places[lane] = {place.x, place.y, place.z, static_cast<T>(s.charge)};
      if constexpr (Dipoles) {
        const ChargedPoint<double> p = dipoles[begin + lane];
        room.dipoles[lane] = {static_cast<T>(to_units * p.x), static_cast<T>(to_units * p.y),
                              static_cast<T>(to_units * p.z), T(0)};
      }
    }
    __syncwarp();
    Sums<T, true, gradient> of_some[Each];
#pragma unroll 2
    for (int j = 0; j < n; ++j) {
      const ChargedPoint<T> s = room.places[j];
      ChargedPoint<T> p{};
      if constexpr (Dipoles) p = room.dipoles[j];
#pragma unroll
      for (int t = 0; t < Each; ++t) {
        Vec3<T> d = targets.for_pairs[t] - Vec3<T>{s.x, s.y, s.z};
        T r2 = d.x * d.x + d.y * d.y + d.z * d.z;
        bool is = r2 > 0;
        if constexpr (single) {
          if (r2 < a.close2) {
            const ChargedPoint<double> exact = places[begin + j];
            const Vec3d apart = to_units * (targets.place[t] - Vec3d{exact.x, exact.y, exact.z});
            Sums<double, true, gradient> pair;
            const double square = norm2(apart);
            Vec3d dipole{};
            if constexpr (Dipoles) {
              const ChargedPoint<double> moment = dipoles[begin + j];
              dipole = to_units * Vec3d{moment.x, moment.y, moment.z};
            }
            if (square > 0)
              pair.template add<Dipoles, 2>(near_kernel<double>(in_units), exact.charge, dipole,
                                            apart, square, 1 / sqrt(square));
            const double known[4] = {pair.potential, pair.x, pair.y, pair.z};
            double scale = to_units;
#pragma unroll
            for (int c = 0; c < Channels; ++c) {
              sums.total[t][c] += scale * known[c];
              scale = to_units * to_units;
            }
            is = false;
          }
        }
        const T w = is ? inverse_root<2>(r2) : T(0);
        of_some[t].template add<Dipoles, 2>(kernel, s.charge, {p.x, p.y, p.z}, d, r2, w);
      }
    }
#pragma unroll
    for (int t = 0; t < Each; ++t) {
      sums.total[t][0] += to_units * static_cast<double>(of_some[t].potential);
      if constexpr (gradient) {
        const double square = to_units * to_units;
        sums.total[t][1] += square * static_cast<double>(of_some[t].x);
        sums.total[t][2] += square * static_cast<double>(of_some[t].y);
        sums.total[t][3] += square * static_cast<double>(of_some[t].z);
      }
    }
  }
}

/// All that acts on a warp's targets, `Each` a lane.
template <int Each, class T, class Kernel, int Channels, class Series>
__device__ inline void sum_targets(const TreecodeArguments<T, Kernel>& a, const Series& series,
                                   std::int32_t leaf, int v, const WarpTargets<T>& targets,
                                   TreecodeRoom<T>& room, T* expansion,
                                   TreecodeSums<T, Channels>& sums) {
  const TreeView& tree = a.leaves.tree;
  const double of_root = 1 / a.leaves.root.side;
  const auto reach = [&] {
    if constexpr (Kernel::homogeneous)
      return EndlessReach();
    else
      return KernelReach{a.leaves.root.side, a.reach};
  }();
  T far[Each][Channels] = {};
  walk(
      tree, room.leaf, a.theta2, reach, room.stack,
      [&](std::int32_t box, const UnitBox& unit_box) {
        const Kernel kernel = in_unit(a.kernel, unit_box.side * a.leaves.root.side);
        __syncwarp();  // all are done with the one before
        series.template load<Channels>(
            kernel, a.moments + (static_cast<std::int64_t>(box) * a.vectors + v) * a.numbers,
            expansion);
        __syncwarp();
        const Vec3d between = room.leaf.centre - unit_box.centre;
        Vec3<T> d[Each];
#pragma unroll
        for (int t = 0; t < Each; ++t) {
          const Vec3d apart = unit_box.inverse_side * (targets.from_centre[t] + between);
          d[t] = {static_cast<T>(apart.x), static_cast<T>(apart.y), static_cast<T>(apart.z)};
        }
        add_m2p(series, kernel, expansion, d, static_cast<T>(unit_box.inverse_side * of_root), far);
      },
      [&](std::int32_t box) {
        if (!acts_point_by_point(box, leaf, a.one_place)) return;
        if (a.strengths.dipoles)
          add_p2p<true, Each>(a, tree.sources[box], v, targets, room, sums);
        else
          add_p2p<false, Each>(a, tree.sources[box], v, targets, room, sums);
      },
      [&] {
#pragma unroll
        for (int t = 0; t < Each; ++t)
#pragma unroll
          for (int c = 0; c < Channels; ++c) {
            sums.total[t][c] += static_cast<double>(far[t][c]);
            far[t][c] = 0;
          }
      });
}

/// P: 0 for spherical expansions, else the degree of Cartesian ones.
template <class T, class Kernel, int Channels, int P>
__global__ void __launch_bounds__(threads_per_block)
    treecode_kernel(const __grid_constant__ TreecodeArguments<T, Kernel> a) {
  T* const s_room = dynamic_shared<T>();
  const IrregularSteps<T, Kernel> steps(a.table, s_room);
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size, v = blockIdx.y;
  const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * (blockDim.x / warp_size) + warp;
  const std::int64_t row = item / a.pieces;
  if (row >= a.leaves.count) return;
  // Steps, then of each warp its expansion and the rest.
  const int of_steps = IrregularSteps<T, Kernel>::numbers(a.table);
  T* const expansion = s_room + of_steps + warp * a.numbers_in_shared;
  auto& room = reinterpret_cast<TreecodeRoom<T>*>(
      s_room + of_steps + blockDim.x / warp_size * a.numbers_in_shared)[warp];
  const std::int32_t leaf = a.leaves.boxes[row];
  const int2 range = a.leaves.tree.targets[leaf];
  if (lane == 0) {
    room.leaf = UnitBox(a.leaves.tree, leaf);
    room.units = {ToUnitBox<double, double>(a.leaves.root, a.leaves.tree, leaf)};
  }
  __syncwarp();
  const auto series = [&] {
    if constexpr (P == 0)
      return SphericalSeries<T, Kernel>{a.table, steps};
    else
      return CartesianSeries<T, P>{};
  }();
  constexpr std::int32_t most = most_targets_of_a_thread * warp_size;
  for (std::int32_t first = range.x + static_cast<std::int32_t>(item % a.pieces) * most;
       first < range.y; first += a.pieces * most) {
    const WarpTargets<T> targets(a.targets, room, first, range.y);
    TreecodeSums<T, Channels> sums;
    if (targets.count > warp_size)
      sum_targets<2>(a, series, leaf, v, targets, room, expansion, sums);
    else
      sum_targets<1>(a, series, leaf, v, targets, room, expansion, sums);
    const std::int64_t next = a.vectors * a.targets.count;
#pragma unroll
    for (int t = 0; t < most_targets_of_a_thread; ++t) {
      const std::int32_t i = t * warp_size + lane;
      if (i >= targets.count) continue;
      double* out = a.sums + v * a.targets.count + first + i;
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        if (c == 0 && !a.potential) continue;
        *out = sums.total[t][c];
        out += next;
      }
    }
  }
}

}  // namespace fmbem::cuda
