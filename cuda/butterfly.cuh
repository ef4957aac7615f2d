#pragma once

namespace fmbem::cuda {

/// Walsh-Hadamard transform: v[e] = Σ_g (−1)^|e & g| v[g].
template <class T>
__device__ inline void transform(T* v) {
#pragma unroll
  for (int half = 1; half < 8; half *= 2) {
#pragma unroll
    for (int g = 0; g < 8; ++g) {
      if (g & half) continue;
      const T sum = v[g] + v[g | half], difference = v[g] - v[g | half];
      v[g] = sum;
      v[g | half] = difference;
    }
  }
}

/// v, negated where the reflection changes the sign of harmonics of this class.
template <class T>
__device__ inline T reflected(T v, int parity, int reflection) {
  return __popc(parity & reflection) & 1 ? -v : v;
}

}  // namespace fmbem::cuda
