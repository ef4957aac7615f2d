// Near panels at points, with gradients, by closed forms.
#include "fmbem/bem/geometry/sliver.hpp"
#include "fmbem/bem/near/cuda/near_at_points.cuh"
#include "fmbem/bem/near/dipole_field.hpp"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

/// 32 panels in shared memory.
struct Tile {
  Triangle panel[warp_size];
  double strength[warp_size];
  std::int32_t number[warp_size];
  bool is_sliver[warp_size];
};
struct Tiles {
  Tile of_warp[warps_per_block];
};

struct FieldSums {
  double potential = 0;
  Vec3d gradient{};
};

__device__ inline FieldSums field_of(const Triangle& t, Vec3d x, double tolerance) {
  const TriangleView view = view_triangle(t, x);
  return {potential_of(view), gradient_of(view, t, x, tolerance)};
}

/// By pieces, whose closed forms lose nothing.
__device__ __attribute__((noinline)) FieldSums sliver_field(const MomentRulesView& rules,
                                                            const Triangle& t, Vec3d x,
                                                            double tolerance) {
  // A point that lies on a cut through a sliver would take it for an edge.
  if (on_triangle(t, x, tolerance)) return field_of(t, x, tolerance);
  FieldSums sums;
  const auto add_by_rule = [&](const Piece& piece, double distance2, double radius2) {
    int rule = 0;
    while (rule < rules.count && distance2 < rules.reach[rule] * rules.reach[rule] * radius2)
      ++rule;
    if (rule == rules.count) return false;
    const Vec3d e1 = piece.d[1] - piece.d[0], e2 = piece.d[2] - piece.d[0];
    for (int q = rules.begin[rule]; q < rules.begin[rule + 1]; ++q) {
      const Vec3d d = piece.d[0] + rules.xi[q] * e1 + rules.eta[q] * e2;
      const double w = 1 / norm(d), g = inv_4pi * piece.area * rules.weight[q] * w;
      sums.potential += g;
      sums.gradient += (g * w * w) * d;
    }
    return true;
  };
  for_sliver_pieces({{t.vertex[0] - x, t.vertex[1] - x, t.vertex[2] - x}, t.area}, add_by_rule,
                    [&](const Triangle& piece) {
                      const FieldSums of_piece = field_of(piece, {}, tolerance);
                      sums.potential += of_piece.potential;
                      sums.gradient += of_piece.gradient;
                    });
  return sums;
}

/// ±½ of a side, 0 of the mean.
__device__ inline double half_of(Side side) {
  return side == Side::mean ? 0 : side == Side::positive ? 0.5 : -0.5;
}

/// Of charges.
__device__ inline void add_charges(const NearAtPoints& a, const Tile& tile, int j,
                                   const LaneTarget& target, FieldSums& sums) {
  const Triangle& t = tile.panel[j];
  const double strength = tile.strength[j];
  const FieldSums of_panel = tile.is_sliver[j]
                                 ? sliver_field(a.rules, t, target.x, target.tolerance)
                                 : field_of(t, target.x, target.tolerance);
  sums.potential += strength * of_panel.potential;
  if (isnan(of_panel.gradient.x)) {
    if (!target.is_own) return;
    const unsigned long long k = atomicAdd(a.edges.count, 1ull);
    if (k < a.edges.room) a.edges.pair[k] = {a.targets.order[target.number], tile.number[j]};
    return;
  }
  sums.gradient += strength * of_panel.gradient;
  if (a.side != Side::mean && on_triangle(t, target.x, target.tolerance))
    sums.gradient -= (strength * half_of(a.side)) * t.normal;
}

/// Of dipoles along the normal.
__device__ inline void add_dipoles(const NearAtPoints& a, const Tile& tile, int j,
                                   const LaneTarget& target, FieldSums& sums) {
  const Triangle& t = tile.panel[j];
  const double strength = tile.strength[j];
  if (strength == 0) return;
  const bool in_plane = fabs(dot(target.x - t.vertex[0], t.normal)) <= 2 * target.tolerance;
  if (in_plane && on_triangle(t, target.x, target.tolerance))
    sums.potential += strength * half_of(a.side);
  else
    sums.potential += strength * triangle_double_layer(t, target.x);
  const double nan = NAN;
  sums.gradient -= in_plane && is_on_edge(t, target.x, target.tolerance)
                       ? Vec3d{nan, nan, nan}
                       : (inv_4pi * strength) * field_round(t, target.x);
}

template <Trace Source>
__global__ void __launch_bounds__(threads_per_block)
    near_at_points_kernel(const __grid_constant__ NearAtPoints a) {
  auto& shared = static_shared<Tiles>();
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * warps_per_block + warp;
  if (k >= a.n_items) return;
  Tile& tile = shared.of_warp[warp];
  const NearItem item = a.items[k];
  const LaneTarget target(a, item);
  const double factor = strength_scale(*a.largest) / fmm::Laplace::scale;
  FieldSums sums;
  for_near_tiles(
      a, item.row,
      [&](std::int32_t panel, int place) {
        tile.panel[place] = a.triangle(panel);
        tile.strength[place] = factor * a.density[panel];
        tile.number[place] = panel;
        tile.is_sliver[place] = shape(tile.panel[place]) <= well_shaped;
      },
      [&](int some) {
        for (int j = target.group; j < some; j += target.groups) {
          if constexpr (Source == Trace::value)
            add_charges(a, tile, j, target, sums);
          else
            add_dipoles(a, tile, j, target, sums);
        }
      });
  sums.potential = target.add_up(sums.potential);
  for (int axis = 0; axis < 3; ++axis) sums.gradient[axis] = target.add_up(sums.gradient[axis]);
  if (lane >= item.count) return;
  a.out.potential[target.number] = sums.potential;
  for (int axis = 0; axis < 3; ++axis) a.out.gradient[axis][target.number] = sums.gradient[axis];
}

}  // namespace

void near_at_points(const NearAtPoints& near, Trace source, cudaStream_t stream) {
  launch(source == Trace::value ? near_at_points_kernel<Trace::value>
                                : near_at_points_kernel<Trace::normal>,
         blocks_for(near.n_items, warps_per_block), threads_per_block, 0, stream, near);
}

}  // namespace fmbem::cuda::bem
