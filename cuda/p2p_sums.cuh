#pragma once

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/near_kernel.cuh"
#include "fmbem/fmm/base/symmetric3.hpp"

namespace fmbem::cuda {

/// Added to squares of distances in single precision, so that no root is of zero.
inline constexpr float least_r2 = 1e-20f;

/// 1/√r2 from the hardware's first guess: in single precision as it is, in double precision, where
/// it has some 20 bits, with terms of the series of (1 − e)^(−1/2), e = 1 − r2 y².
template <int Terms>
__device__ inline float inverse_root(float r2) {
#ifdef __CUDA_ARCH__
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(r2));
  return y;
#else
  return rsqrtf(r2);
#endif
}
__device__ inline double root_guess(double r2) {
#ifdef __CUDA_ARCH__
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(r2));
  return y;
#else
  return rsqrtf(static_cast<float>(r2));
#endif
}
template <int Terms>
__device__ inline double inverse_root(double r2) {
  const double y = root_guess(r2);
  const double e = 1 - r2 * (y * y);
  if constexpr (Terms == 1) return y + (0.5 * y) * e;
  return y + (y * e) * (0.5 + 0.375 * e);
}

/// Rounded in the same way wherever it is used: what is left out in one place must be done in
/// another.
__device__ inline float square(float dx, float dy, float dz) {
  return __fmaf_rn(dz, dz, __fmaf_rn(dy, dy, __fmaf_rn(dx, dx, least_r2)));
}
__device__ inline double square(double dx, double dy, double dz) {
  return dx * dx + dy * dy + dz * dz;
}

/// Sums of one target: potential and gradient.
template <class N, bool Potential, bool Gradient>
struct Sums {
  template <class M>
  using In = Sums<M, Potential, Gradient>;
  static constexpr int components = Potential + 3 * Gradient;

  N potential = 0, x = 0, y = 0, z = 0;

  /// Of those that there are.
  __device__ N operator[](int component) const {
    const int axis = component - Potential;
    return axis < 0 ? potential : axis == 0 ? x : axis == 1 ? y : z;
  }

  /// Adds what a charge and a dipole give at x − y = separation, of squared length r2, w = 1/√r2.
  template <bool Dipoles, int Terms, class Kernel>
  __device__ void add(const Kernel& kernel, N q, const Vec3<N>& dipole, const Vec3<N>& separation,
                      N r2, N w) {
    fmm::add_pair<Dipoles, Potential, Gradient>(kernel.template radial<Terms>(r2, w), q, dipole,
                                                separation, *this);
  }
  /// Over the lanes whose numbers differ by multiples of a power of two; all of them get the sums.
  __device__ void add_up(int first_step) {
    for (int step = first_step; step < warp_size; step *= 2) {
      if constexpr (Potential) potential += __shfl_xor_sync(whole_warp, potential, step);
      if constexpr (Gradient) {
        x += __shfl_xor_sync(whole_warp, x, step);
        y += __shfl_xor_sync(whole_warp, y, step);
        z += __shfl_xor_sync(whole_warp, z, step);
      }
    }
  }
  template <class M>
  __device__ void add(const Sums<M, Potential, Gradient>& other) {
    if constexpr (Potential) potential += static_cast<N>(other.potential);
    if constexpr (Gradient) {
      x += static_cast<N>(other.x);
      y += static_cast<N>(other.y);
      z += static_cast<N>(other.z);
    }
  }
};

/// Sums of one target: second derivatives. As Sums.
template <class N>
struct HessianSums : Symmetric3<N> {
  template <class M>
  using In = HessianSums<M>;
  static constexpr int components = 6;

  template <bool Dipoles, int Terms, class Kernel>
  __device__ void add(const Kernel& kernel, N q, const Vec3<N>& dipole, const Vec3<N>& separation,
                      N r2, N w) {
    fmm::add_pair_hessian<Dipoles>(kernel.template radial<Terms>(r2, w), q, dipole, separation,
                                   *this);
  }
  __device__ void add_up(int first_step) {
    for (int step = first_step; step < warp_size; step *= 2)
#pragma unroll
      for (int k = 0; k < components; ++k)
        (*this)[k] += __shfl_xor_sync(whole_warp, (*this)[k], step);
  }
  __device__ void add(const HessianSums& other) { *this += other; }
};

}  // namespace fmbem::cuda
