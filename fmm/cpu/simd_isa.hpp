// Vector registers of the instruction set that FMBEM_ISA names, for the files that are compiled
// once for each. All of it is in a namespace of that instruction set, so that no code ends up on a
// processor that cannot run it.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "fmbem/fmm/base/hd.hpp"

#if defined(__AVX512F__) || defined(__SSE2__)
#include <immintrin.h>
#endif

namespace fmbem::fmm::FMBEM_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int register_bytes = 64;
#elif defined(__AVX__)
constexpr int register_bytes = 32;
#else
constexpr int register_bytes = 16;
#endif

/// n numbers: as V at any address that T may have, as Aligned where the compiler puts them.
template <class T, int n>
struct Few {
  typedef T V __attribute__((vector_size(n * sizeof(T)), may_alias, aligned(alignof(T))));
  typedef T Aligned __attribute__((vector_size(n * sizeof(T)), may_alias));
};

template <class T>
struct Simd {
  static constexpr int lanes = register_bytes / static_cast<int>(sizeof(T));
  using Aligned = typename Few<T, lanes>::Aligned;
  using V = typename Few<T, lanes>::V;
};
template <class T>
using Vec = typename Simd<T>::Aligned;

template <class T>
FMBEM_INLINE Vec<T> load(const T* p) {
  return *reinterpret_cast<const typename Simd<T>::V*>(p);
}
template <class T>
FMBEM_INLINE void store(T* p, Vec<T> v) {
  *reinterpret_cast<typename Simd<T>::V*>(p) = v;
}
#if defined(__AVX512F__)
/// Mask of the first n lanes.
FMBEM_INLINE unsigned first_lanes(int n) { return (1u << n) - 1; }
#endif
/// The first n numbers, n less than the lanes; the other lanes are 0, and their memory is not
/// touched.
template <class T>
FMBEM_INLINE Vec<T> load_part(const T* p, int n) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return reinterpret_cast<Vec<T>>(_mm512_maskz_loadu_epi32(first_lanes(n), p));
  else
    return reinterpret_cast<Vec<T>>(_mm512_maskz_loadu_epi64(first_lanes(n), p));
#else
  Vec<T> v{};
  for (int l = 0; l < n; ++l) v[l] = p[l];
  return v;
#endif
}
template <class T>
FMBEM_INLINE void store_part(T* p, Vec<T> v, int n) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    _mm512_mask_storeu_epi32(p, first_lanes(n), reinterpret_cast<__m512i>(v));
  else
    _mm512_mask_storeu_epi64(p, first_lanes(n), reinterpret_cast<__m512i>(v));
#else
  for (int l = 0; l < n; ++l) p[l] = v[l];
#endif
}
template <class T>
FMBEM_INLINE Vec<T> broadcast(T value) {
  return value - Vec<T>{};
}
template <class T>
FMBEM_INLINE Vec<T> square_root(Vec<T> v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    return _mm512_maskz_sqrt_ps(0xffff, v);  // GCC 12 warns of the form without a mask
  else
    return _mm512_maskz_sqrt_pd(0xff, v);
#else
  for (int l = 0; l < Simd<T>::lanes; ++l) v[l] = std::sqrt(v[l]);  // vectorised
  return v;
#endif
}
template <class T>
FMBEM_INLINE T sum_of_lanes(Vec<T> v) {
  T sum = 0;
  for (int l = 0; l < Simd<T>::lanes; ++l) sum += v[l];
  return sum;
}
/// Sums of neighbouring lanes: those of a, followed by those of b.
template <class T, std::size_t... l>
FMBEM_INLINE Vec<T> add_neighbours(Vec<T> a, Vec<T> b, std::index_sequence<l...>) {
  return __builtin_shufflevector(a, b, 2 * l...) + __builtin_shufflevector(a, b, 2 * l + 1 ...);
}
/// A register of sums over lanes, one for each of as many vectors as there are lanes.
template <class T>
FMBEM_INLINE Vec<T> sums_of_lanes(const Vec<T>* v) {
  constexpr int lanes = Simd<T>::lanes;
  Vec<T> part[lanes];
  for (int k = 0; k < lanes; ++k) part[k] = v[k];
  for (int n = lanes / 2; n > 0; n /= 2)
    for (int k = 0; k < n; ++k)
      part[k] = add_neighbours<T>(part[2 * k], part[2 * k + 1], std::make_index_sequence<lanes>());
  return part[0];
}

}  // namespace
}  // namespace fmbem::fmm::FMBEM_ISA
