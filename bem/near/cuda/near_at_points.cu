// Near panels at points, with gradients and second derivatives.
#include "fmbem/bem/near/cuda/near_at_points.cuh"
#include "fmbem/bem/near/cuda/panel_field.cuh"
#include "fmbem/bem/near/difference_closed_form.hpp"
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

/// ±½ of a side, 0 of the mean.
__device__ inline double half_of(Side side) {
  return side == Side::mean ? 0 : side == Side::positive ? 0.5 : -0.5;
}

__device__ inline void list_edge(const NearAtPoints& a, const Tile& tile, int j,
                                 const LaneTarget& target) {
  if (!target.is_own) return;
  const unsigned long long k = atomicAdd(a.edges.count, 1ull);
  if (k < a.edges.room) a.edges.pair[k] = {a.targets.order[target.number], tile.number[j]};
}

/// Half of what the gradient jumps by on a panel.
__device__ inline Vec3d jump_of(const NearAtPoints& a, const Triangle& t,
                                const LaneTarget& target) {
  const bool jumps = a.side != Side::mean && on_triangle(t, target.x, target.tolerance);
  return jumps ? -half_of(a.side) * t.normal : Vec3d{};
}

/// Adds what a charged panel gives by closed forms.
template <bool Hessian>
__device__ inline void add_field(const NearAtPoints& a, const Tile& tile, int j,
                                 const LaneTarget& target, const FieldSums& of_panel,
                                 FieldSums& sums) {
  const double strength = tile.strength[j];
  sums.potential += strength * of_panel.potential;
  if (isnan(of_panel.gradient.x)) return list_edge(a, tile, j, target);
  sums.gradient += strength * (of_panel.gradient + jump_of(a, tile.panel[j], target));
  if constexpr (Hessian) sums.hessian += strength * of_panel.hessian;
}

/// Of charges.
template <bool Hessian>
__device__ inline void add_charges(const NearAtPoints& a, const Tile& tile, int j,
                                   const LaneTarget& target, FieldSums& sums) {
  const Triangle& t = tile.panel[j];
  add_field<Hessian>(a, tile, j, target,
                     tile.is_sliver[j]
                         ? sliver_field<Hessian>(a.rules, t, target.x, target.tolerance)
                         : field_of<Hessian>(t, target.x, target.tolerance),
                     sums);
}

/// Of dipoles along the normal, by closed forms.
template <class Kernel>
__device__ inline void add_dipoles(const NearAtPoints& a, const Tile& tile, int j,
                                   const LaneTarget& target, FieldSums& sums) {
  const Triangle& t = tile.panel[j];
  const double strength = tile.strength[j];
  if (strength == 0) return;
  const bool in_plane = fabs(dot(target.x - t.vertex[0], t.normal)) <= 2 * target.tolerance;
  const bool is_on = in_plane && on_triangle(t, target.x, target.tolerance);
  OfBoth<double> of_panel{0, is_on && a.side != Side::mean
                                 ? half_of(a.side) * part_about(t, target.x, target.tolerance)
                                 : 0};
  if constexpr (!Kernel::homogeneous) {
    const FieldSums of_v = screened_field(a.rules, a.close, t, target.x, a.kappa, target.tolerance);
    of_panel = {of_v.potential, is_on ? of_panel.k : -dot(t.normal, of_v.gradient)};
  } else if (!is_on) {
    of_panel.k = triangle_double_layer(t, target.x);
  }
  sums.potential += strength * of_panel.k;
  const double nan = NAN;
  sums.gradient -= in_plane && is_on_edge(t, target.x, target.tolerance)
                       ? Vec3d{nan, nan, nan}
                       : (inv_4pi * strength) * field_round(t, target.x);
  if constexpr (!Kernel::homogeneous)
    sums.gradient +=
        strength * difference_gradient_of_k(a.close.edges, t, target.x, a.kappa, of_panel.v);
}

/// Of Yukawa's kernel what a whole tile gives. By rules where these serve; lanes take closed forms
/// together, afterwards.
template <Trace Source>
__device__ inline void add_screened(const NearAtPoints& a, const Tile& tile, int some,
                                    const LaneTarget& target, FieldSums& sums) {
  constexpr bool dipoles = Source == Trace::normal;
  const NearYukawa<double> kernel(fmm::Yukawa{a.kappa});
  unsigned close = 0;
  for (int j = target.group; j < some; j += target.groups) {
    const Triangle& t = tile.panel[j];
    const double distance2 = norm2(t.centroid - target.x), beyond = t.radius + a.negligible;
    if (tile.strength[j] == 0 || distance2 > beyond * beyond) continue;
    const int rule = rule_for<fmm::Yukawa>(a.rules, a.n_rules, a.kappa, t.radius, distance2);
    if (rule < 0) {
      close |= 1u << j;
      continue;
    }
    add_by_rule<dipoles>(a.rules, rule, kernel, seen_from(t, target.x), t.normal, tile.strength[j],
                         sums);
  }
  for (; close != 0; close &= close - 1) {
    const int j = __ffs(static_cast<int>(close)) - 1;
    if constexpr (dipoles) {
      add_dipoles<fmm::Yukawa>(a, tile, j, target, sums);
    } else {
      const FieldSums of_panel =
          screened_field(a.rules, a.close, tile.panel[j], target.x, a.kappa, target.tolerance);
      add_field<false>(a, tile, j, target, of_panel, sums);
    }
  }
}

template <Trace Source, bool Hessian, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    near_at_points_kernel(const __grid_constant__ NearAtPoints a) {
  auto& shared = static_shared<Tiles>();
  const int warp = threadIdx.x / warp_size;
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
        if constexpr (!Kernel::homogeneous) {
          add_screened<Source>(a, tile, some, target, sums);
        } else {
          for (int j = target.group; j < some; j += target.groups) {
            if constexpr (Source == Trace::value)
              add_charges<Hessian>(a, tile, j, target, sums);
            else
              add_dipoles<Kernel>(a, tile, j, target, sums);
          }
        }
      });
  target.write(sums.potential, a.out.potential);
  for (int axis = 0; axis < 3; ++axis) target.write(sums.gradient[axis], a.out.gradient[axis]);
  if constexpr (Hessian)
    for (int entry = 0; entry < 6; ++entry) target.write(sums.hessian[entry], a.out.hessian[entry]);
}

}  // namespace

void near_at_points(const NearAtPoints& near, Trace source, cudaStream_t stream) {
  auto kernel = near_at_points_kernel<Trace::value, true, fmm::Laplace>;
  if (!near.out.hessian[0])
    with_trace(source, [&]<Trace Source>(std::integral_constant<Trace, Source>) {
      fmm::with_kernel(near.kappa, [&]<class Kernel>(const Kernel&) {
        kernel = near_at_points_kernel<Source, false, Kernel>;
      });
    });
  launch(kernel, blocks_for(near.n_items, warps_per_block), threads_per_block, 0, stream, near);
}

}  // namespace fmbem::cuda::bem
