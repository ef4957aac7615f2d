#include "fmbem/bem/cuda/near_rows.cuh"
#include "fmbem/bem/triangle.hpp"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda {
namespace {

/// Counts are zero before.
template <class N>
__global__ void __launch_bounds__(threads_per_block)
    count_close(const __grid_constant__ NearRowsView a, const __grid_constant__ NearRules<N> rules,
                std::int64_t* count) {
  for_close_pairs(a, blockIdx.x, rules,
                  [&](std::int32_t i, int k, int, std::int32_t) { count[i] = k + 1; });
}

template <class N>
__global__ void __launch_bounds__(threads_per_block)
    list_close(const __grid_constant__ NearRowsView a, const __grid_constant__ NearRules<N> rules,
               const std::int64_t* begin, std::int32_t* panel) {
  for_close_pairs(a, blockIdx.x, rules, [&](std::int32_t i, int k, int, std::int32_t number) {
    panel[begin[i] + k] = number;
  });
}

/// Target of the k-th pair.
__device__ inline std::int64_t target_of(const std::int64_t* begin, std::int64_t targets,
                                         std::int64_t k) {
  std::int64_t low = 0, high = targets;  // begin[low] ≤ k < begin[high]
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (begin[middle] <= k)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// A sliver, from x at the origin, by rules and closed forms for its pieces.
__device__ __attribute__((noinline)) double sliver_potential(const NearRules<double>& rules,
                                                             const Piece& whole) {
  double sum = 0;
  for_sliver_pieces(
      whole,
      [&](const Piece& p, double distance2, double radius2) {
        const int rule = rules.at(distance2, radius2);
        if (rule >= 0)
          sum += integrate_by<double>(
              rules, rule, {p.d[0], p.d[1] - p.d[0], p.d[2] - p.d[0], inv_4pi * p.area, radius2},
              {});
        return rule >= 0;
      },
      [&](const Triangle& p) { sum += triangle_potential(p, {}); });
  return sum;
}

template <class Entry>
__global__ void __launch_bounds__(threads_per_block)
    integrate_close(const __grid_constant__ NearRowsView a,
                    const __grid_constant__ NearRules<double> rules, const std::int64_t* begin,
                    const std::int32_t* panel, std::int64_t pairs, Entry* value) {
  const std::int64_t k = thread_index();
  if (k >= pairs) return;
  const Vec3d x = a.target(target_of(begin, a.targets.count, k));
  const Vec3d* const v = a.vertices + 3 * static_cast<std::int64_t>(panel[k]);
  const Triangle t = make_triangle(a.unit * v[0], a.unit * v[1], a.unit * v[2]);
  value[k] = static_cast<Entry>(
      shape(t) > rules.shaped
          ? triangle_potential(t, x)
          : sliver_potential(rules, {{t.vertex[0] - x, t.vertex[1] - x, t.vertex[2] - x}, t.area}));
}

}  // namespace

template <class N>
ClosePairs find_close_pairs(const NearRowsView& view, std::int64_t rows, const NearRules<N>& rules,
                            cudaStream_t stream) {
  const std::int64_t targets = view.targets.count;
  ClosePairs pairs;
  pairs.begin = DeviceBuffer<std::int64_t>(targets + 1, stream);
  DeviceBuffer<std::int64_t> count(targets + 1, stream);
  count.fill_bytes(0);
  const auto blocks = static_cast<unsigned>(rows);
  launch(count_close<N>, blocks, threads_per_block, 0, stream, view, rules, count.data());
  exclusive_sum(count.data(), pairs.begin.data(), targets + 1, stream);
  pairs.panel =
      DeviceBuffer<std::int32_t>(download_one(pairs.begin.data() + targets, stream), stream);
  launch(list_close<N>, blocks, threads_per_block, 0, stream, view, rules, pairs.begin.data(),
         pairs.panel.data());
  return pairs;
}

template <class Entry>
DeviceBuffer<Entry> integrate_close_pairs(const NearRowsView& view, const ClosePairs& pairs,
                                          double tolerance, cudaStream_t stream) {
  const auto n = static_cast<std::int64_t>(pairs.panel.size());
  DeviceBuffer<Entry> values(n, stream);
  launch(integrate_close<Entry>, blocks_for(n), threads_per_block, 0, stream, view,
         NearRules<double>(tolerance), pairs.begin.data(), pairs.panel.data(), n, values.data());
  return values;
}

template ClosePairs find_close_pairs(const NearRowsView&, std::int64_t, const NearRules<double>&,
                                     cudaStream_t);
template ClosePairs find_close_pairs(const NearRowsView&, std::int64_t, const NearRules<float>&,
                                     cudaStream_t);
template DeviceBuffer<double> integrate_close_pairs(const NearRowsView&, const ClosePairs&, double,
                                                    cudaStream_t);
template DeviceBuffer<float> integrate_close_pairs(const NearRowsView&, const ClosePairs&, double,
                                                   cudaStream_t);

}  // namespace fmbem::cuda
