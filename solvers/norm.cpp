#include "fmbem/solvers/norm.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace fmbem {

double norm_of(std::span<const double> values) {
  constexpr std::size_t piece = 1 << 16;
  const std::size_t pieces = (values.size() + piece - 1) / piece;
  std::vector<double> sums(pieces);
#pragma omp parallel for schedule(static) if (pieces > 1)
  for (std::size_t k = 0; k < pieces; ++k)
    for (const double v : values.subspan(k * piece, std::min(piece, values.size() - k * piece)))
      sums[k] += v * v;
  return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
}

}  // namespace fmbem
