#pragma once

#include <algorithm>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/near_kernel.cuh"
#include "fmbem/cuda/pass.cuh"
#include "fmbem/fmm/expansion/harmonics.hpp"

namespace fmbem::cuda {

/// The recurrences' coefficients, copied to shared memory by the whole block.
template <class T>
struct Steps {
  const T *up, *down, *diagonal;

  static __host__ __device__ int numbers(int p, int pairs) { return 2 * pairs + p + 1; }
  __device__ Steps(const TableView<T>& table, T* room)
      : up(room), down(room + table.pairs), diagonal(room + 2 * table.pairs) {
    for (int t = threadIdx.x; t < table.pairs; t += blockDim.x) {
      room[t] = table.up[t];
      room[table.pairs + t] = table.down[t];
    }
    for (int m = threadIdx.x; m <= table.p; m += blockDim.x)
      room[2 * table.pairs + m] = table.diagonal[m];
    __syncthreads();
  }
};

/// The harmonics of one point, m by m: C_n^m + i S_n^m = here (c + i s) for n = m, m + 1, … V is T,
/// or Dual<T> for their derivatives too.
template <class T, class V = T>
struct Harmonics {
  V x, y, z, r2;
  V c = 1, s = 0;
  V low = 0, here = 1;

  __device__ Harmonics() {}
  __device__ Harmonics(Vec3<V> place, V weight)
      : x(place.x), y(place.y), z(place.z), r2(norm2(place)), c(weight) {}
  __device__ void next_order(T diagonal) {
    const V real = diagonal * (c * x - s * y);
    s = diagonal * (c * y + s * x);
    c = real;
  }
  __device__ void first_degree() {
    low = 0;
    here = 1;
  }
  __device__ void next_degree(T up, T down) {
    const V next = up * z * here - down * r2 * low;
    low = here;
    here = next;
  }
};

/// The factors f_n of harmonics of degree n at N points of a box, by the kernel in its unit.
template <class T, int N, class Kernel>
class DegreeFactors {
 public:
  __device__ DegreeFactors(const Kernel& kernel, const T* r2, int p) {
    kernel.template regular_factors<N>(r2, p, f_);
  }
  __device__ T times(int point, int n, T harmonic) const { return f_[n * N + point] * harmonic; }

 private:
  T f_[(fmm::highest_order + 2) * N];
};
template <class T, int N>
class DegreeFactors<T, N, fmm::Laplace> {
 public:
  __device__ DegreeFactors(fmm::Laplace, const T*, int) {}
  template <class V>
  __device__ V times(int, int, V harmonic) const {
    return harmonic;
  }
};

/// Warps of a block: as many as its shared memory has room for.
template <class T>
struct WarpBlocks {
  int warps;
  std::size_t shared_bytes;

  WarpBlocks(const TableView<T>& table, int numbers_of_a_warp) {
    const std::size_t steps = sizeof(T) * Steps<T>::numbers(table.p, table.pairs);
    const std::size_t each = sizeof(T) * numbers_of_a_warp;
    warps = static_cast<int>(
        std::clamp<std::size_t>((shared_memory_of_a_block() - steps) / each, 1, warps_per_block));
    shared_bytes = steps + warps * each;
  }
};

}  // namespace fmbem::cuda
