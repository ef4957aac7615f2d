#pragma once

#include "fmbem/bem/near/cuda/close_integral.cuh"
#include "fmbem/bem/near/difference_closed_form.hpp"

namespace fmbem::cuda::bem {

/// Adds what a triangle has by closed forms.
__device__ inline void add_closed_difference(const EdgeRule& edges, const Triangle& t, Vec3d x,
                                             double kappa, YukawaIntegrals& to) {
  const YukawaView view(t, x);
  const YukawaSums sums = yukawa_closed_sums(edges, t, x, view, kappa, YukawaPart::less_laplace);
  // Less than Laplace's: negative ahead of the panel.
  const double sign = view.height > 0   ? 1
                      : view.height < 0 ? -1
                                        : 0,
               flux = sign * inv_4pi * sums.flux;
  to.potential += inv_4pi * sums.potential;
  to.double_layer += flux;
  to.gradient -= flux * t.normal;
  for (int k = 0; k < 3; ++k) to.gradient -= inv_4pi * sums.line[k] * t.outward[k];
}

/// Entries of Yukawa's kernel less Laplace's (difference_entries.hpp) between a panel and a point
/// with a normal that is close to it or on it.
__device__ __attribute__((noinline)) inline PanelEntries close_difference(const CloseRules& rules,
                                                                          const Triangle& t,
                                                                          Vec3d x, Vec3d normal,
                                                                          double kappa) {
  YukawaIntegrals of_v;
  const bool is_shaped = shape(t) > rules.shaped;
  if (is_shaped)
    add_closed_difference(rules.edges, t, x, kappa, of_v);
  else
    for_sliver_pieces(
        Piece{{t.vertex[0] - x, t.vertex[1] - x, t.vertex[2] - x}, t.area},
        [&](const Piece& piece, double distance2, double radius2) {
          if (!rules.pieces.serves(kappa, distance2, radius2)) return false;
          rules.pieces.for_points(piece, [&](Vec3d y, double weight) {
            const PairRadial radial = difference_radial(kappa, norm(y));
            of_v.potential += inv_4pi * weight * radial.value;
            of_v.double_layer -= inv_4pi * weight * radial.slope * dot(t.normal, y);
            of_v.gradient += inv_4pi * weight * radial.slope * y;
          });
          return true;
        },
        [&](const Triangle& part) { add_closed_difference(rules.edges, part, {}, kappa, of_v); });
  return difference_entries_from(
      rules.edges, t, x, normal, kappa, of_v,
      is_shaped ? triangle_potential(t, x) : sliver_potential(rules.strips, t, x));
}

}  // namespace fmbem::cuda::bem
