#pragma once

#include "fmbem/cuda/harmonics.cuh"

// Irregular functions as regular ones at inverted points: with ξ = x/|x|² those of a kernel are
// |ξ| S_i(ξ) h_n(κ|x|), and h_n is 1 of Laplace's (fmm/expansion/yukawa_translations.hpp).

namespace fmbem::cuda {

/// What the recurrence of h_n takes beside z².
template <class T>
__device__ inline T irregular_rise(int n) {
  return T(1) / static_cast<T>((2 * n + 1) * (2 * n + 3));
}

/// h_n of one place, degree by degree from m on, for m = 0, 1, …, as Harmonics go: by
/// h_{n+2} = h_{n+1} + z² h_n/((2n+1)(2n+3)), z = κ|x|, all of whose terms are positive;
/// h_0 = e^{−z}, h_1 = (1 + z) e^{−z} [DLMF 10.51].
template <class T, class Kernel>
class IrregularFactors {
 public:
  __device__ IrregularFactors() {}
  /// κ and the distance are in one unit.
  __device__ IrregularFactors(const Kernel& kernel, T distance) {
    const T z = static_cast<T>(kernel.kappa) * distance;
    z2_ = z * z;
    first_ = std::exp(-z);
    above_first_ = first_ + z * first_;
    first_degree();
  }
  /// From m to m + 1, with the rises from 0 on.
  __device__ void next_order(const T* rises, int m) { step(rises[m], first_, above_first_); }
  __device__ void first_degree() {
    here_ = first_;
    above_ = above_first_;
  }
  __device__ void next_degree(const T* rises, int n) { next_degree(rises[n]); }
  __device__ void next_degree(T rise) { step(rise, here_, above_); }
  __device__ T times(T harmonic) const { return here_ * harmonic; }

 private:
  __device__ void step(T rise, T& low, T& high) const {
    const T next = high + (rise * z2_) * low;
    low = high;
    high = next;
  }

  T z2_, first_, above_first_, here_, above_;
};
template <class T>
class IrregularFactors<T, fmm::Laplace> {
 public:
  __device__ IrregularFactors() {}
  __device__ IrregularFactors(fmm::Laplace, T) {}
  __device__ void next_order(const T*, int) {}
  __device__ void first_degree() {}
  __device__ void next_degree(const T*, int) {}
  __device__ T times(T harmonic) const { return harmonic; }
};

/// h_n of N places, as DegreeFactors has f_n.
template <class T, int N, class Kernel>
class InvertedFactors {
 public:
  __device__ InvertedFactors(const Kernel& kernel, const T* distance, int p) {
    IrregularFactors<T, Kernel> of[N];
#pragma unroll
    for (int k = 0; k < N; ++k) of[k] = IrregularFactors<T, Kernel>(kernel, distance[k]);
    for (int n = 0; n <= p; ++n) {
      const T rise = irregular_rise<T>(n);
#pragma unroll
      for (int k = 0; k < N; ++k) {
        h_[n * N + k] = of[k].times(T(1));
        of[k].next_degree(rise);
      }
    }
  }
  __device__ T times(int point, int n, T harmonic) const { return h_[n * N + point] * harmonic; }

 private:
  T h_[(fmm::highest_order + 1) * N];
};
template <class T, int N>
class InvertedFactors<T, N, fmm::Laplace> : public DegreeFactors<T, N, fmm::Laplace> {
 public:
  __device__ InvertedFactors(fmm::Laplace kernel, const T* distance, int p)
      : DegreeFactors<T, N, fmm::Laplace>(kernel, distance, p) {}
};

/// What the recurrences take, in shared memory, to which the whole block copies it.
template <class T, class Kernel>
struct IrregularSteps {
  const T* rises;  ///< of degrees up to p; Yukawa's alone
  Steps<T> harmonics;

  /// A multiple of 16 bytes.
  static __host__ __device__ int numbers(const TableView<T>& table) {
    const int of_rises = Kernel::homogeneous ? 0 : table.p + 1;
    return (Steps<T>::numbers(table.p, table.pairs) + of_rises + 3) / 4 * 4;
  }
  __device__ IrregularSteps(const TableView<T>& table, T* room)
      : rises(write_rises(table, room + Steps<T>::numbers(table.p, table.pairs))),
        harmonics(table, room) {}  // at whose end the threads wait for each other

 private:
  static __device__ const T* write_rises(const TableView<T>& table, T* room) {
    if constexpr (!Kernel::homogeneous)
      for (int n = threadIdx.x; n <= table.p; n += blockDim.x) room[n] = irregular_rise<T>(n);
    return room;
  }
};

}  // namespace fmbem::cuda
