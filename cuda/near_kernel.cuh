#pragma once

#include <cmath>
#include <numbers>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/fmm/kernel/kernels.hpp"

namespace fmbem::cuda {

/// The kernel with another unit of length.
FMBEM_HD inline fmm::Laplace in_unit(const fmm::Laplace& kernel, double /*unit*/) { return kernel; }
FMBEM_HD inline fmm::Yukawa in_unit(const fmm::Yukawa& kernel, double unit) {
  return {kernel.kappa * unit};
}

/// The kernel of that type: κ is Yukawa's.
template <class Kernel>
FMBEM_HD inline Kernel kernel_of(double kappa) {
  if constexpr (Kernel::homogeneous)
    return {};
  else
    return {kappa};
}

/// Yukawa's kernel in P2P: what all pairs share is computed once.
template <class N>
class NearYukawa {
 public:
  static constexpr bool homogeneous = false;

  FMBEM_HD explicit NearYukawa(const fmm::Yukawa& kernel)
      : kappa_(static_cast<N>(kernel.kappa)),
        binary_rate_(static_cast<N>(-std::numbers::log2e * kernel.kappa)),
        too_far_(static_cast<N>(700 / kernel.kappa)) {}

  /// As fmm::Yukawa's; w is as accurate as inverse_root<Terms>() is.
  template <int Terms>
  __device__ fmm::Yukawa::Radial<N> radial(N r2, N w) const {
    const N r = r2 * w;
    return {decay<Terms>(r) * w, w, kappa_ * r};
  }

 private:
  /// e^{−κr} by the hardware, to 2^-22 and the rounding of the exponent; 0 below 2^-126.
  template <int Terms>
  __device__ float decay(float r) const {
#ifdef __CUDA_ARCH__
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(binary_rate_ * r));
    return y;
#else
    return exp2f(binary_rate_ * r);
#endif
  }
  /// 2^k 2^f with k = round(−κr/ln 2), the polynomial for 2^f being good for 8e-13 or the last
  /// bits; 0 where κr is above 700.
  template <int Terms>
  __device__ double decay(double r) const {
    constexpr int degree = fmm::exponential_degree<double>(Terms + 1);
    constexpr fmm::PowersOfTwo<double, degree> powers;
    constexpr double rounder = 0x1.8p52;  // leaves the nearest integer in the lowest bits
    const double shifted = fma(binary_rate_, r, rounder);
    const double f = fma(binary_rate_, r, rounder - shifted);
    double power = powers.coefficient[degree];
#pragma unroll
    for (int n = degree - 1; n >= 0; --n) power = fma(power, f, powers.coefficient[n]);
    const int high = __double2hiint(power) + (__double2loint(shifted) << 20);
    // Numbers that are not negative are ordered as the upper halves of their bits are.
    return __double2hiint(r) < __double2hiint(too_far_)
               ? __hiloint2double(high, __double2loint(power))
               : 0.0;
  }

  N kappa_, binary_rate_, too_far_;
};

/// A kernel as P2P has it.
template <class N>
__device__ inline fmm::Laplace near_kernel(const fmm::Laplace& kernel) {
  return kernel;
}
template <class N>
__device__ inline NearYukawa<N> near_kernel(const fmm::Yukawa& kernel) {
  return NearYukawa<N>(kernel);
}

}  // namespace fmbem::cuda
