#pragma once

// The closed form of panel_hessian(), for processors of all kinds.
#include "fmbem/bem/geometry/sliver.hpp"
#include "fmbem/bem/geometry/strip.hpp"
#include "fmbem/fmm/base/symmetric3.hpp"

namespace fmbem {

/// B and A of an edge (panel_hessian()), arguments as those of edge_log_ratio(); without
/// cancellation.
struct EdgeDerivatives {
  double of_line, of_cube;
  FMBEM_HD EdgeDerivatives(double s_minus, double s_plus, double r_minus, double r_plus,
                           double length, double d2) {
    const double along = length * (s_minus + s_plus) / (r_minus * r_plus);
    of_line = along / (r_minus + r_plus);
    of_cube = s_minus > 0 || s_plus < 0 ? along / (s_plus * r_minus + s_minus * r_plus)
                                        : (s_plus / r_plus - s_minus / r_minus) / d2;
  }
};

/// What edge k adds to 4π panel_hessian(), from B, A d and A h.
FMBEM_HD inline Symmetric3d edge_hessian(const Triangle& t, int k, double b, double ad, double ah) {
  const Vec3d m = t.outward[k], s = t.tangent[k], n = t.normal;
  Symmetric3d h;
  for (int i = 0, entry = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j, ++entry)
      h[entry] = -0.5 * b * (m[i] * s[j] + s[i] * m[j]) - ad * (m[i] * m[j] - n[i] * n[j]) +
                 ah * (m[i] * n[j] + n[i] * m[j]);
  return h;
}

/// panel_hessian() by the closed form.
FMBEM_HD inline Symmetric3d triangle_hessian(const Triangle& t, Vec3d x) {
  const CornerView view(t, x);
  Symmetric3d sum;
  for (int k = 0; k < 3; ++k) {
    const int next = (k + 1) % 3;
    const double distance = view.edge_distance(t, k);
    const EdgeDerivatives edge(dot(view.to[k], t.tangent[k]), dot(view.to[next], t.tangent[k]),
                               view.r[k], view.r[next], t.length[k],
                               distance * distance + view.height * view.height);
    sum += edge_hessian(t, k, edge.of_line, edge.of_cube * distance, edge.of_cube * view.height);
  }
  return inv_4pi * sum;
}

/// a·Hb.
FMBEM_HD inline double along(const Symmetric3d& h, Vec3d a, Vec3d b) {
  return a.x * (h.xx * b.x + h.xy * b.y + h.xz * b.z) +
         a.y * (h.xy * b.x + h.yy * b.y + h.yz * b.z) +
         a.z * (h.xz * b.x + h.yz * b.y + h.zz * b.z);
}

/// Whether x is so close to a sliver, at some of its widths, that the closed form loses nothing,
/// while cuts may be so close to x that it would not be seen for them.
FMBEM_HD inline bool is_beside_sliver(const Triangle& t, Vec3d x) {
  constexpr double close_widths = 2;
  if (shape(t) > well_shaped) return false;
  const Strip strip = make_strip(t);
  return clearance(strip, 0, strip.length, strip.locate(x)) < close_widths * strip.span();
}

}  // namespace fmbem
