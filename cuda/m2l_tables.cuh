#pragma once

#include <cstdint>

#include "fmbem/cuda/memory.cuh"
#include "fmbem/fmm/expansion/translations.hpp"
#include "fmbem/fmm/kernel/yukawa.hpp"

namespace fmbem::cuda {

/// All orbits but that of the siblings, which are near.
inline constexpr int far_orbits = fmm::orbits - 1;
/// Tables of an orbit: real and imaginary parts for each w of fmm::M2lClasses.
inline constexpr int tables_of_orbit = 16;

/// The tables T_w of fmm::M2lClasses of degree ≤ p in device memory, [26][w][real, imaginary][K]:
/// sums of irregular functions, of Laplace's kernel where κ is 0.
DeviceBuffer<double> make_m2l_tables(const fmm::Yukawa& kernel, int p, cudaStream_t stream);

/// The same sums of the shifts C_{nm}^{kl} of Yukawa's kernel, n, k ≤ p and l ≥ 0, that
/// fmm/expansion/yukawa_translations.cpp derives. Their recurrences do not know the displacement,
/// so that they take tables of degree ≤ 2p to sums of shifts.
class ShiftColumns {
 public:
  /// For so many orbits at a time as go into some memory. The tables must outlive it.
  ShiftColumns(const fmm::Yukawa& kernel, int p, const DeviceBuffer<double>& tables,
               cudaStream_t stream);

  int orbits_at_once() const { return orbits_; }
  /// Enqueues those of orbits [first, first + count), from 0 on: [count][w][real,
  /// imaginary][columns][K], column k (k + 1)/2 + l being C^{kl}.
  void make(int first, int count);
  const double* data() const { return columns_.data(); }

 private:
  double kappa_;
  int p_, orbits_;
  const DeviceBuffer<double>& tables_;
  cudaStream_t stream_;
  DeviceBuffer<double> columns_, room_;
};

}  // namespace fmbem::cuda
