#include "fmbem/fmm/expansion/yukawa_translations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <numeric>

#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/expansion/box_fit.hpp"
#include "fmbem/fmm/expansion/harmonic_samples.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"

namespace fmbem::fmm {
namespace {

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

/// T_n^m(r) for n ≤ p: the complex functions of translations.cpp times their radial factors.
ComplexParts irregular_functions(const Yukawa& kernel, Vec3d r, int p) {
  const std::vector<double> factor = irregular_factors(kernel.kappa, fmbem::norm(r), p);
  const Norms norm(p);
  std::vector<double> real(harmonic_count(p));
  regular_harmonics(r, p, real.data());
  ComplexParts t{std::vector<double>(harmonic_count(p)), std::vector<double>(harmonic_count(p))};
  for (int n = 0; n <= p; ++n) {
    t.real[harmonic_index(n, 0)] = factor[n] * norm(n, 0) * real[harmonic_index(n, 0)];
    for (int m = 1; m <= n; ++m) {
      const double scale = factor[n] * norm(n, m) / std::numbers::sqrt2;
      const double cosine = scale * real[harmonic_index(n, m)],
                   sine = scale * real[harmonic_index(n, -m)];
      t.real[harmonic_index(n, m)] = cosine;
      t.real[harmonic_index(n, -m)] = minus_one_to(m) * cosine;
      t.imaginary[harmonic_index(n, m)] = sine;
      t.imaginary[harmonic_index(n, -m)] = -minus_one_to(m) * sine;
    }
  }
  return t;
}

/// C_{nm}^{kl} of the shift by r,
///
///     T_k^l(x + r) = Σ_{nm} conj(U_n^m(x)) f_n(κ|x|) (−1)^n C_{nm}^{kl},
///
/// for n, k ≤ p and l ≥ 0, U_n^m being the complex functions of translations.cpp.
/// C_{nm}^{00} = T_n^m(r). With
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
  /// Fills `values`.
  ShiftTable(int p, const Yukawa& kernel, Vec3d r, ComplexParts& values)
      : p_(p), kappa2_(kernel.kappa * kernel.kappa), values_(values) {
    const ComplexParts first = irregular_functions(kernel, r, 2 * p);
    const std::size_t numbers = static_cast<std::size_t>(p + 1) * (p + 2) / 2 * harmonic_count(p);
    const int count = harmonic_count(2 * p);
    for (int n = 0; n <= 2 * p; ++n)
      for (int m = -n; m <= n; ++m) {
        a_.push_back(kappa2_ * (n * n - m * m) / ((2 * n - 1) * (2 * n + 1)));
        b_.push_back(kappa2_ * ((n - m) * (n - m - 1)) / ((2 * n - 1) * (2 * n + 1)));
      }
    std::vector<double> here, low, above;
    for (const auto part : {&ComplexParts::real, &ComplexParts::imaginary}) {
      std::vector<double>& out = values_.*part;
      out.resize(numbers);
      // A column of degree k needs one of degree k − 1 to one degree more.
      std::vector<double> sectorial = first.*part, next(count);
      for (int l = 0; l <= p; ++l) {
        here = sectorial;
        low.assign(count, 0);
        above.resize(count);
        for (int k = l; k <= p; ++k) {
          std::copy_n(here.begin(), harmonic_count(p), out.data() + place(k, l));
          if (k == p) break;
          raise_degree(k, l, here, low, above);
          low.swap(here);
          here.swap(above);
        }
        raise_both(2 * p - l - 1, sectorial, next);
        sectorial.swap(next);
      }
    }
  }

  /// Where C_{nm}^{kl} is among `values`, for l ≥ 0.
  std::size_t at(int n, int m, int k, int l) const { return place(k, l) + harmonic_index(n, m); }

 private:
  /// From columns (k, l) and (k − 1, l) to (k + 1, l), in one part.
  void raise_degree(int k, int l, const std::vector<double>& here, const std::vector<double>& low,
                    std::vector<double>& above) const {
    const double a_column = a_[harmonic_index(k, l)];
    for (int n = 0; n <= 2 * p_ - k - 1; ++n) {
      const double* const up = here.data() + harmonic_index(n + 1, 0);
      const double* const lower = low.data() + harmonic_index(n, 0);
      double* const out = above.data() + harmonic_index(n, 0);
      for (int m = -n; m <= n; ++m) out[m] = up[m] - a_column * lower[m];
      if (n == 0) continue;
      const double* const down = here.data() + harmonic_index(n - 1, 0);
      const double* const factor = a_.data() + harmonic_index(n, 0);
      for (int m = 1 - n; m < n; ++m) out[m] += factor[m] * down[m];
    }
  }

  /// From column (l, l) to (l + 1, l + 1) for n ≤ highest, in one part.
  void raise_both(int highest, const std::vector<double>& from, std::vector<double>& to) const {
    for (int n = 0; n <= highest; ++n) {
      const double* const up = from.data() + harmonic_index(n + 1, 1);
      double* const out = to.data() + harmonic_index(n, 0);
      for (int m = -n; m <= n; ++m) out[m] = up[m];
      if (n == 0) continue;
      const double* const down = from.data() + harmonic_index(n - 1, 1);
      const double* const factor = b_.data() + harmonic_index(n, 0);
      for (int m = -n; m < n - 1; ++m) out[m] -= factor[m] * down[m];
    }
  }

  std::size_t place(int k, int l) const {
    return (static_cast<std::size_t>(k) * (k + 1) / 2 + static_cast<std::size_t>(l)) *
           harmonic_count(p_);
  }

  int p_;
  double kappa2_;
  std::vector<double> a_, b_;  ///< [harmonics of degree ≤ 2p], times κ²
  ComplexParts& values_;       ///< [columns k, l ≥ 0][K]
};

}  // namespace

int upward_rings(int p, const Yukawa& kernel) {
  const auto beyond = static_cast<int>(HarmonicSamples::Sphere::radius * kernel.kappa);
  return 2 * ((p + beyond) / 2 + 6);
}

UpwardBlocks upward_blocks(const ParityOrder& order, const Yukawa& kernel) {
  // R_i(y + t), y being of the child, on a sphere about its centre: of R_j its coefficient is the
  // mean over the sphere times (2k+1)/(ρ^k f_k(κρ)).
  constexpr double radius = HarmonicSamples::Sphere::radius, radius2 = radius * radius;
  double factor[highest_fitted_degree + 2];
  kernel.regular_factors(&radius2, order.p, factor);
  std::vector<double> scale;  // times ½^k: coefficients of the child are in its own unit
  for (int k = 0; k <= order.p; ++k)
    scale.push_back((2 * k + 1) / (4 * std::numbers::pi * std::pow(2 * radius, k) * factor[k]));
  const auto samples = harmonic_samples(order.p);
  const HarmonicSamples::Sphere& sphere = samples->sphere(upward_rings(order.p, kernel));
  const std::vector<double> factors = radial_factors(kernel, order.p, sphere.r2);
  const auto& kernels = cpu_kernels<double>();
  const int count = order.count, nodes = sphere.nodes;
  const int all_nodes[9] = {0, nodes, nodes, nodes, nodes, nodes, nodes, nodes, nodes};
  UpwardBlocks result;
  for (int e = 0; e < 8; ++e)
    result.block[e].resize(static_cast<std::size_t>(order.begin[e + 1] - order.begin[e]) * count);
  constexpr int at_once = 16;  // rows
  std::array<std::int32_t, at_once> row_of;
  std::iota(row_of.begin(), row_of.end(), 0);
#pragma omp parallel
  {
    // The parent's functions on the mirrored spheres, and what they add up to with the signs that
    // the child's harmonics have there: [class][row][node].
    std::vector<double> functions(8 * nodes), sums(8 * at_once * nodes), product;
#pragma omp for schedule(dynamic, 1)
    for (int first = 0; first < count; first += at_once) {
      const int some = std::min(at_once, count - first);
      for (int row = 0; row < some; ++row) {
        const double* const f =
            factors.data() + std::int64_t{8} * nodes * order.degree[first + row];
        const double* const harmonic =
            sphere.parent.data() + std::int64_t{8} * nodes * (first + row);
        for (int k = 0; k < 8 * nodes; ++k) functions[k] = f[k] * harmonic[k];
        const double* of_octant[8];
        double* of_class[8];
        for (int g = 0; g < 8; ++g) {
          of_octant[g] = functions.data() + g * nodes;
          of_class[g] = sums.data() + (g * at_once + row) * nodes;
        }
        kernels.butterfly(all_nodes, all_nodes, of_octant, of_class);
      }
      for (int c = 0; c < 8; ++c) {
        const int columns = order.begin[c + 1] - order.begin[c],
                  stride = whole_registers(kernels, columns);
        product.assign(at_once * stride, 0);
        kernels.multiply(some, columns, nodes, sums.data() + c * at_once * nodes, nodes,
                         sphere.child[c].data(), product.data(), stride, row_of.data());
        for (int row = 0; row < some; ++row) {
          const int i = first + row, e = order.parity[i];
          double* const out = result.block[e].data() +
                              static_cast<std::size_t>(i - order.begin[e]) * count + order.begin[c];
          for (int j = 0; j < columns; ++j)
            out[j] = scale[order.degree[order.begin[c] + j]] * product[row * stride + j];
        }
      }
    }
  }
  return result;
}

void m2l_between(const ParityOrder& order, const Yukawa& kernel, Vec3d r, std::vector<double>& out,
                 ComplexParts& room) {
  const auto count = static_cast<std::size_t>(order.count);
  out.resize(count * count);
  const std::vector<double> inverse_norm = inverse_norms(order);
  // From where C_{nm}^{kl} is in `room`. Columns are taken a few at a time: their parts of a table,
  // which lie far from each other, stay in cache.
  const auto fill = [&](auto&& at) {
    constexpr int some = 8;
    for (int block = 0; block < 64; ++block) {
      const int of_row = block / 8, of_column = block % 8;
      const bool row_sine = of_row >> 1 & 1, column_sine = of_column >> 1 & 1;
      const double* const part = (row_sine == column_sine ? room.real : room.imaginary).data();
      const int end = order.begin[of_column + 1];
      for (int first = order.begin[of_column]; first < end; first += some)
        for (int i = order.begin[of_row]; i < order.begin[of_row + 1]; ++i) {
          const int n = order.degree[i], m = std::abs(order.azimuth[i]);
          // as in real_entry()
          const double scale = minus_one_to(n) * inverse_norm[i],
                       of_sum = row_sine && column_sine ? -scale : scale,
                       of_difference =
                           minus_one_to(m) * (row_sine && !column_sine ? -scale : scale);
          double* const row = out.data() + static_cast<std::size_t>(i) * count;
          for (int j = first; j < std::min(first + some, end); ++j) {
            const int k = order.degree[j], l = std::abs(order.azimuth[j]);
            row[j] = inverse_norm[j] *
                     (of_sum * part[at(n, m, k, l)] + of_difference * part[at(n, -m, k, l)]);
          }
        }
    }
  };
  if (kernel.kappa == 0) {
    room = irregular_functions(kernel, r, 2 * order.p);  // C_{nm}^{kl} = T_{n+k}^{m+l}
    fill([](int n, int m, int k, int l) { return harmonic_index(n + k, m + l); });
  } else {
    const ShiftTable shift(order.p, kernel, r, room);
    fill([&](int n, int m, int k, int l) { return shift.at(n, m, k, l); });
  }
}

void m2l_between(const ParityOrder& order, const Yukawa& kernel, Vec3d r,
                 std::vector<double>& out) {
  ComplexParts room;
  m2l_between(order, kernel, r, out, room);
}

}  // namespace fmbem::fmm
