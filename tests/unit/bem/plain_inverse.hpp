#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace fmbem::test {

/// [row][column]
using Matrix = std::vector<std::vector<double>>;

/// The inverse by Gauss' and Jordan's elimination with pivots.
inline Matrix inverse_of(Matrix a) {
  const std::size_t m = a.size();
  Matrix x(m, std::vector<double>(m, 0.0));
  for (std::size_t k = 0; k < m; ++k) x[k][k] = 1;
  for (std::size_t k = 0; k < m; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < m; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    std::swap(x[k], x[pivot]);
    for (std::size_t i = 0; i < m; ++i) {
      if (i == k || a[i][k] == 0) continue;
      const double factor = a[i][k] / a[k][k];
      for (std::size_t l = k; l < m; ++l) a[i][l] -= factor * a[k][l];
      for (std::size_t l = 0; l < m; ++l) x[i][l] -= factor * x[k][l];
    }
    for (std::size_t l = 0; l < m; ++l) x[k][l] /= a[k][k];
    for (std::size_t l = m; l-- > k;) a[k][l] /= a[k][k];
  }
  return x;
}

}  // namespace fmbem::test
