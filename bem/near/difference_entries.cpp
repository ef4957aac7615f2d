#include "fmbem/bem/near/difference_entries.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "fmbem/bem/near/corner_view.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/near/yukawa_integrals.hpp"
#include "fmbem/fmm/base/simd.hpp"

namespace fmbem {
namespace {

/// κr up to which the series serves, and its terms: 2²⁰/20! is 4e-13.
constexpr double series_reach = 2;
constexpr int terms = 20;

/// With u = κr, of (e^{−u} − 1)/r, of −1/r times its derivative, and of 1/r times that one's:
///     −κ Σ (−u)^j/(j+1)!,   −κ²/r Σ (j+1) (−u)^j/(j+2)!,   κ²/r³ Σ (j+1)(j−1) (−u)^j/(j+2)!.
struct Series {
  std::array<double, terms> value{}, slope{}, second{};
  constexpr Series() {
    double factorial = 1;  // of j + 1
    for (int j = 0; j < terms; ++j) {
      const double sign = j % 2 ? -1 : 1, next = factorial * (j + 2);
      value[j] = -sign / factorial;
      slope[j] = -sign * (j + 1) / next;
      second[j] = sign * (j + 1) * (j - 1) / next;
      factorial = next;
    }
  }
};
constexpr Series series;

/// A kernel g(r), 4πG: g, −g'/r and (g'/r)'/r.
struct Radial {
  double value, slope, second;
};

inline Radial radial_by_series(double kappa, double r) {
  const double u = kappa * r, over_r = 1 / r;
  double value = 0, slope = 0, second = 0;
  for (int j = terms - 1; j >= 0; --j) {
    value = value * u + series.value[j];
    slope = slope * u + series.slope[j];
    second = second * u + series.second[j];
  }
  const double scale = kappa * kappa * over_r;
  return {kappa * value, scale * slope, scale * over_r * over_r * second};
}

inline Radial radial_of(double kappa, double r) {
  const double u = kappa * r;
  if (u <= series_reach) return radial_by_series(kappa, r);
  const double falls = std::exp(-u), over_r = 1 / r, over_r3 = over_r * over_r * over_r;
  return {(falls - 1) * over_r, ((1 + u) * falls - 1) * over_r3,
          ((3 + u * (3 + u)) * falls - 3) * over_r3 * over_r * over_r};
}

struct GaussRule {
  static constexpr int points = 12;
  std::vector<double> node, weight;
  GaussRule() { gauss_legendre(points, node, weight); }
};

/// ∫ g'(r)/r ds from a to b along a line at the distance √distance2, 0 ≤ a < b. With ds = r dt the
/// integrand is entire in t, and r + s grows as e^t.
double line_integral(double kappa, double distance2, double a, double b) {
  static const GaussRule rule;
  const double r_a = std::sqrt(a * a + distance2), r_b = std::sqrt(b * b + distance2);
  // A line through x, which no centroid lies on, counts 0 times.
  if (r_a + a == 0) return 0;
  const double length = std::log1p((b - a) * (1 + (a + b) / (r_a + r_b)) / (r_a + a));
  // e^{−u} changes by e² at the most in a step.
  double at = 0, sum = 0;
  while (at < length) {
    const double r = 0.5 * ((r_a + a) * std::exp(at) + distance2 / ((r_a + a) * std::exp(at)));
    double width = std::min(1.0, kappa * r > series_reach ? 2 / (kappa * r) : 1.0);
    if (at + 1.3 * width > length) width = length - at;
    for (int q = 0; q < GaussRule::points; ++q) {
      const double up = (r_a + a) * std::exp(at + width * rule.node[q]),
                   here = 0.5 * (up + distance2 / up);
      sum -= width * rule.weight[q] * here * radial_of(kappa, here).slope;
    }
    at += width;
  }
  return sum;
}

double edge_integral(double kappa, double distance2, double a, double b) {
  double sum = 0;
  if (b > 0) sum += line_integral(kappa, distance2, std::max(a, 0.0), b);
  if (a < 0) sum += line_integral(kappa, distance2, std::max(-b, 0.0), -a);
  return sum;
}

inline __attribute__((always_inline)) void add_pair(const Radial& g, double weight,
                                                    const double d[3], const Vec3d& n_j,
                                                    const double n_i[3], double& v, double& k,
                                                    double& k_adjoint, double& hyper) {
  const double along_j = d[0] * n_j.x + d[1] * n_j.y + d[2] * n_j.z,
               along_i = d[0] * n_i[0] + d[1] * n_i[1] + d[2] * n_i[2],
               both = n_i[0] * n_j.x + n_i[1] * n_j.y + n_i[2] * n_j.z;
  v += weight * g.value;
  k += weight * g.slope * along_j;
  k_adjoint -= weight * g.slope * along_i;
  hyper += weight * (g.slope * both - g.second * along_i * along_j);
}

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
      add_pair(radial_by_series(kappa, r), weight[q], d, n_j, n_i, v, k, k_adjoint, hyper);
    }
    to.v[i] += v;
    to.k[i] += k;
    to.k_adjoint[i] += k_adjoint;
    to.d[i] += hyper;
  }
}

}  // namespace

PanelEntries difference_entries(const Triangle& t, Vec3d x, Vec3d normal, double kappa) {
  const YukawaIntegrals of_v = yukawa_integrals(t, x, kappa, 0, YukawaPart::less_laplace);
  const CornerView view(t, x);
  double heights = 0, distances = 0;
  for (int e = 0; e < 3; ++e) {
    const int next = (e + 1) % 3;
    const double d = view.edge_distance(t, e),
                 line =
                     edge_integral(kappa, d * d + view.height * view.height,
                                   dot(view.to[e], t.tangent[e]), dot(view.to[next], t.tangent[e]));
    heights += dot(normal, t.outward[e]) * line;
    distances += d * line;
  }
  const double v_kappa = panel_potential(t, x) + of_v.potential;
  return {of_v.potential, of_v.double_layer, dot(normal, of_v.gradient),
          inv_4pi * view.height * heights +
              dot(normal, t.normal) * (inv_4pi * distances - kappa * kappa * v_kappa)};
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
  if (kappa * (std::sqrt(farthest2) + t.radius) <= series_reach)
    return add_by_series(points, y, weight, t.normal, kappa, count, place, normal, columns);
  for (int i = 0; i < count; ++i) {
    const double n_i[3] = {normal[0][i], normal[1][i], normal[2][i]};
    for (int q = 0; q < points; ++q) {
      const double d[3] = {place[0][i] - y[3 * q], place[1][i] - y[3 * q + 1],
                           place[2][i] - y[3 * q + 2]};
      const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      add_pair(radial_of(kappa, r), weight[q], d, t.normal, n_i, columns.v[i], columns.k[i],
               columns.k_adjoint[i], columns.d[i]);
    }
  }
}

}  // namespace fmbem
