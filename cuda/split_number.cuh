#pragma once

#include <cstdint>
#include <type_traits>

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

/// The unit of numbers of which that is the largest: halves have up to 2^16.
class SplitUnit {
 public:
  __device__ explicit SplitUnit(float largest) {
    exponent_ = max(__float_as_uint(largest) >> 23, lowest);
  }
  __device__ float value() const { return __uint_as_float((exponent_ - shift) << 23); }
  __device__ SplitNumber split(float x) const {
    const float scaled = x * __uint_as_float((2 * bias + shift - exponent_) << 23);
    const __half high = __float2half_rn(scaled),
                 low = __float2half_rn(scaled - __half2float(high));
    return __half_as_ushort(high) | static_cast<SplitNumber>(__half_as_ushort(low)) << 16;
  }

 private:
  static constexpr unsigned bias = 127, shift = 14, lowest = shift + 1;
  unsigned exponent_;  ///< biased
};

/// The largest of a warp's numbers, which are not negative.
__device__ inline float largest_of_warp(float x) {
  return __uint_as_float(__reduce_max_sync(whole_warp, __float_as_uint(x)));
}

/// The high halves of two numbers, or the low ones, the first one's in the low bits.
__device__ inline unsigned high_of_two(SplitNumber x, SplitNumber y) {
  return __byte_perm(x, y, 0x5410);
}
__device__ inline unsigned low_of_two(SplitNumber x, SplitNumber y) {
  return __byte_perm(x, y, 0x7632);
}

}  // namespace fmbem::cuda
