#include "fmbem/bem/near/cuda/close_integral.cuh"
#include "fmbem/bem/near/cuda/grouped.cuh"
#include "fmbem/bem/near/cuda/near_rows.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Counts are zero before.
template <class N>
__global__ void __launch_bounds__(threads_per_block)
    count_close(const __grid_constant__ NearRowsView a, const __grid_constant__ NearRules<N> rules,
                std::int64_t* count) {
  for_close_pairs(a, blockIdx.x, rules,
                  [&](std::int32_t i, int k, std::int32_t) { count[i] = k + 1; });
}

template <class N>
__global__ void __launch_bounds__(threads_per_block)
    list_close(const __grid_constant__ NearRowsView a, const __grid_constant__ NearRules<N> rules,
               const std::int64_t* begin, std::int32_t* panel) {
  for_close_pairs(a, blockIdx.x, rules, [&](std::int32_t i, int k, std::int32_t number) {
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

template <class Entry, Trace source>
__global__ void __launch_bounds__(threads_per_block)
    integrate_close(const __grid_constant__ NearRowsView a,
                    const __grid_constant__ CloseRules rules, const std::int64_t* begin,
                    const std::int32_t* panel, std::int64_t pairs, Entry* value) {
  const std::int64_t k = thread_index();
  if (k < pairs)
    value[k] = static_cast<Entry>(
        close_integral<source>(a, rules, target_of(begin, a.targets.count, k), panel[k]));
}

/// Of the k-th pair in the order of the panels, which was the number[k]-th.
template <class Entry>
__global__ void reorder_close(PointsView<double> targets, const std::int64_t* begin,
                              const std::int32_t* number, const Entry* value, std::int64_t pairs,
                              std::int32_t* panel, Entry* by_panel) {
  const std::int64_t k = thread_index();
  if (k >= pairs) return;
  panel[k] = targets.order[target_of(begin, targets.count, number[k])];
  by_panel[k] = value[number[k]];
}

/// A block for each row. It collects the places of marks until there is one for each thread, so
/// that no thread is idle while others integrate.
template <class Entry, Trace source>
__global__ void __launch_bounds__(threads_per_block)
    integrate_marked_row(const __grid_constant__ NearRowsView a,
                         const __grid_constant__ CloseRules rules, const std::int64_t* panels_begin,
                         const std::int32_t* panels, Entry* entries) {
  constexpr int each = 16, looked_at = each * threads_per_block;  // at a time
  __shared__ std::int64_t s_marked[threads_per_block + looked_at];
  __shared__ int s_count;
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.targets_of(row);
  const int n = targets.y - targets.x, thread = static_cast<int>(threadIdx.x);
  entries += a.pairs_before[row];
  panels += panels_begin[row];
  const std::int64_t count = a.pairs_before[row + 1] - a.pairs_before[row];
  if (thread == 0) s_count = 0;
  __syncthreads();
  for (std::int64_t first = 0; first < count; first += looked_at) {
    const std::int64_t own = first + thread;
    Entry entry[each];
#pragma unroll
    for (int k = 0; k < each; ++k)
      entry[k] = own + k * threads_per_block < count ? entries[own + k * threads_per_block] : 0;
#pragma unroll
    for (int k = 0; k < each; ++k)
      if (entry[k] == close_mark<Entry>)
        s_marked[atomicAdd(&s_count, 1)] = own + k * threads_per_block;
    __syncthreads();
    const int marked = s_count;
    const int rest = first + looked_at < count ? marked % threads_per_block : 0;
    for (int m = rest + thread; m < marked; m += threads_per_block) {
      const std::int64_t at = s_marked[m];
      entries[at] =
          static_cast<Entry>(close_integral<source>(a, rules, targets.x + at % n, panels[at / n]));
    }
    __syncthreads();
    if (thread == 0) s_count = rest;
    __syncthreads();
  }
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
  with_trace(view.source, [&]<Trace source>(std::integral_constant<Trace, source>) {
    launch(integrate_close<Entry, source>, blocks_for(n), threads_per_block, 0, stream, view,
           CloseRules(tolerance), pairs.begin.data(), pairs.panel.data(), n, values.data());
  });
  return values;
}

template <class Entry>
ClosePairs transposed_pairs(const NearRowsView& view, const ClosePairs& pairs, const Entry* values,
                            DeviceBuffer<Entry>& by_panel, cudaStream_t stream) {
  const auto n = static_cast<std::int64_t>(pairs.panel.size());
  Grouped by_number(pairs.panel, view.panels, stream);
  ClosePairs transposed{std::move(by_number.begin), DeviceBuffer<std::int32_t>(n, stream)};
  by_panel = DeviceBuffer<Entry>(n, stream);
  launch(reorder_close<Entry>, blocks_for(n), threads_per_block, 0, stream, view.targets,
         pairs.begin.data(), by_number.number.data(), values, n, transposed.panel.data(),
         by_panel.data());
  return transposed;
}

template <class Entry>
void integrate_marked(const NearRowsView& view, std::int64_t rows, const std::int64_t* panels_begin,
                      const std::int32_t* panels, double tolerance, Entry* entries,
                      cudaStream_t stream) {
  with_trace(view.source, [&]<Trace source>(std::integral_constant<Trace, source>) {
    launch(integrate_marked_row<Entry, source>, static_cast<unsigned>(rows), threads_per_block, 0,
           stream, view, CloseRules(tolerance), panels_begin, panels, entries);
  });
}

template ClosePairs find_close_pairs(const NearRowsView&, std::int64_t, const NearRules<double>&,
                                     cudaStream_t);
template ClosePairs find_close_pairs(const NearRowsView&, std::int64_t, const NearRules<float>&,
                                     cudaStream_t);
template DeviceBuffer<double> integrate_close_pairs(const NearRowsView&, const ClosePairs&, double,
                                                    cudaStream_t);
template DeviceBuffer<float> integrate_close_pairs(const NearRowsView&, const ClosePairs&, double,
                                                   cudaStream_t);
template ClosePairs transposed_pairs(const NearRowsView&, const ClosePairs&, const double*,
                                     DeviceBuffer<double>&, cudaStream_t);
template ClosePairs transposed_pairs(const NearRowsView&, const ClosePairs&, const float*,
                                     DeviceBuffer<float>&, cudaStream_t);
template void integrate_marked(const NearRowsView&, std::int64_t, const std::int64_t*,
                               const std::int32_t*, double, double*, cudaStream_t);
template void integrate_marked(const NearRowsView&, std::int64_t, const std::int64_t*,
                               const std::int32_t*, double, float*, cudaStream_t);

}  // namespace fmbem::cuda::bem
