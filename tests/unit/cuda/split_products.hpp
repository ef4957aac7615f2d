#pragma once

#include <vector>

namespace fmbem::test {

/// Eight row-major matrices of single precision, [8][rows][columns].
struct EightHostMatrices {
  int rows, columns;
  std::vector<float> values;
  float* row(int e, int i) {
    return values.data() + (static_cast<std::size_t>(e) * rows + i) * columns;
  }
  const float* row(int e, int i) const {
    return values.data() + (static_cast<std::size_t>(e) * rows + i) * columns;
  }
};

/// C_e = A_e B_eᵀ by M2L's products of split numbers on the device, for `orbits` times as many
/// terms as columns.
EightHostMatrices multiply_split_on_device(const EightHostMatrices& a, const EightHostMatrices& b,
                                           int orbits);

}  // namespace fmbem::test
