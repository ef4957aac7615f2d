#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {

/// How many rows' sums a product keeps in registers, and how many vectors share the reading of a
/// block.
inline constexpr int block_rows = 32, block_vectors = 4;

/// y[v][i] = Σ_j block[j][i] x[j][v], summed in double precision: a block [columns][rows], y
/// [vectors][rows], 1 or block_vectors vectors. Reads up to block_rows entries behind the block.
void multiply_block(int vectors, std::int64_t columns, int rows, const double* block,
                    const double* x, double* y);
void multiply_block(int vectors, std::int64_t columns, int rows, const float* block,
                    const double* x, double* y);

/// Throws ResourceError where the near field of so many panels would not fit.
void check_near_memory(std::size_t panels, std::int64_t bytes);

/// Room for so many entries of that near field, with zeros behind them that multiply_block() may
/// read.
template <class Entry>
Buffer<Entry> room_for_entries(std::size_t panels, std::int64_t count) {
  check_near_memory(panels, count * static_cast<std::int64_t>(sizeof(Entry)));
  Buffer<Entry> room(count + block_rows);
  std::fill_n(room.data() + count, block_rows, Entry(0));
  return room;
}

/// Calls body(first, width, present) for groups of vectors: `present` of them, in a product of
/// `width` vectors of which the others are zero.
template <class Body>
void for_vector_groups(int n_vectors, Body body) {
  for (int first = 0; first < n_vectors; first += block_vectors) {
    const int left = n_vectors - first;
    const int width = left > 1 ? block_vectors : 1;
    body(first, width, left < width ? left : width);
  }
}

}  // namespace fmbem
