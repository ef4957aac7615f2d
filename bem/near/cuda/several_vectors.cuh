#pragma once

// Products of stored numbers with several vectors: numbers are read once for up to eight of them,
// and multiplied in double precision by tensor cores, whose tiles are eight rows, four terms of a
// sum and eight vectors.
#include "fmbem/bem/near/cuda/near_rows.cuh"

namespace fmbem::cuda::bem {

/// Vectors, rows and terms of a sum that a product of tensor cores has.
inline constexpr int tile_vectors = 8, tile_rows = 8, tile_terms = 4;
/// Tiles of rows that a warp has sums of, and products that it asks for entries of at a time.
inline constexpr int most_tiles = 8, terms_ahead = 2;
inline constexpr int several_threads = 256, several_warps = several_threads / warp_size;
/// Blocks that a multiprocessor is to hold, so that some ask for entries while others wait.
template <class Entry>
inline constexpr int several_blocks = sizeof(Entry) == 4 ? 3 : 2;
/// Terms whose strengths are in shared memory at a time: a warp's turn is a whole number of them.
inline constexpr int several_room = 512;
/// From one vector to the next there, so that the lanes of a tile read different banks.
inline constexpr int several_stride = several_room + tile_terms;

/// What a block has in shared memory: strengths first and, when these are used up, the warps' sums.
union SeveralVectors {
  double x[tile_vectors][several_stride];
  double sums[several_warps][tile_vectors][most_tiles * tile_rows];
};

/// Sums of a warp, as tensor cores spread them over its lanes: lane k has those of row k/4 of each
/// tile with vectors 2(k % 4) and the next one, and brings row k/4 and vector k/4 of what is
/// multiplied, in term k % 4.
template <int Tiles>
struct SeveralSums {
  double sum[Tiles][2] = {};

  __device__ static int row() { return threadIdx.x % warp_size / tile_terms; }
  __device__ static int vector() { return row(); }
  __device__ static int term() { return threadIdx.x % tile_terms; }

  __device__ void add(int tile, double entry, double x) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(sum[tile][0]), "+d"(sum[tile][1])
        : "d"(entry), "d"(x));
  }

  /// Adds up what the warps have and calls write(row, vector, sum); by the whole block.
  template <class Write>
  __device__ void write(SeveralVectors& shared, Write&& write) const {
    constexpr int rows = Tiles * tile_rows;
    __syncthreads();  // the strengths are used up
#pragma unroll
    for (int t = 0; t < Tiles; ++t)
#pragma unroll
      for (int k = 0; k < 2; ++k)
        shared.sums[threadIdx.x / warp_size][2 * term() + k][t * tile_rows + row()] = sum[t][k];
    __syncthreads();
    for (int k = threadIdx.x; k < rows * tile_vectors; k += several_threads) {
      double total = 0;
      for (int warp = 0; warp < several_warps; ++warp)
        total += shared.sums[warp][k / rows][k % rows];
      write(k % rows, k / rows, total);
    }
    __syncthreads();  // before strengths come again
  }
};

/// Calls body(std::integral_constant<int, tiles>()) for the tiles that so many rows fill.
template <int Tiles = most_tiles, class Body>
__device__ inline void for_tiles(int rows, Body&& body) {
  if constexpr (Tiles > 1)
    if (rows <= (Tiles - 1) * tile_rows)
      return for_tiles<Tiles - 1>(rows, std::forward<Body>(body));
  body(std::integral_constant<int, Tiles>());
}

/// Adds the products of `some` strengths in shared memory, which the warps divide. entries(term)
/// are those of a term below `some`, and the one of the lane's row in a tile is entry(entries,
/// tile).
template <int Tiles, class Entries, class Entry>
__device__ inline void add_products(const SeveralVectors& shared, int some,
                                    SeveralSums<Tiles>& sums, Entries&& entries, Entry&& entry) {
  constexpr int turn = terms_ahead * tile_terms;
  using Number = decltype(entry(entries(0), 0));
  for (int first = threadIdx.x / warp_size * turn; first < some; first += several_warps * turn) {
    Number value[terms_ahead][Tiles];
    double x[terms_ahead];
#pragma unroll
    for (int k = 0; k < terms_ahead; ++k) {
      const int term = first + k * tile_terms + sums.term();
      const bool is_there = term < some;
      x[k] = is_there ? shared.x[sums.vector()][term] : 0;
      const auto of_term = entries(is_there ? term : some - 1);
#pragma unroll
      for (int t = 0; t < Tiles; ++t) value[k][t] = entry(of_term, t);
    }
#pragma unroll
    for (int k = 0; k < terms_ahead; ++k)
#pragma unroll
      for (int t = 0; t < Tiles; ++t) sums.add(t, static_cast<double>(value[k][t]), x[k]);
  }
}

/// Puts a strength of each vector into shared memory, those of vectors that are not there as 0.
__device__ inline void put_strengths(SeveralVectors& shared, int place, int vectors,
                                     std::int64_t from_vector_to_vector, const double* x) {
#pragma unroll
  for (int v = 0; v < tile_vectors; ++v)
    shared.x[v][place] = v < vectors ? x[v * from_vector_to_vector] : 0;
}

/// Products of a matrix, [terms][rows], whose terms the warps divide: by the whole block. put(term,
/// place) puts strengths; write(row, vector, sum) gets each sum once.
template <class Number, class Put, class Write>
__device__ inline void multiply_together(const Number* entries, int rows, int terms,
                                         SeveralVectors& shared, Put&& put, Write&& write) {
  for (int done = 0; done < rows; done += most_tiles * tile_rows)
    for_tiles(rows - done, [&]<int Tiles>(std::integral_constant<int, Tiles>) {
      SeveralSums<Tiles> sums;
      // Places of entries are known beforehand but for the last tile's, which may lack rows.
      constexpr int before_last = (Tiles - 1) * tile_rows;
      const int own = done + sums.row(), last = min(own + before_last, rows - 1) - own;
      for (int first = 0; first < terms; first += several_room) {
        const int some = min(terms - first, several_room);
        __syncthreads();  // the strengths before are done
        for (int k = threadIdx.x; k < some; k += several_threads) put(first + k, k);
        __syncthreads();
        const Number* const block = entries + static_cast<std::int64_t>(first) * rows;
        add_products(
            shared, some, sums, [&](int term) { return block + (term * rows + own); },
            [&](const Number* of_term, int t) {
              return of_term[t + 1 < Tiles ? t * tile_rows : last];
            });
      }
      sums.write(shared, [&](int row, int v, double sum) {
        if (done + row < rows) write(done + row, v, sum);
      });
    });
}

}  // namespace fmbem::cuda::bem
