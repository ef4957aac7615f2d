#include <algorithm>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/close_pairs.cuh"
#include "fmbem/cuda/launch.cuh"

namespace fmbem::cuda {
namespace {

constexpr int around = fmm::neighbours_a_side, stretch = fmm::largest_stretch;
/// Points of a block of threads at a time, a thread for each, and blocks of a grid: each adds all
/// that it counted at its end.
constexpr int points_at_a_time = 256, most_blocks = 512;
static_assert(points_at_a_time % stretch == 0 && fmm::least_stretch == warp_size);

/// Points of a block, and those around them.
struct NearbyPoints {
  double at[3][points_at_a_time + 2 * around];
  /// Ends of the points of each warp.
  double low[points_at_a_time / warp_size][3], high[points_at_a_time / warp_size][3];

  /// Largest extent of the points of some warps.
  __device__ double extent(int warp, int warps) const {
    double largest = 0;
    for (int axis = 0; axis < 3; ++axis) {
      double lower = low[warp][axis], upper = high[warp][axis];
      for (int w = warp + 1; w < warp + warps; ++w) {
        lower = fmin(lower, low[w][axis]);
        upper = fmax(upper, high[w][axis]);
      }
      largest = fmax(largest, upper - lower);
    }
    return largest;
  }
};

__global__ void __launch_bounds__(points_at_a_time)
    count_points(const Vec3d* points, const std::int32_t* order, std::int64_t n, double scale,
                 std::uint32_t* of_points, std::uint32_t* of_stretches) {
  __shared__ NearbyPoints s_near;
  __shared__ std::uint32_t s_counts[fmm::magnitude_bins];
  for (int bin = threadIdx.x; bin < fmm::magnitude_bins; bin += blockDim.x) s_counts[bin] = 0;
  const int own = threadIdx.x + around, warp = threadIdx.x / warp_size;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * points_at_a_time;
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * points_at_a_time; first < n;
       first += step) {
    __syncthreads();
    for (int k = threadIdx.x; k < points_at_a_time + 2 * around; k += points_at_a_time) {
      const std::int64_t i = first + k - around;
      if (i < 0 || i >= n) continue;
      const Vec3d point = scale * points[order[i]];
      for (int axis = 0; axis < 3; ++axis) s_near.at[axis][k] = point[axis];
    }
    __syncthreads();
    const std::int64_t i = first + threadIdx.x;
    const bool is_whole = first + (threadIdx.x / stretch + 1) * stretch <= n;
    if (is_whole) {  // so for whole warps
      for (int axis = 0; axis < 3; ++axis) {
        double low = s_near.at[axis][own], high = low;
        for (int lanes = warp_size / 2; lanes > 0; lanes /= 2) {
          low = fmin(low, __shfl_xor_sync(whole_warp, low, lanes));
          high = fmax(high, __shfl_xor_sync(whole_warp, high, lanes));
        }
        s_near.low[warp][axis] = low;
        s_near.high[warp][axis] = high;
      }
    }
    __syncthreads();
    if (is_whole && threadIdx.x % stretch == 0) {
      for (int warps = 1; warps <= stretch / warp_size; warps *= 2)
        for (int w = warp; w < warp + stretch / warp_size; w += warps)
          atomicAdd(&of_stretches[fmm::magnitude_bin(
                        fmm::stretch_magnitude(warps * warp_size, s_near.extent(w, warps)))],
                    1u);
    }
    if (i >= n) continue;
    double sum = 0;
    const auto add = [&](int other) {
      sum += fmm::inverse_fourth_power(s_near.at[0][own] - s_near.at[0][other],
                                       s_near.at[1][own] - s_near.at[1][other],
                                       s_near.at[2][own] - s_near.at[2][other]);
    };
    for (int k = 1; k <= around; ++k) {  // in the order of fmm::count_pairs()
      if (i - k >= 0) add(own - k);
      if (i + k < n) add(own + k);
    }
    atomicAdd(&s_counts[fmm::magnitude_bin(sum)], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < fmm::magnitude_bins; bin += blockDim.x)
    if (s_counts[bin] > 0) atomicAdd(&of_points[bin], s_counts[bin]);
}

}  // namespace

fmm::PairCounts count_pairs(const Vec3d* points, const std::int32_t* order, std::int64_t n,
                            double scale, cudaStream_t stream) {
  static_assert(sizeof(fmm::PairCounts) == 2 * fmm::magnitude_bins * sizeof(std::uint32_t));
  DeviceBuffer<std::uint32_t> counts(2 * fmm::magnitude_bins, stream);
  counts.fill_bytes(0);
  launch(count_points, std::min<unsigned>(blocks_for(n, points_at_a_time), most_blocks),
         points_at_a_time, 0, stream, points, order, n, scale, counts.data(),
         counts.data() + fmm::magnitude_bins);
  fmm::PairCounts host;
  counts.download(reinterpret_cast<std::uint32_t*>(&host));
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return host;
}

}  // namespace fmbem::cuda
