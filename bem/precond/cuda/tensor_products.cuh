#pragma once

#include <cuda_runtime.h>

namespace fmbem::cuda::bem {

/// A number as the sum of two that tensor cores multiply, which take 10 bits behind the leading
/// one: to 2^-22.
struct SplitFloat {
  unsigned high, low;
};

__device__ inline SplitFloat split(float x) {
  const unsigned high = __float_as_uint(x) & 0xffffe000u;
  return {high, __float_as_uint(x - __uint_as_float(high))};
}

/// sum += a b: 16 rows of a, 8 columns of b and 8 terms. A lane has, with i = lane / 4 and t = lane
/// mod 4, entries (i, t), (i + 8, t), (i, t + 4) and (i + 8, t + 4) of a, (t, i) and (t + 4, i) of
/// b, and (i, 2t), (i, 2t + 1), (i + 8, 2t) and (i + 8, 2t + 1) of the sum.
__device__ inline void multiply_add(float (&sum)[4], const unsigned (&a)[4],
                                    const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace fmbem::cuda::bem
