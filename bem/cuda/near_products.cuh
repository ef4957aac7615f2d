#pragma once

// What products with the near field share, stored or lean.
#include <type_traits>

#include "fmbem/bem/cuda/near_rows.cuh"

namespace fmbem::cuda {

/// How a block divides a row: its threads are groups that share the targets of a chunk and divide
/// the sources between them.
struct Share {
  int count;   ///< targets of the chunk
  int target;  ///< that of the thread
  int group, groups;
  bool works;

  __device__ explicit Share(int targets_left)
      : count(min(targets_left, static_cast<int>(blockDim.x))),
        target(threadIdx.x % count),
        group(threadIdx.x / count),
        groups(blockDim.x / count),
        works(group < groups) {}

  /// Adds up what the groups have; true in the thread that is to write the target's sum.
  __device__ bool add_up(double& sum, double* s_sums) const {
    __syncthreads();
    s_sums[threadIdx.x] = sum;
    __syncthreads();
    if (group > 0) return false;
    for (int g = 1; g < groups; ++g) sum += s_sums[g * count + target];
    return true;
  }
};

/// Writes the sums of a chunk of targets from `first` on.
template <int Vectors>
__device__ inline void write_sums(const NearRowsView& a, const Share& share, std::int32_t first,
                                  double* sum, const double* factor, double* y) {
  __shared__ double s_sums[threads_per_block];
  for (int v = 0; v < Vectors; ++v)
    if (share.add_up(sum[v], s_sums))
      y[v * a.targets.count + first + share.target] = factor[v] * sum[v];
}

/// Rules work in single precision where their rounding leaves room for their own error.
inline bool rules_in_single(double tolerance) { return tolerance >= 1.5 * single_rule_rounding; }
template <class N>
double rule_tolerance(double tolerance) {
  return sizeof(N) == 4 ? tolerance - single_rule_rounding : tolerance;
}

/// Vectors whose products share the reading of entries.
inline constexpr int most_together = 4;

/// Groups of vectors that go together: put(vectors of the kernel, first vector).
template <class Put>
void for_groups(int vectors, Put&& put) {
  int first = 0;
  for (; vectors - first >= most_together; first += most_together)
    put(std::integral_constant<int, most_together>(), first);
  for (; first < vectors; ++first) put(std::integral_constant<int, 1>(), first);
}

}  // namespace fmbem::cuda
