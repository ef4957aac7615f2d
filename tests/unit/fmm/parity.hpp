#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "fmbem/fmm/expansion/m2l_blocks.hpp"
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

/// Puts rows of a block of M2L into it.
inline void copy_rows(const fmm::ParityOrder& order, const fmm::M2lRows& part, Matrix& block) {
  const auto K = static_cast<std::size_t>(order.count);
  std::copy_n(part.rows, (part.end - part.first) * K, block.begin() + part.first * K);
}

}  // namespace fmbem::test
