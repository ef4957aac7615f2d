// The device makes the same operators as the host, whose own tests check theirs
// (tests/unit/fmm/translations.cpp, box_fit.cpp).
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "fmbem/fmm/expansion/box_fit.hpp"
#include "fmbem/fmm/expansion/translations.hpp"
#include "tests/unit/cuda/device_m2l.hpp"
#include "tests/unit/cuda/gpu.hpp"

using namespace fmbem;
using namespace fmbem::test;
using fmm::orbits;
using fmm::ParityOrder;

namespace {

/// Upper bounds of the sums in the entries of Bᵀ X B, for each orbit but the first: |B|ᵀ S |B|,
/// S_nk being the largest entry of X between degrees n and k. [26][K][K]
std::vector<std::vector<double>> sizes_of_terms(const ParityOrder& low, const ParityOrder& high) {
  const fmm::BoxFit fit(low, high);
  const int degrees = high.p + 1;
  const auto at = [](int row, int columns, int column) {
    return static_cast<std::size_t>(row) * columns + column;
  };
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
    std::vector<double> x(at(high.count, high.count, 0)), s(at(degrees, degrees, 0));
    const fmm::M2lOrbit m2l(high, orbit);
    for (int e = 0; e < 8; ++e) {
      m2l.block(e, x.data());
      for (int i = 0; i < high.count; ++i)
        for (int j = 0; j < high.count; ++j) {
          double& largest = s[at(high.degree[i], degrees, high.degree[j])];
          largest = std::max(largest, std::abs(x[at(i, high.count, j)]));
        }
    }
    std::vector<double> right(at(degrees, low.count, 0));
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

/// The largest difference of the device's entries from the host's over what rounding allows.
template <class T>
double worst_difference(int p) {
  const ParityOrder low(p), high(fmm::fitted_degree(p));
  const auto sizes = sizes_of_terms(low, high);
  const HostM2l<T> device = make_m2l_on_device<T>(low);
  // The number of roundings: some four for each step of recurrences of degree 2q, and one for each
  // term of two products with the fit, on both sides.
  const double steps = 2 * (4 * 2 * high.p + 2 * high.count / 8.0 + 8);
  const double rounding = steps * std::numeric_limits<double>::epsilon() / 2;
  constexpr double storage = sizeof(T) == 4 ? 0x1p-24 : 0;
  double worst = 0;
  make_host_blocks(low, high, [&](int orbit, int e, const double* block) {
    double here = 0;
    for (int i = 0; i < low.count; ++i) {
      const T* const row = device.rows.data() + (e * std::int64_t{low.count} + i) * device.stride +
                           (orbit - 1) * std::int64_t{low.count};
      for (int j = 0; j < low.count; ++j, ++block) {
        const double size = sizes[orbit - 1][static_cast<std::size_t>(i) * low.count + j];
        const double difference = std::abs(static_cast<double>(row[j]) - *block) /
                                  (rounding * size + storage * std::abs(*block));
        here = std::isfinite(difference) ? std::max(here, difference) : 1e300;
      }
    }
#pragma omp critical
    worst = std::max(worst, here);
  });
  return worst;
}

}  // namespace

TEST_CASE("M2L operators of the device are those of the host") {
  if (!gpu_is_there()) return;
  const int p = GENERATE(1, 2, 5, 11, 16, 21);
  CAPTURE(p);
  CHECK(worst_difference<double>(p) < 1);
  CHECK(worst_difference<float>(p) < 1);
}
