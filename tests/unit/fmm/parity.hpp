#pragma once

#include <vector>

#include "fmbem/fmm/expansion/parity_order.hpp"

namespace fmbem::test {

using Matrix = std::vector<double>;  ///< [K·K], row-major

/// From harmonics at n² + n + m to parity order.
inline std::vector<double> by_parity(const fmm::ParityOrder& order, const std::vector<double>& v) {
  std::vector<double> out(v.size());
  for (int i = 0; i < order.count; ++i) out[order.position[i]] = v[i];
  return out;
}
inline Matrix matrix_by_parity(const fmm::ParityOrder& order, const Matrix& a) {
  const int K = order.count;
  Matrix out(a.size());
  for (int i = 0; i < K; ++i)
    for (int j = 0; j < K; ++j) out[order.position[i] * K + order.position[j]] = a[i * K + j];
  return out;
}

}  // namespace fmbem::test
