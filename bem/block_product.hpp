#pragma once

#include <cstdint>

namespace fmbem {

/// Rows whose sums a product keeps in registers, and vectors that share the reading of a block.
inline constexpr int block_rows = 32, block_vectors = 4;

/// y[v][i] += Σ_j block[j stride + i] x[j][v] for i < rows ≤ block_rows, summed in double
/// precision: a block stored column by column. vectors is 1 or block_vectors, y
/// [vectors][block_rows]. Reads up to block_rows entries behind the start of the last column.
void multiply_block(int vectors, std::int64_t columns, int rows, std::int64_t stride,
                    const double* block, const double* x, double* y);
void multiply_block(int vectors, std::int64_t columns, int rows, std::int64_t stride,
                    const float* block, const double* x, double* y);

}  // namespace fmbem
