#pragma once

#include <algorithm>
#include <type_traits>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/hybrid.cuh"
#include "fmbem/cuda/launch.cuh"

// How what acts on the targets of a hybrid's items is summed, whether it is expansions or points.

namespace fmbem::cuda {

/// Warps of a block for a long item, if shared memory suffices: they share what acts on it.
inline constexpr int most_acting_warps = 8;

/// Of a warp: what its boxes give at an item's targets.
template <int Channels>
struct ActingSums {
  double at[targets_of_an_item][Channels];
};

/// A lane's share of the targets of an item, `Each` of them. Where there are few, `width` lanes
/// have one each, and groups of so many lanes have the same.
template <int Each, int Channels>
struct ItemTargets {
  int width = 1;
  Vec3d x[Each];
  double total[Each][Channels] = {};

  __device__ ItemTargets(const ActingItem& item, const PointsView<double>& targets) {
    while (width < min(item.count, warp_size)) width *= 2;
#pragma unroll
    for (int t = 0; t < Each; ++t) {
      const std::int32_t i = item.first + min(t * warp_size + place(), item.count - 1);
      x[t] = {targets.x[i], targets.y[i], targets.z[i]};
    }
  }
  __device__ static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
  __device__ int place() const { return lane() % width; }
  __device__ int group() const { return lane() / width; }
  __device__ int groups() const { return warp_size / width; }

  /// Adds up the groups' sums, and writes them.
  __device__ void write(ActingSums<Channels>& to) {
#pragma unroll
    for (int t = 0; t < Each; ++t)
#pragma unroll
      for (int c = 0; c < Channels; ++c) {
        for (int step = width; step < warp_size; step *= 2)
          total[t][c] += __shfl_xor_sync(whole_warp, total[t][c], step);
        if (group() == 0) to.at[t * warp_size + place()][c] = total[t][c];
      }
  }
};

/// Adds what acts on a block's item to the results: add(targets) adds a warp's share, and the
/// warps' sums, one for each in shared memory, are added up in their order.
template <int Channels>
__device__ inline void sum_item(const ActingItem& item, const PointsView<double>& points,
                                const NearView& results, ActingSums<Channels>* sums, auto&& add) {
  const int warps = static_cast<int>(blockDim.x) / warp_size,
            warp = static_cast<int>(threadIdx.x) / warp_size;
  const auto act = [&]<int Each>(std::integral_constant<int, Each>) {
    ItemTargets<Each, Channels> targets(item, points);
    add(targets);
    targets.write(sums[warp]);
  };
  if (item.count > warp_size)
    act(std::integral_constant<int, 2>());
  else
    act(std::integral_constant<int, 1>());
  __syncthreads();
  for (int k = threadIdx.x; k < item.count * Channels; k += blockDim.x) {
    const int target = k / Channels, c = k % Channels;
    double sum = 0;
    for (int w = 0; w < warps; ++w) sum += sums[w].at[target][c];
    double* const to = c == 0 ? results.potential : results.gradient[c - 1];
    if (to) to[blockIdx.y * points.count + item.first + target] += sum;
  }
}

/// A block for each item and right-hand side, the long ones of as many warps as shared memory has
/// room for, the others of one.
template <class Arguments>
void launch_items(void (*kernel)(Arguments, std::int64_t), const Arguments& a, int vectors,
                  std::size_t bytes_of_a_block, std::size_t bytes_of_a_warp, cudaStream_t stream) {
  const auto launch_some = [&](std::int64_t first, std::int64_t last, int warps) {
    launch(kernel, dim3(static_cast<unsigned>(last - first), vectors), warps * warp_size,
           bytes_of_a_block + warps * bytes_of_a_warp, stream, a, first);
  };
  const int most = static_cast<int>(std::clamp<std::size_t>(
      (shared_memory_of_a_block() - bytes_of_a_block) / bytes_of_a_warp, 1, most_acting_warps));
  launch_some(0, a.acting.long_ones, most);
  launch_some(a.acting.long_ones, a.acting.count, 1);
}

}  // namespace fmbem::cuda
