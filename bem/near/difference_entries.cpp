#include "fmbem/bem/near/difference_entries.hpp"

#include <algorithm>
#include <cmath>

#include "fmbem/bem/near/difference_closed_form.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/fmm/base/simd.hpp"

namespace fmbem {
namespace {

FMBEM_SIMD_CLONES void add_by_series(int points, const double* y, const double* weight,
                                     const Vec3d& n_j, double kappa, int count,
                                     const double* const place[3], const double* const normal[3],
                                     const EntryColumns& to) {
#pragma omp simd
  for (int i = 0; i < count; ++i) {
    const double n_i[3] = {normal[0][i], normal[1][i], normal[2][i]};
    double v = 0, k = 0, k_adjoint = 0, hyper = 0;
    for (int q = 0; q < points; ++q) {
      const double d[3] = {place[0][i] - y[3 * q], place[1][i] - y[3 * q + 1],
                           place[2][i] - y[3 * q + 2]};
      const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      add_pair_entries(difference_by_series(kappa, r), weight[q], d, n_j, n_i, v, k, k_adjoint,
                       hyper);
    }
    to.v[i] += v;
    to.k[i] += k;
    to.k_adjoint[i] += k_adjoint;
    to.d[i] += hyper;
  }
}

}  // namespace

PanelEntries difference_entries(const Triangle& t, Vec3d x, Vec3d normal, double kappa) {
  return difference_entries_from(edge_rule(), t, x, normal, kappa,
                                 yukawa_integrals(t, x, kappa, 0, YukawaPart::less_laplace),
                                 panel_potential(t, x));
}

Vec3d difference_gradient_of_k(const Triangle& t, Vec3d x, double kappa, double v_kappa) {
  return difference_gradient_of_k(edge_rule(), t, x, kappa, v_kappa);
}

void add_difference_entries(const TriangleRule& rule, const Triangle& t, double kappa, int count,
                            const double* const place[3], const double* const normal[3],
                            const EntryColumns& columns) {
  const Vec3d e1 = t.vertex[1] - t.vertex[0], e2 = t.vertex[2] - t.vertex[0];
  const auto points = static_cast<int>(rule.weight.size());
  constexpr int most = 256;
  double y[3 * most], weight[most];
  for (int q = 0; q < points; ++q) {
    const Vec3d at = t.vertex[0] + rule.xi[q] * e1 + rule.eta[q] * e2;
    for (int axis = 0; axis < 3; ++axis) y[3 * q + axis] = at[axis];
    weight[q] = inv_4pi * t.area * rule.weight[q];
  }
  double farthest2 = 0;
  for (int i = 0; i < count; ++i)
    farthest2 =
        std::max(farthest2, norm2(Vec3d{place[0][i], place[1][i], place[2][i]} - t.centroid));
  if (kappa * (std::sqrt(farthest2) + t.radius) <= difference_series_reach)
    return add_by_series(points, y, weight, t.normal, kappa, count, place, normal, columns);
  for (int i = 0; i < count; ++i) {
    const double n_i[3] = {normal[0][i], normal[1][i], normal[2][i]};
    for (int q = 0; q < points; ++q) {
      const double d[3] = {place[0][i] - y[3 * q], place[1][i] - y[3 * q + 1],
                           place[2][i] - y[3 * q + 2]};
      const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      add_pair_entries(difference_radial(kappa, r), weight[q], d, t.normal, n_i, columns.v[i],
                       columns.k[i], columns.k_adjoint[i], columns.d[i]);
    }
  }
}

}  // namespace fmbem
