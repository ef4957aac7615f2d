#pragma once

#include "fmbem/cuda/irregular.cuh"
#include "fmbem/cuda/l2p_point.cuh"
#include "fmbem/fmm/expansion/cartesian.hpp"

// Multipole expansions at points: F(ξ)/|d| with ξ = d/|d|², d from the box's centre in its sides,
// and F a sum of harmonics or of monomials (fmm/cpu/m2p_isa.cpp). Kernels are in the box's unit.

namespace fmbem::cuda {

/// Numbers that spherical expansions of a box have in shared memory.
__host__ __device__ inline int numbers_of_series(int pairs, int channels) {
  return 2 * pairs * channels;
}

/// Spherical expansions of degree p. With gradients by Yukawa's kernel the table is of degree p + 1
/// (RaisedTable).
template <class T, class Kernel>
struct SphericalSeries {
  TableView<T> table;
  IrregularSteps<T, Kernel> steps;

  /// To shared memory, [pair][channel][2]: F, and its derivatives as expansions of their own, along
  /// ξ of a homogeneous kernel, else along d.
  template <int Channels>
  __device__ void load(const Kernel& kernel, const T* moment, T* room) const {
    for (int slot = threadIdx.x % warp_size; slot < 2 * table.pairs; slot += warp_size) {
      T* const out = room + slot / 2 * 2 * Channels + slot % 2;
      const std::int32_t position = table.position[slot];
      out[0] = position < 0 ? T(0) : moment[position];
#pragma unroll
      for (int axis = 0; axis + 1 < Channels; ++axis)
        out[2 * (1 + axis)] = derivative_at(table, kernel, moment, slot, axis);
    }
  }

  /// `place` is ξ, and `distance` |d|.
  template <int Channels, int Each>
  __device__ void sum(const Kernel& kernel, const T* room, const Vec3<T> (&place)[Each],
                      const T (&distance)[Each], T (&value)[Each][Channels]) const {
    Harmonics<T> point[Each];
    IrregularFactors<T, Kernel> factor[Each];
#pragma unroll
    for (int k = 0; k < Each; ++k) {
      point[k] = Harmonics<T>(place[k], T(1));
      factor[k] = IrregularFactors<T, Kernel>(kernel, distance[k]);
      for (T& channel : value[k]) channel = 0;
    }
    int t = 0;
    for (int m = 0; m <= table.p; ++m) {
      T even[Each][Channels] = {}, odd[Each][Channels] = {};
#pragma unroll
      for (int k = 0; k < Each; ++k) {
        if (m > 0) {
          point[k].next_order(steps.harmonics.diagonal[m]);
          factor[k].next_order(steps.rises, m - 1);
        }
        point[k].first_degree();
        factor[k].first_degree();
      }
      for (int n = m; n <= table.p; ++n, ++t, room += 2 * Channels) {
#pragma unroll
        for (int k = 0; k < Each; ++k) {
          const T here = factor[k].times(point[k].here);
#pragma unroll
          for (int c = 0; c < Channels; ++c) {
            even[k][c] += room[2 * c] * here;
            odd[k][c] += room[2 * c + 1] * here;
          }
          point[k].next_degree(steps.harmonics.up[t], steps.harmonics.down[t]);
          factor[k].next_degree(steps.rises, n);
        }
      }
#pragma unroll
      for (int k = 0; k < Each; ++k)
#pragma unroll
        for (int c = 0; c < Channels; ++c)
          value[k][c] += point[k].c * even[k][c] + point[k].s * odd[k][c];
    }
  }
};

/// Cartesian expansions of degree P, by Horner's scheme with the derivatives of the nested sums.
template <class T, int P>
struct CartesianSeries {
  static constexpr int monomials = fmm::monomial_count(P);

  template <int Channels>
  __device__ void load(const fmm::Laplace&, const T* monomial, T* room) const {
    for (int k = threadIdx.x % warp_size; k < monomials; k += warp_size) room[k] = monomial[k];
  }

  template <int Channels, int Each>
  __device__ void sum(const fmm::Laplace&, const T* room, const Vec3<T> (&place)[Each],
                      const T (&)[Each], T (&value)[Each][Channels]) const {
    constexpr bool gradient = Channels == 4;
    const T* monomial = room;
    T f[Each] = {}, fx[Each] = {}, fy[Each] = {}, fz[Each] = {};
#pragma unroll
    for (int i = P; i >= 0; --i) {
      T g[Each] = {}, gy[Each] = {}, gz[Each] = {};
#pragma unroll
      for (int j = P - i; j >= 0; --j) {
        T h[Each] = {}, hz[Each] = {};
#pragma unroll
        for (int k = P - i - j; k >= 0; --k) {
          const T coefficient = *monomial++;
#pragma unroll
          for (int e = 0; e < Each; ++e) {
            if constexpr (gradient) hz[e] = hz[e] * place[e].z + h[e];
            h[e] = h[e] * place[e].z + coefficient;
          }
        }
#pragma unroll
        for (int e = 0; e < Each; ++e) {
          if constexpr (gradient) {
            gz[e] = gz[e] * place[e].y + hz[e];
            gy[e] = gy[e] * place[e].y + g[e];
          }
          g[e] = g[e] * place[e].y + h[e];
        }
      }
#pragma unroll
      for (int e = 0; e < Each; ++e) {
        if constexpr (gradient) {
          fz[e] = fz[e] * place[e].x + gz[e];
          fy[e] = fy[e] * place[e].x + gy[e];
          fx[e] = fx[e] * place[e].x + f[e];
        }
        f[e] = f[e] * place[e].x + g[e];
      }
    }
#pragma unroll
    for (int e = 0; e < Each; ++e) {
      value[e][0] = f[e];
      if constexpr (gradient) {
        value[e][1] = fx[e];
        value[e][2] = fy[e];
        value[e][3] = fz[e];
      }
    }
  }
};

/// 1/√r2 to all bits.
__device__ inline float exact_root(float r2) { return rsqrtf(r2); }
__device__ inline double exact_root(double r2) { return rsqrt(r2); }

/// Adds what a box's expansion, loaded to `room`, gives at places d: the potential, and for four
/// channels the gradient, in units of the box's side.
template <int Channels, int Each, class T, class Series, class Kernel>
__device__ inline void add_m2p(const Series& series, const Kernel& kernel, const T* room,
                               const Vec3<T> (&d)[Each], T inverse_side,
                               T (&sums)[Each][Channels]) {
  Vec3<T> inverted[Each];
  T w[Each], distance[Each], value[Each][Channels];
#pragma unroll
  for (int k = 0; k < Each; ++k) {
    const T r2 = norm2(d[k]);
    w[k] = exact_root(r2);
    distance[k] = r2 * w[k];
    inverted[k] = (w[k] * w[k]) * d[k];
  }
  series.sum(kernel, room, inverted, distance, value);
#pragma unroll
  for (int k = 0; k < Each; ++k) {
    const T of_unit = inverse_side * w[k];
    sums[k][0] += of_unit * value[k][0];
    if constexpr (Channels == 4 && !Kernel::homogeneous) {
#pragma unroll
      for (int axis = 0; axis < 3; ++axis)
        sums[k][1 + axis] += inverse_side * of_unit * value[k][1 + axis];
    } else if constexpr (Channels == 4) {
      const Vec3<T> g{value[k][1], value[k][2], value[k][3]};
      const T w2 = w[k] * w[k], f = inverse_side * of_unit * w2;
      const T radial = value[k][0] + 2 * w2 * (d[k].x * g.x + d[k].y * g.y + d[k].z * g.z);
      sums[k][1] += f * (g.x - radial * d[k].x);
      sums[k][2] += f * (g.y - radial * d[k].y);
      sums[k][3] += f * (g.z - radial * d[k].z);
    }
  }
}

}  // namespace fmbem::cuda
