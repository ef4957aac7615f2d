#include "fmbem/fmm/expansion/yukawa_translations.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <numbers>

#include "fmbem/fmm/expansion/box_fit.hpp"
#include "fmbem/fmm/expansion/half_rule.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"

namespace fmbem::fmm {
namespace {

using Complex = std::complex<double>;

double minus_one_to(int power) { return power % 2 != 0 ? -1 : 1; }

/// h_n(z)/r^{2n+1} for n ≤ p: h_0 = e^{−z}, h_1 = (1 + z) e^{−z}, and
/// h_{n+1} = h_n + z² h_{n−1}/((2n−1)(2n+1)), whose terms are all positive [DLMF 10.51].
std::vector<double> irregular_factors(double kappa, double r, int p) {
  const double z = kappa * r;
  std::vector<double> h{std::exp(-z), (1 + z) * std::exp(-z)};
  for (int n = 1; n < p; ++n)
    h.push_back(h[n] + z * z * h[n - 1] / ((2.0 * n - 1) * (2.0 * n + 1)));
  h.resize(p + 1);
  double power = 1 / r;
  for (double& factor : h) {
    factor *= power;
    power /= r * r;
  }
  return h;
}

/// C_{nm}^{kl} of the shift by r,
///
///     T_k^l(x + r) = Σ_{nm} conj(U_n^m(x)) f_n(κ|x|) (−1)^n C_{nm}^{kl},
///
/// for n, k ≤ p and l ≥ 0, T_k^l and U_n^m being the complex functions of translations.cpp times
/// their radial factors. C_{nm}^{00} = T_n^m(r). With
///
///     ∂_z T_k^l = −T_{k+1}^l − κ² a_kl T_{k−1}^l,     a_kl = (k²−l²)/((2k−1)(2k+1)),
///     (∂_x + i∂_y) T_k^k = T_{k+1}^{k+1}
///
/// and the like for U (translations.hpp has those of κ = 0), a derivative of both sides gives
///
///     C_{nm}^{k+1,l} = C_{n+1,m}^{kl} + κ² (a_nm C_{n−1,m}^{kl} − a_kl C_{nm}^{k−1,l}),
///     C_{nm}^{k+1,k+1} = C_{n+1,m+1}^{kk} − κ² b_nm C_{n−1,m+1}^{kk},
///     b_nm = (n−m)(n−m−1)/((2n−1)(2n+1)).
class ShiftTable {
 public:
  ShiftTable(int p, const Yukawa& kernel, Vec3d r) : p_(p), kappa2_(kernel.kappa * kernel.kappa) {
    values_.resize(static_cast<std::size_t>(p + 1) * (p + 2) / 2 * harmonic_count(p));
    // A column of degree k needs one of degree k − 1 to one degree more.
    std::vector<Complex> sectorial = first_column(kernel, r), next, low, here, above;
    for (int l = 0; l <= p; ++l) {
      here = sectorial;
      low.assign(here.size(), 0);
      for (int k = l; k <= p; ++k) {
        std::copy_n(here.begin(), harmonic_count(p), column(k, l));
        if (k == p) break;
        above.assign(here.size(), 0);
        const double a_column = a(k, l);
        for (int n = 0; n <= 2 * p - k - 1; ++n)
          for (int m = -n; m <= n; ++m) {
            const Complex below = std::abs(m) < n ? a(n, m) * here[harmonic_index(n - 1, m)] : 0;
            above[harmonic_index(n, m)] = here[harmonic_index(n + 1, m)] +
                                          kappa2_ * (below - a_column * low[harmonic_index(n, m)]);
          }
        low.swap(here);
        here.swap(above);
      }
      next.assign(sectorial.size(), 0);
      for (int n = 0; n <= 2 * p - l - 1; ++n)
        for (int m = -n; m <= n; ++m) {
          const Complex below = m + 1 < n ? b(n, m) * sectorial[harmonic_index(n - 1, m + 1)] : 0;
          next[harmonic_index(n, m)] = sectorial[harmonic_index(n + 1, m + 1)] - kappa2_ * below;
        }
      sectorial.swap(next);
    }
  }

  /// For l ≥ 0.
  Complex operator()(int n, int m, int k, int l) const {
    return values_[place(k, l) * harmonic_count(p_) + harmonic_index(n, m)];
  }

 private:
  static double a(int n, int m) {
    return static_cast<double>(n * n - m * m) / ((2 * n - 1) * (2 * n + 1));
  }
  static double b(int n, int m) {
    return static_cast<double>((n - m) * (n - m - 1)) / ((2 * n - 1) * (2 * n + 1));
  }
  std::size_t place(int k, int l) const {
    return static_cast<std::size_t>(k) * (k + 1) / 2 + static_cast<std::size_t>(l);
  }
  Complex* column(int k, int l) { return values_.data() + place(k, l) * harmonic_count(p_); }

  /// T_n^m(r) for n ≤ 2p.
  std::vector<Complex> first_column(const Yukawa& kernel, Vec3d r) const {
    const int p = 2 * p_;
    const std::vector<double> factor = irregular_factors(kernel.kappa, fmbem::norm(r), p);
    const Norms norm(p);
    std::vector<double> real(harmonic_count(p));
    regular_harmonics(r, p, real.data());
    std::vector<Complex> t(harmonic_count(p));
    for (int n = 0; n <= p; ++n) {
      t[harmonic_index(n, 0)] = factor[n] * norm(n, 0) * real[harmonic_index(n, 0)];
      for (int m = 1; m <= n; ++m) {
        const Complex value = factor[n] * norm(n, m) / std::numbers::sqrt2 *
                              Complex(real[harmonic_index(n, m)], real[harmonic_index(n, -m)]);
        t[harmonic_index(n, m)] = value;
        t[harmonic_index(n, -m)] = minus_one_to(m) * std::conj(value);
      }
    }
    return t;
  }

  int p_;
  double kappa2_;
  std::vector<Complex> values_;  ///< [columns k, l ≥ 0][K]
};

/// Nodes of the sphere's positive octant, which the other octants mirror, and their weights, which
/// add up to 4π/8: exact for harmonics of degrees that add up to less than 2 `rings`.
struct SphereRule {
  std::vector<Vec3d> node;
  std::vector<double> weight;

  explicit SphereRule(int rings) {
    const HalfRule heights(rings);
    for (std::size_t i = 0; i < heights.node.size(); ++i) {
      const double z = 2 * heights.node[i], across = std::sqrt(1 - z * z);
      for (int j = 0; j < rings / 2; ++j) {
        const double angle = (j + 0.5) * std::numbers::pi / rings;
        node.push_back({across * std::cos(angle), across * std::sin(angle), z});
        weight.push_back(std::numbers::pi / rings * heights.weight[i]);
      }
    }
  }
};

Vec3d mirrored(Vec3d x, int g) {
  for (int axis = 0; axis < 3; ++axis)
    if (g >> (2 - axis) & 1) x[axis] = -x[axis];
  return x;
}

}  // namespace

void regular_functions(const Yukawa& kernel, Vec3d x, int p, double* out) {
  regular_harmonics(x, p, out);
  if (kernel.kappa == 0) return;
  double factor[highest_fitted_degree + 2];
  kernel.regular_factors(norm2(x), p, factor);
  for (int n = 0; n <= p; ++n)
    for (int m = -n; m <= n; ++m) out[harmonic_index(n, m)] *= factor[n];
}

UpwardBlocks upward_blocks(const ParityOrder& order, const Yukawa& kernel) {
  // R_i(y + t), y being of the child, on a sphere about its centre: of R_j its coefficient is the
  // mean over the sphere times (2k+1)/(ρ^k f_k(κρ)).
  constexpr double radius = 0.4;
  const Vec3d shift{0.25, 0.25, 0.25};
  const SphereRule rule(2 * ((order.p + static_cast<int>(radius * kernel.kappa)) / 2 + 6));
  double factor[highest_fitted_degree + 2];
  kernel.regular_factors(radius * radius, order.p, factor);
  std::vector<double> scale;  // times ½^k: coefficients of the child are in its own unit
  for (int k = 0; k <= order.p; ++k)
    scale.push_back((2 * k + 1) / (4 * std::numbers::pi * std::pow(2 * radius, k) * factor[k]));
  const int count = order.count;
  std::vector<double> all(static_cast<std::size_t>(count) * count), parent(count), child(count);
  for (std::size_t node = 0; node < rule.node.size(); ++node)
    for (int g = 0; g < 8; ++g) {
      const Vec3d direction = mirrored(rule.node[node], g);
      regular_functions(kernel, radius * direction + shift, order.p, parent.data());
      regular_harmonics(direction, order.p, child.data());
      for (int i = 0; i < count; ++i) {
        const double value =
            rule.weight[node] * parent[harmonic_index(order.degree[i], order.azimuth[i])];
        for (int j = 0; j < count; ++j)
          all[static_cast<std::size_t>(i) * count + j] +=
              value * child[harmonic_index(order.degree[j], order.azimuth[j])];
      }
    }
  UpwardBlocks result;
  for (int e = 0; e < 8; ++e)
    for (int i = order.begin[e]; i < order.begin[e + 1]; ++i)
      for (int j = 0; j < count; ++j)
        result.block[e].push_back(scale[order.degree[j]] *
                                  all[static_cast<std::size_t>(i) * count + j]);
  return result;
}

YukawaM2lOrbit::YukawaM2lOrbit(const ParityOrder& order, const Yukawa& kernel, int orbit)
    : order_(order) {
  const Norms norm(order.p);
  const std::size_t numbers = static_cast<std::size_t>(order.count) * order.count;
  for (auto& block : of_mirrored_) block.assign(numbers, 0);
  std::vector<double> one(numbers);
  for (int h = 0; h < 8; ++h) {
    const Vec3d r = orbit_shift(orbit, h);
    if (boxes_touch(r)) continue;
    const ShiftTable shift(order.p, kernel, r);
    auto out = one.begin();
    for (int i = 0; i < order.count; ++i) {
      const int n = order.degree[i], m = order.azimuth[i], abs_m = std::abs(m);
      const double scale = 0.125 * minus_one_to(n) / norm(n, abs_m);
      for (int j = 0; j < order.count; ++j) {
        const int k = order.degree[j], l = order.azimuth[j], abs_l = std::abs(l);
        const Complex sum = shift(n, abs_m, k, abs_l),
                      difference =
                          minus_one_to(abs_m + abs_l) * std::conj(shift(n, -abs_m, k, abs_l));
        *out++ = scale / norm(k, abs_l) * real_entry(m, l, sum, difference);
      }
    }
    for (int w = 0; w < 8; ++w) {
      const double sign = std::popcount(static_cast<unsigned>(w & h)) % 2 ? -1 : 1;
      for (std::size_t q = 0; q < numbers; ++q) of_mirrored_[w][q] += sign * one[q];
    }
  }
}

void YukawaM2lOrbit::block(int e, double* out) const {
  for (int i = 0; i < order_.count; ++i)
    for (int c = 0; c < 8; ++c)
      for (int j = order_.begin[c]; j < order_.begin[c + 1]; ++j)
        *out++ = of_mirrored_[e ^ c][static_cast<std::size_t>(i) * order_.count + j];
}

}  // namespace fmbem::fmm
