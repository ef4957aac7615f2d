#pragma once

// What difference_entries() is made of, for processors of all kinds.
#include <cmath>

#include "fmbem/bem/near/difference_entries.hpp"
#include "fmbem/bem/near/yukawa_closed_form.hpp"

namespace fmbem {

/// κr up to which the series serves, and its terms: 2²⁰/20! is 4e-13.
inline constexpr double difference_series_reach = 2;
inline constexpr int difference_terms = 20;

/// With u = κr, of (e^{−u} − 1)/r, of −1/r times its derivative, and of 1/r times that one's:
///     −κ Σ (−u)^j/(j+1)!,   −κ²/r Σ (j+1) (−u)^j/(j+2)!,   κ²/r³ Σ (j+1)(j−1) (−u)^j/(j+2)!.
struct DifferenceSeries {
  double value[difference_terms]{}, slope[difference_terms]{}, second[difference_terms]{};
  constexpr DifferenceSeries() {
    double factorial = 1;  // of j + 1
    for (int j = 0; j < difference_terms; ++j) {
      const double sign = j % 2 ? -1 : 1, next = factorial * (j + 2);
      value[j] = -sign / factorial;
      slope[j] = -sign * (j + 1) / next;
      second[j] = sign * (j + 1) * (j - 1) / next;
      factorial = next;
    }
  }
};
#ifndef __CUDA_ARCH__
inline constexpr DifferenceSeries difference_series;
#endif

/// Of a kernel g(r), 4πG: g, −g'/r and (g'/r)'/r.
struct PairRadial {
  double value, slope, second;
};

FMBEM_HD FMBEM_INLINE PairRadial difference_by_series(double kappa, double r) {
#ifdef __CUDA_ARCH__
  constexpr DifferenceSeries difference_series;  // becomes immediate operands
#endif
  const double u = kappa * r, over_r = 1 / r;
  double value = 0, slope = 0, second = 0;
  for (int j = difference_terms - 1; j >= 0; --j) {
    value = value * u + difference_series.value[j];
    slope = slope * u + difference_series.slope[j];
    second = second * u + difference_series.second[j];
  }
  const double scale = kappa * kappa * over_r;
  return {kappa * value, scale * slope, scale * over_r * over_r * second};
}

FMBEM_HD inline PairRadial difference_radial(double kappa, double r) {
  const double u = kappa * r;
  if (u <= difference_series_reach) return difference_by_series(kappa, r);
  const double falls = exp(-u), over_r = 1 / r, over_r3 = over_r * over_r * over_r;
  return {(falls - 1) * over_r, ((1 + u) * falls - 1) * over_r3,
          ((3 + u * (3 + u)) * falls - 3) * over_r3 * over_r * over_r};
}

/// Adds a pair at the distance d, from n_j to n_i.
FMBEM_HD FMBEM_INLINE void add_pair_entries(const PairRadial& g, double weight, const double d[3],
                                            const Vec3d& n_j, const double n_i[3], double& v,
                                            double& k, double& k_adjoint, double& hyper) {
  const double along_j = d[0] * n_j.x + d[1] * n_j.y + d[2] * n_j.z,
               along_i = d[0] * n_i[0] + d[1] * n_i[1] + d[2] * n_i[2],
               both = n_i[0] * n_j.x + n_i[1] * n_j.y + n_i[2] * n_j.z;
  v += weight * g.value;
  k += weight * g.slope * along_j;
  k_adjoint -= weight * g.slope * along_i;
  hyper += weight * (g.slope * both - g.second * along_i * along_j);
}

/// ∫ g'(r)/r ds from a to b along a line at the distance √distance2, 0 ≤ a < b. With ds = r dt the
/// integrand is entire in t, and r + s grows as e^t.
FMBEM_HD inline double difference_along_line(const EdgeRule& rule, double kappa, double distance2,
                                             double a, double b) {
  const double r_a = sqrt(a * a + distance2), r_b = sqrt(b * b + distance2);
  // A line through x, which no centroid lies on, counts 0 times.
  if (r_a + a == 0) return 0;
  const double length = log1p((b - a) * (1 + (a + b) / (r_a + r_b)) / (r_a + a));
  // e^{−u} changes by e² at the most in a step.
  double at = 0, sum = 0;
  while (at < length) {
    const double r = 0.5 * ((r_a + a) * exp(at) + distance2 / ((r_a + a) * exp(at)));
    double width = fmin(1.0, kappa * r > difference_series_reach ? 2 / (kappa * r) : 1.0);
    if (at + 1.3 * width > length) width = length - at;
    for (int q = 0; q < EdgeRule::points; ++q) {
      const double up = (r_a + a) * exp(at + width * rule.node[q]),
                   here = 0.5 * (up + distance2 / up);
      sum -= width * rule.weight[q] * here * difference_radial(kappa, here).slope;
    }
    at += width;
  }
  return sum;
}

FMBEM_HD inline double difference_along_edge(const EdgeRule& rule, double kappa, double distance2,
                                             double a, double b) {
  double sum = 0;
  if (b > 0) sum += difference_along_line(rule, kappa, distance2, fmax(a, 0.0), b);
  if (a < 0) sum += difference_along_line(rule, kappa, distance2, fmax(-b, 0.0), -a);
  return sum;
}

/// The gradient of K in x, from V_κ.
FMBEM_HD inline Vec3d difference_gradient_of_k(const EdgeRule& rule, const Triangle& t, Vec3d x,
                                               double kappa, double v_kappa) {
  const CornerView view(t, x);
  Vec3d outward{};
  double distances = 0;
  for (int e = 0; e < 3; ++e) {
    const int next = (e + 1) % 3;
    const double d = view.edge_distance(t, e),
                 line = difference_along_edge(rule, kappa, d * d + view.height * view.height,
                                              dot(view.to[e], t.tangent[e]),
                                              dot(view.to[next], t.tangent[e]));
    outward += line * t.outward[e];
    distances += d * line;
  }
  return (inv_4pi * view.height) * outward +
         (inv_4pi * distances - kappa * kappa * v_kappa) * t.normal;
}

/// The entries from V, K and the gradient of V, and V of Laplace's kernel.
FMBEM_HD inline PanelEntries difference_entries_from(const EdgeRule& rule, const Triangle& t,
                                                     Vec3d x, Vec3d normal, double kappa,
                                                     const YukawaIntegrals& of_v,
                                                     double of_laplace) {
  return {of_v.potential, of_v.double_layer, dot(normal, of_v.gradient),
          dot(normal, difference_gradient_of_k(rule, t, x, kappa, of_laplace + of_v.potential))};
}

}  // namespace fmbem
