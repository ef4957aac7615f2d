#include "fmbem/fmm/expansion/translations.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <numbers>

#include "fmbem/fmm/expansion/harmonics.hpp"

namespace fmbem::fmm {
namespace {

using Complex = std::complex<double>;

/// Complex harmonics F_n^m of degree ≤ p, of which those with m ≥ 0 are stored and the others are
/// (−1)^m conj(F_n^|m|); zero outside |m| ≤ n.
struct ComplexTable {
  explicit ComplexTable(int p) : values(harmonic_count(p)) {}

  Complex& at(int n, int m) { return values[harmonic_index(n, m)]; }
  Complex operator()(int n, int m) const {
    if (std::abs(m) > n) return 0;
    const Complex value = values[harmonic_index(n, std::abs(m))];
    return m >= 0 ? value : m % 2 ? -std::conj(value) : std::conj(value);
  }

  std::vector<Complex> values;
};

/// U_n^m(x).
ComplexTable regular_table(Vec3d x, int p, const Norms& norm) {
  std::vector<double> real(harmonic_count(p));
  regular_harmonics(x, p, real.data());
  ComplexTable u(p);
  for (int n = 0; n <= p; ++n) {
    u.at(n, 0) = real[harmonic_index(n, 0)] / norm(n, 0);
    for (int m = 1; m <= n; ++m)
      u.at(n, m) = Complex(real[harmonic_index(n, m)], real[harmonic_index(n, -m)]) /
                   (std::numbers::sqrt2 * norm(n, m));
  }
  return u;
}

/// T_n^m(x), with 1/|x − y| = Σ conj(U_n^m(y)) T_n^m(x): its real basis is S_i(x) / |x|^(2n+1).
ComplexTable irregular_table(Vec3d x, int p, const Norms& norm) {
  std::vector<double> real(harmonic_count(p));
  regular_harmonics(x, p, real.data());
  ComplexTable t(p);
  const double inverse_r2 = 1 / norm2(x);
  double power = std::sqrt(inverse_r2);
  for (int n = 0; n <= p; ++n, power *= inverse_r2) {
    t.at(n, 0) = power * norm(n, 0) * real[harmonic_index(n, 0)];
    for (int m = 1; m <= n; ++m)
      t.at(n, m) = power * norm(n, m) / std::numbers::sqrt2 *
                   Complex(real[harmonic_index(n, m)], real[harmonic_index(n, -m)]);
  }
  return t;
}

/// S_i(x + t) = Σ_j entry(i, j) S_j(x), from a table of U(t); i and j are positions.
double shift_entry(const ParityOrder& order, const ComplexTable& u, const Norms& norm, int i,
                   int j) {
  const int n = order.degree[i], m = order.azimuth[i], k = order.degree[j], l = order.azimuth[j];
  if (k > n) return 0;
  const int abs_m = std::abs(m), abs_l = std::abs(l);
  const double entry = real_entry(m, l, u(n - k, abs_m + abs_l), u(n - k, abs_m - abs_l));
  return (l % 2 ? -entry : entry) * norm(n, abs_m) / norm(k, abs_l);
}

double reflection_sign(int bits) { return std::popcount(static_cast<unsigned>(bits)) % 2 ? -1 : 1; }

}  // namespace

double real_entry(int m, int l, Complex sum, Complex difference) {
  if (l % 2) difference = -difference;
  double entry = m >= 0
                     ? (l >= 0 ? sum.real() + difference.real() : sum.imag() - difference.imag())
                     : (l >= 0 ? sum.imag() + difference.imag() : difference.real() - sum.real());
  if (m == 0) entry /= std::numbers::sqrt2;
  if (l == 0) entry /= std::numbers::sqrt2;
  return entry;
}

std::vector<double> root_factorials(int count) {
  std::vector<double> result(count, 1.0);
  for (int k = 1; k < count; ++k) result[k] = result[k - 1] * std::sqrt(static_cast<double>(k));
  return result;
}

std::vector<double> inverse_norms(const ParityOrder& order) {
  const Norms norm(order.p);
  std::vector<double> result(order.count);
  for (int i = 0; i < order.count; ++i)
    result[i] = 1 / (norm(order.degree[i], std::abs(order.azimuth[i])) *
                     (order.azimuth[i] == 0 ? std::numbers::sqrt2 : 1));
  return result;
}

UpwardBlocks upward_blocks(const ParityOrder& order) {
  const Norms norm(order.p);
  const ComplexTable u = regular_table({0.25, 0.25, 0.25}, order.p, norm);
  UpwardBlocks result;
#pragma omp parallel for schedule(dynamic, 1)
  for (int e = 0; e < 8; ++e) {
    for (int i = order.begin[e]; i < order.begin[e + 1]; ++i)
      for (int j = 0; j < order.count; ++j)
        result.block[e].push_back(std::ldexp(shift_entry(order, u, norm, i, j), -order.degree[j]));
  }
  return result;
}

std::array<std::array<OrbitPlace, 8>, orbits> orbit_places() {
  std::array<std::array<OrbitPlace, 8>, orbits> places{};
  for (int orbit = 0; orbit < orbits; ++orbit) {
    for (int g = 0; g < 8; ++g) {
      int colleague = 0, octant = 0;
      for (int axis = 0; axis < 3; ++axis) {
        const bool mirrored = g >> (2 - axis) & 1;
        const double centre = (mirrored ? -1 : 1) * orbit_axis(orbit, axis);
        const int cell = static_cast<int>(centre + 2.5);  // 0 … 5, the parent's own at 2, 3
        colleague = 3 * colleague + cell / 2;
        octant = 2 * octant + cell % 2;
      }
      places[orbit][g] = {static_cast<std::int8_t>(colleague), static_cast<std::int8_t>(octant)};
    }
  }
  return places;
}

M2lOrbit::M2lOrbit(const ParityOrder& order, int orbit)
    : order_(order), inverse_norm_(inverse_norms(order)) {
  const int p = 2 * order.p;
  const Norms norm(p);
  for (Table& table : tables_) {
    table.real.resize(harmonic_count(p));
    table.imaginary.resize(harmonic_count(p));
  }
  for (int h = 0; h < 8; ++h) {
    const Vec3d r = orbit_shift(orbit, h);
    if (boxes_touch(r)) continue;
    const ComplexTable t = irregular_table(r, p, norm);
    for (int n = 0; n <= p; ++n) {
      for (int m = -n; m <= n; ++m) {
        const Complex value = t(n, m);
        for (int w = 0; w < 8; ++w) {
          tables_[w].real[harmonic_index(n, m)] += reflection_sign(w & h) * value.real();
          tables_[w].imaginary[harmonic_index(n, m)] += reflection_sign(w & h) * value.imag();
        }
      }
    }
  }
}

void M2lOrbit::block(int e, double* out) const {
  for (int i = 0; i < order_.count; ++i) {
    const int n = order_.degree[i], abs_m = std::abs(order_.azimuth[i]);
    const double row_scale = (n % 2 ? -0.125 : 0.125) * inverse_norm_[i];
    for (int c = 0; c < 8; ++c) {
      const M2lClasses classes(e, order_.parity[i], c);
      const Table& table = tables_[classes.w];
      const double* part = (classes.imaginary ? table.imaginary : table.real).data();
      const double sum_scale = classes.sum * row_scale;
      const double difference_scale = classes.difference * row_scale;
      for (int j = order_.begin[c]; j < order_.begin[c + 1]; ++j) {
        const int abs_l = std::abs(order_.azimuth[j]);
        const double* here = part + harmonic_index(n + order_.degree[j], abs_m);
        *out++ = inverse_norm_[j] * (sum_scale * here[abs_l] + difference_scale * here[-abs_l]);
      }
    }
  }
}

std::array<std::vector<Derivative>, 3> derivatives(const ParityOrder& order) {
  const Norms norm(std::max(order.p, 1));
  std::array<std::vector<Derivative>, 3> result;
  for (int axis = 0; axis < 3; ++axis) {
    // Where the degree falls by one, the shift by t is linear in t.
    Vec3d unit;
    unit[axis] = 1;
    const ComplexTable u = regular_table(unit, 1, norm);
    for (int i = 0; i < order.count; ++i) {
      for (int j = 0; j < order.count; ++j) {
        if (order.degree[j] != order.degree[i] - 1) continue;
        const double value = shift_entry(order, u, norm, i, j);
        if (value != 0) result[axis].push_back({i, j, value});
      }
    }
  }
  return result;
}

}  // namespace fmbem::fmm
