#pragma once

#include <cstdint>

#include "fmbem/bem/precond/cuda/shared_inverse.cuh"
#include "fmbem/bem/precond/cuda/solvation_system.cuh"

namespace fmbem::cuda::bem {

/// The four parts of a system, each for a square of nodes, by columns, in device memory. Its
/// equations are, of each node, the sum of both and that of the region behind,
///
///     A φ + B q = g,     C φ − D q = f.
///
/// On one surface the K of both regions cancel in A, which is close to the identity.
/// Nodes are the last of whole tiles; those before them have ones in A and D.
struct SolvationParts {
  float *a, *b, *c, *d;
  int size, pad;

  static constexpr std::int64_t floats(int size) { return 4 * std::int64_t{size} * size; }
  __device__ SolvationParts(float* memory, int m)
      : a(memory), size(SharedMatrix::whole_tiles(m)), pad(size - m) {
    b = a + size * size;
    c = b + size * size;
    d = c + size * size;
  }
  __device__ void store(int k, int l, float2 of_potential, float2 of_flux) const {
    set((pad + l) * size + pad + k, of_potential.x + of_potential.y, of_flux.x + of_flux.y,
        of_potential.x, -of_flux.x);
  }
  /// What belongs to no node, by a block.
  __device__ void fill_pad() const {
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < size; i += shared_threads)
      for (int j = 0; j < pad; ++j) {
        const float own = i == j ? 1 : 0;
        set(j * size + i, own, 0, 0, own);
        if (i >= pad) set(i * size + j, 0, 0, 0, 0);
      }
  }

 private:
  __device__ void set(int at, float of_a, float of_b, float of_c, float of_d) const {
    a[at] = of_a;
    b[at] = of_b;
    c[at] = of_c;
    d[at] = of_d;
  }
};

/// Solves a system by parts, by a block of shared_threads: with the Schur complement
///
///     W = C A⁻¹,  S = D + W B,  T = S⁻¹,  U = A⁻¹ B T:     q = T W g − T f,
///                                                          φ = A⁻¹ g − U W g + U f.
///
/// Both inverses are made in shared memory, which has the left factors of products; those on the
/// right are in device memory, mostly its cache.
class SolvationByParts {
 public:
  __device__ SolvationByParts(const SolvationParts& parts, float* memory)
      : parts_(parts), matrix_{memory, parts.size} {}

  static constexpr std::int64_t bytes(int size) {
    return SharedMatrix::floats(size) * static_cast<std::int64_t>(sizeof(float));
  }

  /// The rows of the nodes of the last tile. False if the system is singular.
  __device__ bool solve() const {
    const int thread = static_cast<int>(threadIdx.x);
    load(parts_.a);
    __syncthreads();
    if (!invert(matrix_)) return false;
    store(parts_.a);  // A⁻¹ takes the place of A, W of C, and S and T of D
    load(parts_.c);   // each thread in the place of what it has just stored
    __syncthreads();
    multiply(parts_.a, parts_.c, [](int) { return make_float2(0, 0); });
    __syncthreads();
    load(parts_.c);
    __syncthreads();
    multiply(parts_.b, parts_.d,
             [&](int at) { return *reinterpret_cast<const float2*>(parts_.d + at); });
    __syncthreads();
    load(parts_.d);
    __syncthreads();
    if (!invert(matrix_)) return false;
    store(parts_.d);
    __syncthreads();
    // From here on the matrix has four groups of rows: of A⁻¹, U, T, and A⁻¹ B.
    load_last_rows(parts_.a, 0);
    load_last_rows(parts_.d, of_t);
    wait_for_copies();
    __syncthreads();
    multiply_group(0, parts_.b, of_ab);
    __syncthreads();
    multiply_group(of_ab, parts_.d, of_u);
    __syncthreads();
    const int first = thread / warp_size * Groups::columns;
    static_assert(shared_threads / warp_size * Groups::columns >= most_in_shared);
    Groups with_w;  // U W and T W
    if (first < parts_.size)
      with_w.add(matrix_.entries + of_u, parts_.c + first * parts_.size, parts_.size, parts_.size);
    __syncthreads();
    if (first < parts_.size)
      with_w.for_each([&](int row, int c, float2 x) {
        float2& of_f = at(of_u + row, first + c);
        if (row < shared_tile) {
          const float2 own = at(row, first + c), of_g{own.x - x.x, own.y - x.y};
          of_f = {of_g.x + of_f.x, of_g.y + of_f.y};
          at(of_ab + row, first + c) = of_g;
        } else {
          of_f = {x.x - of_f.x, x.y - of_f.y};
          at(row - shared_tile, first + c) = x;
        }
      });
    __syncthreads();
    return true;
  }

  /// Once it is solved: of φ (field 0) or q of node `row` of the last tile, the factor of the
  /// equation of node k of the region behind (side 0) or ahead, which is a part of g alone.
  __device__ float operator()(int row, int field, int k, int side) const {
    constexpr int group[2][2] = {{of_u, of_ab}, {of_t, 0}};
    return matrix_.column(parts_.pad + k)[group[field][side] + row];
  }

 private:
  /// Of one group of rows, and of two, and the columns of a warp.
  using Group = WarpProduct<shared_tile / 8, shared_tile / 16>;
  using Groups = WarpProduct<2 * shared_tile / 8, shared_tile / 16>;
  static constexpr int of_u = shared_tile, of_t = 2 * shared_tile, of_ab = 3 * shared_tile;
  static_assert(most_in_shared == 4 * shared_tile);

  __device__ float2& at(int row, int c) const {
    return *reinterpret_cast<float2*>(matrix_.column(c) + row);
  }

  /// The same fours of entries for a thread each time: use(place in the matrix, in a part).
  template <class Use>
  __device__ void for_fours(Use&& use) const {
    const int thread = static_cast<int>(threadIdx.x), row = 4 * (thread % warp_size);
    static_assert(4 * warp_size >= most_in_shared);
    if (row >= parts_.size) return;
#pragma unroll 8
    for (int c = thread / warp_size; c < parts_.size; c += shared_threads / warp_size)
      use(matrix_.column(c) + row, c * parts_.size + row);
  }
  __device__ void load(const float* part) const {
    for_fours([&](float* entries, int at) { begin_copy(entries, part + at); });
    wait_for_copies();
  }
  __device__ void store(float* part) const {
    for_fours([&](const float* entries, int at) {
      *reinterpret_cast<float4*>(part + at) = *reinterpret_cast<const float4*>(entries);
    });
  }
  /// To rows from `row` on.
  __device__ void load_last_rows(const float* part, int row) const {
    constexpr int fours = shared_tile / 4;
    for (int e = static_cast<int>(threadIdx.x); e < fours * parts_.size; e += shared_threads)
      begin_copy(matrix_.column(e / fours) + row + 4 * (e % fours),
                 part + (e / fours + 1) * parts_.size - shared_tile + 4 * (e % fours));
  }
  /// Calls use(first column) for so many columns at a time, by warps.
  template <int columns, class Use>
  __device__ void for_columns(Use&& use) const {
    for (int first = static_cast<int>(threadIdx.x) / warp_size * columns; first < parts_.size;
         first += shared_threads / warp_size * columns)
      use(first);
  }
  /// to = begin(place in a part, with the next row) + matrix · right.
  template <class Begin>
  __device__ void multiply(const float* right, float* to, Begin&& begin) const {
    for_columns<Groups::columns>([&](int first) {
      const auto add_rows = [&]<class Product>(int row, Product*) {
        const auto place = [&](int r, int c) { return (first + c) * parts_.size + row + r; };
        Product product([&](int r, int c) { return begin(place(r, c)); });
        product.add(matrix_.entries + row, right + first * parts_.size, parts_.size, parts_.size);
        product.for_each(
            [&](int r, int c, float2 x) { *reinterpret_cast<float2*>(to + place(r, c)) = x; });
      };
      int row = 0;
      for (; row + 2 * shared_tile <= parts_.size; row += 2 * shared_tile)
        add_rows(row, static_cast<Groups*>(nullptr));
      if (row < parts_.size) add_rows(row, static_cast<Group*>(nullptr));
    });
  }
  /// A group of rows times a part, to another group.
  __device__ void multiply_group(int group, const float* right, int to) const {
    for_columns<Group::columns>([&](int first) {
      Group product;
      product.add(matrix_.entries + group, right + first * parts_.size, parts_.size, parts_.size);
      product.for_each([&](int row, int c, float2 x) { at(to + row, first + c) = x; });
    });
  }

  const SolvationParts& parts_;
  SharedMatrix matrix_;
};

}  // namespace fmbem::cuda::bem
