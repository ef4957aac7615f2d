// The device makes the same operators as the host, whose own tests check theirs
// (tests/unit/fmm/translations.cpp, box_fit.cpp).
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "fmbem/fmm/expansion/box_fit.hpp"
#include "fmbem/fmm/expansion/m2l_blocks.hpp"
#include "fmbem/fmm/expansion/translations.hpp"
#include "tests/unit/cuda/device_m2l.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/larger_error.hpp"

namespace fmbem::test::cuda_operators_tests {

using fmm::orbits;
using fmm::ParityOrder;

namespace {

std::size_t at(int row, int columns, int column) {
  return static_cast<std::size_t>(row) * columns + column;
}

/// [degrees of rows][degrees of columns], of an orbit.
using SizesByDegree = std::function<void(int orbit, std::vector<double>& largest)>;

/// Upper bounds of the sums in the entries of Bᵀ X B, for each orbit but the first: |B|ᵀ S |B|,
/// S_nk being no smaller than the entries of X between degrees n and k. [26][K][K]
std::vector<std::vector<double>> sizes_of_terms(const ParityOrder& low, const ParityOrder& high,
                                                const fmm::BoxFit& fit,
                                                const SizesByDegree& sizes_of_x) {
  const int degrees = high.p + 1;
  std::vector<double> b(at(low.count, degrees, 0));  // |B| of each column, added up by degree
  for (int c = 0; c < 8; ++c) {
    const int known = low.begin[c + 1] - low.begin[c];
    const int unknown = high.begin[c + 1] - high.begin[c] - known;
    for (int i = 0; i < known; ++i) {
      b[at(low.begin[c] + i, degrees, low.degree[low.begin[c] + i])] += 1;
      for (int u = 0; u < unknown; ++u)
        b[at(low.begin[c] + i, degrees, high.degree[high.begin[c] + known + u])] +=
            std::abs(fit.transposed(c)[at(i, unknown, u)]);
    }
  }
  std::vector<std::vector<double>> result(orbits - 1);
#pragma omp parallel for schedule(dynamic, 1)
  for (int orbit = 1; orbit < orbits; ++orbit) {
    std::vector<double> s(at(degrees, degrees, 0)), right(at(degrees, low.count, 0));
    sizes_of_x(orbit, s);
    for (int n = 0; n < degrees; ++n)
      for (int j = 0; j < low.count; ++j)
        for (int k = 0; k < degrees; ++k)
          right[at(n, low.count, j)] += s[at(n, degrees, k)] * b[at(j, degrees, k)];
    auto& sizes = result[orbit - 1];
    sizes.resize(at(low.count, low.count, 0));
    for (int i = 0; i < low.count; ++i)
      for (int n = 0; n < degrees; ++n)
        for (int j = 0; j < low.count; ++j)
          sizes[at(i, low.count, j)] += b[at(i, degrees, n)] * right[at(n, low.count, j)];
  }
  return result;
}

/// The largest entries of Laplace's X.
void laplace_sizes(const ParityOrder& high, int orbit, std::vector<double>& largest) {
  const fmm::M2lOrbit m2l(high, orbit);
  std::vector<double> x(at(high.count, high.count, 0));
  for (int e = 0; e < 8; ++e) {
    m2l.block(e, x.data());
    for (int i = 0; i < high.count; ++i)
      for (int j = 0; j < high.count; ++j) {
        double& size = largest[at(high.degree[i], high.p + 1, high.degree[j])];
        size = std::max(size, std::abs(x[at(i, high.count, j)]));
      }
  }
}

/// Of Yukawa's: of the recurrences of yukawa_translations.cpp with all of their terms positive,
/// from |T_n^m(r)| ≤ N_n^m h_n(κr)/r^{n+1}, summed over the mirror images.
void yukawa_sizes(const ParityOrder& high, double kappa, int orbit, std::vector<double>& largest) {
  using fmm::harmonic_count, fmm::harmonic_index;
  const int p = high.p, count = harmonic_count(2 * p);
  const fmm::Norms norm(2 * p);
  const double kappa2 = kappa * kappa;
  const auto over = [](int n) { return (2.0 * n - 1) * (2.0 * n + 1); };
  std::vector<double> sectorial(count), next(count), here, low, above(count);
  for (int image = 0; image < 8; ++image) {
    const Vec3d shift = fmm::orbit_shift(orbit, image);
    if (fmm::boxes_touch(shift)) continue;
    const double r = fmbem::norm(shift), z = kappa * r;
    double h = std::exp(-z), up = (1 + z) * h;
    for (int n = 0; n <= 2 * p; ++n) {
      for (int m = -n; m <= n; ++m)
        sectorial[harmonic_index(n, m)] += norm(n, m) * h / std::pow(r, n + 1);
      h = std::exchange(up, up + z * z * h / over(n + 1));
    }
  }
  for (int l = 0; l <= p; ++l) {
    here = sectorial;
    low.assign(count, 0);
    for (int k = l; k <= p; ++k) {
      for (int n = 0; n <= p; ++n)
        for (int m = 0; m <= n; ++m) {
          double& size = largest[at(n, p + 1, k)];
          size = std::max(size, 0.125 * (here[harmonic_index(n, m)] + here[harmonic_index(n, -m)]) /
                                    (norm(n, m) * norm(k, l)));
        }
      for (int n = 0; n < 2 * p - k; ++n)
        for (int m = -n; m <= n; ++m) {
          double& sum = above[harmonic_index(n, m)];
          sum = here[harmonic_index(n + 1, m)] +
                kappa2 * (k * k - l * l) / std::abs(over(k)) * low[harmonic_index(n, m)];
          if (std::abs(m) < n)
            sum += kappa2 * (n * n - m * m) / over(n) * here[harmonic_index(n - 1, m)];
        }
      low.swap(here);
      here.swap(above);
    }
    for (int n = 0; n < 2 * p - l; ++n)
      for (int m = -n; m <= n; ++m) {
        double& sum = next[harmonic_index(n, m)];
        sum = sectorial[harmonic_index(n + 1, m + 1)];
        if (m < n - 1)
          sum +=
              kappa2 * ((n - m) * (n - m - 1)) / over(n) * sectorial[harmonic_index(n - 1, m + 1)];
      }
    sectorial.swap(next);
  }
}

/// The host's blocks by the device's formulas: M2L of orbits, projected. The CPU's plans have
/// theirs from single displacements, which round otherwise.
void make_host_blocks(const ParityOrder& low, const ParityOrder& high,
                      const std::function<void(int orbit, int e, const double* block)>& take) {
  const fmm::BoxFit fit(low, high);
#pragma omp parallel
  {
    std::vector<double> block(static_cast<std::size_t>(high.count) * high.count);
    fmm::BoxFit::Room room;
#pragma omp for schedule(dynamic, 1)
    for (int orbit = 1; orbit < orbits; ++orbit) {
      const fmm::M2lOrbit m2l(high, orbit);
      for (int e = 0; e < 8; ++e) {
        m2l.block(e, block.data());
        take(orbit, e, fit.project(block, room).data());
      }
    }
  }
}

/// Compares entries as they come, from several threads.
template <class T>
class Comparison {
 public:
  Comparison(const ParityOrder& low, HostM2l<T> device, std::vector<std::vector<double>> sizes,
             double roundings)
      : low_(low),
        device_(std::move(device)),
        sizes_(std::move(sizes)),
        rounding_(roundings * std::numeric_limits<double>::epsilon() / 2) {}

  void take(const fmm::M2lRows& part) {
    // Of single precision, and of two halves; small ones have the unit of their row.
    constexpr bool split = sizeof(T) == 4;
    constexpr double storage = split ? 0x1p-24 + 0x1p-22 : 0, of_largest = split ? 0x1p-39 : 0;
    double here = 0;
    const double* entry = part.rows;
    for (int i = part.first; i < part.end; ++i) {
      const T* const whole_row =
          device_.rows.data() + (part.e * std::int64_t{low_.count} + i) * device_.stride;
      const T* const row = whole_row + (part.orbit - 1) * std::int64_t{low_.count};
      double largest = 0;
      for (std::int64_t k = 0; split && k < device_.stride; ++k)
        largest = larger_error(largest, std::abs(static_cast<double>(whole_row[k])));
      for (int j = 0; j < low_.count; ++j, ++entry) {
        const double difference = std::abs(static_cast<double>(row[j]) - *entry) /
                                  (rounding_ * sizes_[part.orbit - 1][at(i, low_.count, j)] +
                                   storage * std::abs(*entry) + of_largest * largest);
        here = std::isfinite(difference) ? std::max(here, difference) : 1e300;
      }
    }
#pragma omp critical
    worst_ = larger_error(worst_, here);
  }
  /// Over what rounding allows.
  double worst() const { return worst_; }

 private:
  const ParityOrder& low_;
  HostM2l<T> device_;
  std::vector<std::vector<double>> sizes_;
  double rounding_, worst_ = 0;
};

/// One rounding for each term of two products with the fit, on both sides.
double roundings_of_products(const ParityOrder& high) { return 2 * (2 * high.count / 8.0 + 8); }

/// The largest difference of the device's entries from the host's over what rounding allows.
template <class T>
double worst_difference(int p) {
  const ParityOrder low(p), high(fmm::fitted_degree(p));
  // Some four roundings for each step of recurrences of degree 2q.
  Comparison<T> comparison(
      low, make_m2l_on_device<T>(fmm::Yukawa{0}, low),
      sizes_of_terms(low, high, fmm::BoxFit(low, high),
                     [&](int orbit, auto& largest) { laplace_sizes(high, orbit, largest); }),
      2 * 4 * 2 * high.p + roundings_of_products(high));
  make_host_blocks(low, high, [&](int orbit, int e, const double* block) {
    comparison.take({orbit, e, 0, low.count, block});
  });
  return comparison.worst();
}

/// The same of Yukawa's kernel, against the blocks of the CPU's plans, which are made of single
/// displacements: their shifts have no more roundings, of terms that are as large.
template <class T>
double worst_yukawa_difference(int p, double kappa) {
  const ParityOrder low(p), high(fmm::fitted_degree(p));
  const fmm::Yukawa kernel{kappa};
  // Steps to degree 2q, with eight roundings each.
  Comparison<T> comparison(
      low, make_m2l_on_device<T>(kernel, low),
      sizes_of_terms(low, high, fmm::BoxFit(low, high, kernel),
                     [&](int orbit, auto& largest) { yukawa_sizes(high, kappa, orbit, largest); }),
      2 * 8 * 2 * high.p + roundings_of_products(high));
  fmm::make_m2l_blocks(kernel, low, fmm::M2l::fitted, fmm::all_m2l_orbits(),
                       [&](const fmm::M2lRows& part) { comparison.take(part); });
  return comparison.worst();
}

}  // namespace

TEST_CASE("M2L operators of the device are those of the host") {
  if (!gpu_is_there()) return;
  const int p = GENERATE(1, 2, 5, 11, 16, 21);
  CAPTURE(p);
  CHECK(worst_difference<double>(p) < 1);
  CHECK(worst_difference<float>(p) < 1);
}

TEST_CASE("M2L operators of Yukawa's kernel on the device are those of the host") {
  if (!gpu_is_there()) return;
  const int p = GENERATE(1, 4, 10, 15);
  const double kappa = GENERATE(0.02, 1.0, 6.0);
  CAPTURE(p, kappa);
  CHECK(worst_yukawa_difference<double>(p, kappa) < 1);
  CHECK(worst_yukawa_difference<float>(p, kappa) < 1);
}

}  // namespace fmbem::test::cuda_operators_tests
