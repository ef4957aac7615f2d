#include "fmbem/solvers/norm.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace fmbem {

namespace {

/// Of each number times the scale.
double sum_of_squares(std::span<const double> values, double scale) {
  constexpr std::size_t piece = 1 << 16;
  const std::size_t pieces = (values.size() + piece - 1) / piece;
  std::vector<double> sums(pieces);
#pragma omp parallel for schedule(static) if (pieces > 1)
  for (std::size_t k = 0; k < pieces; ++k)
    for (const double v : values.subspan(k * piece, std::min(piece, values.size() - k * piece)))
      sums[k] += (v * scale) * (v * scale);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace

double norm_of(std::span<const double> values) {
  constexpr double least = 1e-280;  // below it squares have lost digits
  const double sum = sum_of_squares(values, 1);
  if (sum >= least && std::isfinite(sum)) return std::sqrt(sum);
  double largest = 0;
  for (const double v : values) largest = std::abs(v) <= largest ? largest : std::abs(v);
  if (largest == 0 || !std::isfinite(largest)) return largest;
  // A power of two, and one that is finite for the least numbers, too.
  const int exponent = std::max(std::ilogb(largest), -1000);
  return std::ldexp(std::sqrt(sum_of_squares(values, std::ldexp(1.0, -exponent))), exponent);
}

}  // namespace fmbem
