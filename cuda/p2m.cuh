#pragma once

// Moments of points by a warp, whatever the points are.
#include <type_traits>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/dual.cuh"
#include "fmbem/cuda/harmonics.cuh"
#include "fmbem/cuda/pass.cuh"

namespace fmbem::cuda {

inline constexpr int slots_at_once = 16, padded_row = warp_size + 1;

/// Adds up rows of the buffer, sums[slot] += Σ_lane buffer[slot][lane] for the first `slots`: two
/// lanes a slot.
template <class T>
__device__ inline void add_up(const T* buffer, int slots, T* sums) {
  static_assert(slots_at_once == 16);
  const int lane = threadIdx.x % warp_size;
  const T* const row = buffer + lane % 16 * padded_row + lane / 16 * 16;
  __syncwarp();
  T part[4] = {};  // so that no sum waits for the one before
#pragma unroll
  for (int i = 0; i < 16; ++i) part[i % 4] += row[i];
  T sum = (part[0] + part[1]) + (part[2] + part[3]);
  sum += __shfl_xor_sync(whole_warp, sum, 16);
  if (lane < slots) sums[lane] += sum;
  __syncwarp();
}

/// The moments of up to 32·Each points, `weight` each, as each lane has them: for some slots at a
/// time they are put to buffer[slot][lane], and flush(first slot, how many) is called. With V =
/// Dual<T> those of dipoles, which are the places' slopes, and of charges where weights have
/// slopes.
template <int Each, class T, class V, class W, class Factors, class Flush>
__device__ inline void for_moments(const TableView<T>& table, const Steps<T>& steps,
                                   const Factors& factors, const Vec3<V>* place, const W* weight,
                                   T* buffer, Flush&& flush) {
  const int lane = threadIdx.x % warp_size;
  Harmonics<T, V> point[Each];
#pragma unroll
  for (int i = 0; i < Each; ++i) point[i] = Harmonics<T, V>(place[i], weight[i]);
  int t = 0, filled = 0;
  for (int m = 0; m <= table.p; ++m) {
#pragma unroll
    for (int i = 0; i < Each; ++i) {
      if (m > 0) point[i].next_order(steps.diagonal[m]);
      point[i].first_degree();
    }
    for (int n = m; n <= table.p; ++n, ++t) {
      T even = 0, odd = 0;
#pragma unroll
      for (int i = 0; i < Each; ++i) {
        const V here = factors.times(i, n, point[i].here);
        even += wanted_product(here, point[i].c);
        odd += wanted_product(here, point[i].s);
        point[i].next_degree(steps.up[t], steps.down[t]);
      }
      buffer[filled * padded_row + lane] = even;
      buffer[(filled + 1) * padded_row + lane] = odd;
      filled += 2;
      if (filled < slots_at_once) continue;
      flush(2 * (t + 1) - filled, filled);
      filled = 0;
    }
  }
  if (filled > 0) flush(2 * t - filled, filled);
}

/// Adds the moments of all lanes' points to sums [2 pairs].
template <int Each, class T, class V, class W, class Factors>
__device__ inline void add_moments(const TableView<T>& table, const Steps<T>& steps,
                                   const Factors& factors, const Vec3<V>* place, const W* weight,
                                   T* buffer, T* sums) {
  for_moments<Each>(table, steps, factors, place, weight, buffer,
                    [&](int first, int slots) { add_up(buffer, slots, sums + first); });
}

/// Numbers of shared memory that a warp of P2M works with: the buffer and the sums.
template <class T>
__host__ __device__ constexpr int p2m_numbers(int pairs, int channels) {
  return slots_at_once * padded_row + 2 * pairs * channels;
}

/// Calls add(std::integral_constant<int, Each>(), first) for the points of [begin, end), up to
/// 32·Each at a time from `first` on; Each is at most Most, 2 or 4.
template <int Most = 4, class Add>
__device__ inline void for_rounds(std::int32_t begin, std::int32_t end, Add&& add) {
  std::int32_t first = begin;
  for (; end - first > Most / 2 * warp_size; first += Most * warp_size)
    add(std::integral_constant<int, Most>(), first);
  if (Most > 2 && end - first > warp_size)
    add(std::integral_constant<int, 2>(), first);
  else if (end > first)
    add(std::integral_constant<int, 1>(), first);
}

}  // namespace fmbem::cuda
