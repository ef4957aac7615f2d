// Near panels at points: potentials of charges and dipoles, by Laplace's or Yukawa's kernel.
#include "fmbem/bem/near/cuda/near_potentials.cuh"
#include "fmbem/bem/near/cuda/panel_integral.cuh"
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

/// On a panel its dipoles give 0, the mean of both sides.
template <class Kernel>
__device__ double close_potential(const CloseRules& rules, double kappa, const Triangle& t, Vec3d x,
                                  double rounding, double charge, double dipole) {
  const OfBoth<double> close = close_integrals<Kernel>(rules, t, x, kappa);
  return charge * close.v + (on_triangle(t, x, rounding) ? 0 : dipole * close.k);
}

template <class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    near_potentials_kernel(const __grid_constant__ NearPotentials a, Kernel in_tree) {
  auto& shared = static_shared<PotentialTiles>();
  const int warp = threadIdx.x / warp_size;
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
          const int rule = rule_for<Kernel>(a.rules, a.n_rules, a.kappa, t.radius, distance2);
          if (rule < 0)
            close |= 1u << j;
          else
            sum += potential_by_rule(a.rules, rule, kernel, seen_from(t, target.x), t.normal,
                                     charge, dipole);
        }
        for (; close != 0; close &= close - 1) {
          const int j = __ffs(static_cast<int>(close)) - 1;
          sum += close_potential<Kernel>(a.close, a.kappa, tile.panel[j], target.x,
                                         target.tolerance, tile.charge[j], tile.dipole[j]);
        }
      });
  target.write(sum, a.out);
}

}  // namespace

void near_potentials(const NearPotentials& near, cudaStream_t stream) {
  fmm::with_kernel(near.kappa, [&]<class Kernel>(const Kernel& kernel) {
    launch(near_potentials_kernel<Kernel>, blocks_for(near.n_items, warps_per_block),
           threads_per_block, 0, stream, near, kernel);
  });
}

}  // namespace fmbem::cuda::bem
