#include "fmbem/bem/block_product.hpp"

#include "fmbem/fmm/base/simd.hpp"

namespace fmbem {
namespace {

template <int Width, int Vectors, class Entry>
inline __attribute__((always_inline)) void add_columns(std::int64_t columns, int rows,
                                                       std::int64_t stride, const Entry* block,
                                                       const double* x, double* y) {
  double sum[Vectors][Width] = {};
  for (std::int64_t j = 0; j < columns; ++j, block += stride, x += Vectors) {
    for (int v = 0; v < Vectors; ++v) {
#pragma omp simd
      for (int i = 0; i < Width; ++i) sum[v][i] += x[v] * static_cast<double>(block[i]);
    }
  }
  for (int v = 0; v < Vectors; ++v)
    for (int i = 0; i < rows; ++i) y[v * block_rows + i] += sum[v][i];
}

template <int Vectors, class Entry>
inline __attribute__((always_inline)) void add_block(std::int64_t columns, int rows,
                                                     std::int64_t stride, const Entry* block,
                                                     const double* x, double* y) {
  if (rows <= 8) return add_columns<8, Vectors>(columns, rows, stride, block, x, y);
  if (rows <= 16) return add_columns<16, Vectors>(columns, rows, stride, block, x, y);
  if (rows <= 24) return add_columns<24, Vectors>(columns, rows, stride, block, x, y);
  add_columns<block_rows, Vectors>(columns, rows, stride, block, x, y);
}

}  // namespace

FMBEM_SIMD_CLONES void multiply_block(int vectors, std::int64_t columns, int rows,
                                      std::int64_t stride, const double* block, const double* x,
                                      double* y) {
  if (vectors == 1) return add_block<1>(columns, rows, stride, block, x, y);
  add_block<block_vectors>(columns, rows, stride, block, x, y);
}

FMBEM_SIMD_CLONES void multiply_block(int vectors, std::int64_t columns, int rows,
                                      std::int64_t stride, const float* block, const double* x,
                                      double* y) {
  if (vectors == 1) return add_block<1>(columns, rows, stride, block, x, y);
  add_block<block_vectors>(columns, rows, stride, block, x, y);
}

}  // namespace fmbem
