#pragma once

#include "fmbem/cuda/harmonics.cuh"
#include "fmbem/cuda/pass.cuh"

// What L2P does with local expansions of a leaf, for potentials and all derivatives.

namespace fmbem::cuda {

/// Coefficient `slot` of ∂ along an axis of an expansion in parity order, by the kernel in its
/// box's unit.
template <class T, class Kernel>
__device__ inline T derivative_at(const TableView<T>& table, const Kernel& kernel, const T* local,
                                  int slot, int axis) {
  static_assert(fmm::terms_of_a_derivative == 2);
  const DerivativeTerms<T> d = table.derivative[3 * slot + axis];
  T value = d.value[0] * local[d.index[0]] + d.value[1] * local[d.index[1]];
  if constexpr (!Kernel::homogeneous) {
    const DerivativeTerms<T> rise = table.rise[3 * slot + axis];
    value += static_cast<T>(kernel.kappa * kernel.kappa) *
             (rise.value[0] * local[rise.index[0]] + rise.value[1] * local[rise.index[1]]);
  }
  return value;
}

/// Adds the values at a place of the unit box of expansions [pair][channel][2].
template <int Channels, class T, class Kernel>
__device__ inline void add_local_values(const TableView<T>& table, const Steps<T>& steps,
                                        const Kernel& kernel, const T* locals, const Vec3<T>& place,
                                        T (&value)[Channels]) {
  Harmonics<T> point(place, T(1));
  const DegreeFactors<T, 1, Kernel> factors(kernel, &point.r2, table.p);
  const T* local = locals;
  int t = 0;
  for (int m = 0; m <= table.p; ++m) {
    if (m > 0) point.next_order(steps.diagonal[m]);
    point.first_degree();
    T even[Channels] = {}, odd[Channels] = {};
    for (int n = m; n <= table.p; ++n, ++t, local += 2 * Channels) {
      const T here = factors.times(0, n, point.here);
      for (int channel = 0; channel < Channels; ++channel) {
        even[channel] += local[2 * channel] * here;
        odd[channel] += local[2 * channel + 1] * here;
      }
      point.next_degree(steps.up[t], steps.down[t]);
    }
    for (int channel = 0; channel < Channels; ++channel)
      value[channel] += point.c * even[channel] + point.s * odd[channel];
  }
}

}  // namespace fmbem::cuda
