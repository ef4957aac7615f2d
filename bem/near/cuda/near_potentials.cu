// Near panels at points: potentials of charges and dipoles, by Laplace's or Yukawa's kernel.
#include "fmbem/bem/near/cuda/near_potentials.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda::bem {
namespace {

/// 32 panels in shared memory.
struct PotentialTile {
  Triangle panel[warp_size];
  double charge[warp_size], dipole[warp_size];
};
struct PotentialTiles {
  PotentialTile of_warp[warps_per_block];
};

/// The rule for a panel at a distance; −1 where none serves.
template <class Kernel>
__device__ inline int rule_for(const NearPotentials& a, double radius, double distance2) {
  for (int rule = 0; rule < a.n_rules; ++rule) {
    double left = 1 / a.rules.reach[rule];
    if constexpr (!Kernel::homogeneous)
      left = inverse_reach_of_rule(a.rules.reach[rule], a.rules.degree[rule], a.kappa * radius);
    if (left > 0 && left * left * distance2 >= radius * radius) return rule;
  }
  return -1;
}

/// All points of a panel are equally far from x along its normal n, so that Σ ∂g/∂n_y is n·(x − y)
/// times the sum of −g'/r.
template <class Kernel>
__device__ inline double potential_by_rule(const MomentRulesView& rules, int rule,
                                           const Kernel& kernel, const Triangle& t, Vec3d x,
                                           double charge, double dipole) {
  const Vec3d d0 = t.vertex[0] - x, e1 = t.vertex[1] - t.vertex[0], e2 = t.vertex[2] - t.vertex[0];
  double potential = 0, slope = 0;
  for (int q = rules.begin[rule]; q < rules.begin[rule + 1]; ++q) {
    const Vec3d d = d0 + rules.xi[q] * e1 + rules.eta[q] * e2;
    const double r2 = norm2(d);
    const auto radial = kernel.template radial<2>(r2, inverse_root<2>(r2));
    const double g = rules.weight[q] * radial.g;
    potential += g;
    slope += g * radial.a();
  }
  return inv_4pi * t.area * (charge * potential - dipole * dot(t.normal, d0) * slope);
}

/// On a panel its dipoles give 0, the mean of both sides.
template <class Kernel>
__device__ __attribute__((noinline)) double close_potential(const CloseRules& rules, double kappa,
                                                            const Triangle& t, Vec3d x,
                                                            double rounding, double charge,
                                                            double dipole) {
  double v = 0, k = 0;
  if constexpr (Kernel::homogeneous) {
    v = shape(t) > rules.shaped ? triangle_potential(t, x) : sliver_potential(rules.strips, t, x);
    k = triangle_double_layer(t, x);
  } else {
    for_yukawa_parts(rules, t, x, kappa, [&](const YukawaSums& sums, double height) {
      v += inv_4pi * sums.potential;
      k += double_layer_of(sums, height);
    });
  }
  return charge * v + (on_triangle(t, x, rounding) ? 0 : dipole * k);
}

template <class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    near_potentials_kernel(const __grid_constant__ NearPotentials a, Kernel in_tree) {
  auto& shared = static_shared<PotentialTiles>();
  const int lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * warps_per_block + warp;
  if (k >= a.n_items) return;
  PotentialTile& tile = shared.of_warp[warp];
  const NearItem item = a.items[k];
  const LaneTarget target(a, item);
  const auto kernel = near_kernel<double>(in_tree);
  const double factor = strength_scale(*a.largest) / fmm::Laplace::scale;
  double sum = 0;
  for_near_tiles(
      a, item.row,
      [&](std::int32_t panel, int place) {
        tile.panel[place] = a.triangle(panel);
        tile.charge[place] = factor * a.density[panel];
        tile.dipole[place] = factor * a.density[a.panels + panel];
      },
      [&](int some) {
        unsigned close = 0;  // panels for closed forms, which lanes take together afterwards
        for (int j = target.group; j < some; j += target.groups) {
          const Triangle& t = tile.panel[j];
          const double charge = tile.charge[j], dipole = tile.dipole[j],
                       distance2 = norm2(t.centroid - target.x);
          if (charge == 0 && dipole == 0) continue;
          if constexpr (!Kernel::homogeneous) {
            const double beyond = t.radius + a.negligible;
            if (distance2 > beyond * beyond) continue;
          }
          const int rule = rule_for<Kernel>(a, t.radius, distance2);
          if (rule < 0)
            close |= 1u << j;
          else
            sum += potential_by_rule(a.rules, rule, kernel, t, target.x, charge, dipole);
        }
        for (; close != 0; close &= close - 1) {
          const int j = __ffs(static_cast<int>(close)) - 1;
          sum += close_potential<Kernel>(a.close, a.kappa, tile.panel[j], target.x,
                                         target.tolerance, tile.charge[j], tile.dipole[j]);
        }
      });
  sum = target.add_up(sum);
  if (lane < item.count) a.out[target.number] = sum;
}

}  // namespace

int rules_at_points(const MomentRulesView& rules) {
  // A closed form takes as long as some sixteen points, with exponentials along the edges as fifty.
  const int most_points = rules.kappa > 0 ? 49 : 16;
  int count = rules.kappa > 0 ? rules.count - 1 : rules.count;  // the last serves moments alone
  while (count > 0 && rules.begin[count] - rules.begin[count - 1] > most_points) --count;
  return count;
}

void near_potentials(const NearPotentials& near, cudaStream_t stream) {
  fmm::with_kernel(near.kappa, [&]<class Kernel>(const Kernel& kernel) {
    launch(near_potentials_kernel<Kernel>, blocks_for(near.n_items, warps_per_block),
           threads_per_block, 0, stream, near, kernel);
  });
}

}  // namespace fmbem::cuda::bem
