#pragma once

#include <cstdint>

#include <cuda_fp16.h>

#include "fmbem/cuda/blocks.cuh"

namespace fmbem::cuda {

/// A number in single precision as the sum of two halves, in a unit that is a power of two and that
/// several numbers have together: the high half in the low 16 bits, the low one in the others. To
/// 2^-22 of the number, or 2^-39 of the largest one where that is more.
using SplitNumber = std::uint32_t;

/// How many numbers in a row have a unit together.
inline constexpr int split_depth = 32;

/// Room for so many numbers in a row.
constexpr std::int64_t split_stride(std::int64_t numbers) {
  return (numbers + split_depth - 1) / split_depth * split_depth;
}

/// Halves of two numbers, the first one's in the low 16 bits.
struct SplitPair {
  unsigned high, low;
  __device__ SplitNumber first() const { return __byte_perm(high, low, 0x5410); }
  __device__ SplitNumber second() const { return __byte_perm(high, low, 0x7632); }
};

/// The same of two split numbers.
__device__ inline SplitPair pair_of(SplitNumber x, SplitNumber y) {
  return {__byte_perm(x, y, 0x5410), __byte_perm(x, y, 0x7632)};
}

/// The unit of numbers of which that is the largest: halves have up to 2^16.
class SplitUnit {
 public:
  __device__ explicit SplitUnit(float largest) {
    exponent_ = max(__float_as_uint(largest) >> 23, lowest);
  }
  __device__ float value() const { return __uint_as_float((exponent_ - shift) << 23); }
  __device__ SplitPair split(float x, float y) const {
    const float inverse = __uint_as_float((2 * bias + shift - exponent_) << 23);
    x *= inverse;
    y *= inverse;
    const __half2 high = __floats2half2_rn(x, y);
    const float2 rounded = __half22float2(high);
    const __half2 low = __floats2half2_rn(x - rounded.x, y - rounded.y);
    return {reinterpret_cast<const unsigned&>(high), reinterpret_cast<const unsigned&>(low)};
  }

 private:
  static constexpr unsigned bias = 127, shift = 14, lowest = shift + 1;
  unsigned exponent_;  ///< biased
};

/// The largest of a warp's numbers, which are not negative.
__device__ inline float largest_of_warp(float x) {
  return __uint_as_float(__reduce_max_sync(whole_warp, __float_as_uint(x)));
}

}  // namespace fmbem::cuda
