#include "fmbem/bem/near/block_product.hpp"

#include <string>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/base/simd.hpp"

namespace fmbem {
namespace {

/// Rows [0, rows), rows ≤ Width, of a block whose columns are `stride` apart.
template <int Width, int Vectors, class Entry>
inline __attribute__((always_inline)) void some_rows(std::int64_t columns, int rows, int stride,
                                                     const Entry* block, const double* x,
                                                     double* y) {
  double sum[Vectors][Width] = {};
  for (std::int64_t j = 0; j < columns; ++j, block += stride, x += Vectors) {
    for (int v = 0; v < Vectors; ++v) {
#pragma omp simd
      for (int i = 0; i < Width; ++i) sum[v][i] += x[v] * static_cast<double>(block[i]);
    }
  }
  for (int v = 0; v < Vectors; ++v)
    for (int i = 0; i < rows; ++i) y[v * stride + i] = sum[v][i];
}

template <int Vectors, class Entry>
inline __attribute__((always_inline)) void all_rows(std::int64_t columns, int rows,
                                                    const Entry* block, const double* x,
                                                    double* y) {
  for (int first = 0; first < rows; first += block_rows, block += block_rows, y += block_rows) {
    const int left = rows - first;
    if (left <= 8)
      some_rows<8, Vectors>(columns, left, rows, block, x, y);
    else if (left <= 16)
      some_rows<16, Vectors>(columns, left, rows, block, x, y);
    else if (left <= 24)
      some_rows<24, Vectors>(columns, left, rows, block, x, y);
    else
      some_rows<block_rows, Vectors>(columns, left < block_rows ? left : block_rows, rows, block, x,
                                     y);
  }
}

}  // namespace

FMBEM_SIMD_CLONES void multiply_block(int vectors, std::int64_t columns, int rows,
                                      const double* block, const double* x, double* y) {
  if (vectors == 1) return all_rows<1>(columns, rows, block, x, y);
  all_rows<block_vectors>(columns, rows, block, x, y);
}

FMBEM_SIMD_CLONES void multiply_block(int vectors, std::int64_t columns, int rows,
                                      const float* block, const double* x, double* y) {
  if (vectors == 1) return all_rows<1>(columns, rows, block, x, y);
  all_rows<block_vectors>(columns, rows, block, x, y);
}

void check_near_memory(std::size_t panels, std::int64_t bytes) {
  const std::int64_t available = available_memory();
  if (bytes > available)
    throw ResourceError("the near field of " + std::to_string(panels) + " panels needs " +
                        std::to_string(bytes >> 20) + " MiB, but " +
                        std::to_string(available >> 20) +
                        " MiB are free: use a looser tolerance or a coarser mesh");
}

}  // namespace fmbem
