#include "fmbem/bem/near/cuda/close_integral.cuh"
#include "fmbem/bem/near/cuda/close_lists.cuh"
#include "fmbem/bem/near/cuda/grouped.cuh"
#include "fmbem/bem/near/cuda/marked_pairs.cuh"
#include "fmbem/bem/near/cuda/near_rows.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Counts are zero before.
template <class N, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    count_close(const __grid_constant__ NearRowsView a, const NearPanel<N, Trace::value>* packed,
                const __grid_constant__ NearRules<N, Kernel> rules, std::int64_t* count) {
  for_close_pairs(a, blockIdx.x, packed, rules,
                  [&](std::int32_t i, int k, std::int32_t) { count[i] = k + 1; });
}

template <class N, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    list_close(const __grid_constant__ NearRowsView a, const NearPanel<N, Trace::value>* packed,
               const __grid_constant__ NearRules<N, Kernel> rules, const std::int64_t* begin,
               std::int32_t* panel) {
  for_close_pairs(a, blockIdx.x, packed, rules, [&](std::int32_t i, int k, std::int32_t number) {
    panel[begin[i] + k] = number;
  });
}

template <class Entry, Trace source, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    integrate_close(const __grid_constant__ NearRowsView a,
                    const __grid_constant__ CloseRules rules, const std::int64_t* begin,
                    const std::int32_t* panel, std::int64_t pairs, Entry* value) {
  const std::int64_t k = thread_index();
  if (k < pairs)
    value[k] = static_cast<Entry>(
        close_integral<source, Kernel>(a, rules, target_of(begin, a.targets.count, k), panel[k]));
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

/// A block for each row.
template <class Entry, Trace source, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    integrate_marked_row(const __grid_constant__ NearRowsView a,
                         const __grid_constant__ CloseRules rules, const std::int64_t* panels_begin,
                         const std::int32_t* panels, Entry* entries) {
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.targets_of(row);
  const int n = targets.y - targets.x;
  entries += a.pairs_before[row];
  panels += panels_begin[row];
  for_marked(
      a.pairs_before[row + 1] - a.pairs_before[row],
      [&](std::int64_t at) { return entries[at] == close_mark<Entry>; },
      [&](std::int64_t at) {
        entries[at] = static_cast<Entry>(
            close_integral<source, Kernel>(a, rules, targets.x + at % n, panels[at / n]));
      });
}

}  // namespace

template <class N, class Kernel>
ClosePairs find_close_pairs(const NearRowsView& view, std::int64_t rows,
                            const PackedPanels<N, Trace::value>& packed,
                            const NearRules<N, Kernel>& rules, cudaStream_t stream) {
  const std::int64_t targets = view.targets.count;
  ClosePairs pairs;
  pairs.begin = DeviceBuffer<std::int64_t>(targets + 1, stream);
  DeviceBuffer<std::int64_t> count(targets + 1, stream);
  count.fill_bytes(0);
  const auto blocks = static_cast<unsigned>(rows);
  launch(count_close<N, Kernel>, blocks, threads_per_block, 0, stream, view, packed.data(), rules,
         count.data());
  exclusive_sum(count.data(), pairs.begin.data(), targets + 1, stream);
  pairs.panel =
      DeviceBuffer<std::int32_t>(download_one(pairs.begin.data() + targets, stream), stream);
  launch(list_close<N, Kernel>, blocks, threads_per_block, 0, stream, view, packed.data(), rules,
         pairs.begin.data(), pairs.panel.data());
  return pairs;
}

template <class Entry>
DeviceBuffer<Entry> integrate_close_pairs(const NearRowsView& view, const ClosePairs& pairs,
                                          double tolerance, cudaStream_t stream) {
  const auto n = static_cast<std::int64_t>(pairs.panel.size());
  DeviceBuffer<Entry> values(n, stream);
  with_trace(view.kernel.source, [&]<Trace source>(std::integral_constant<Trace, source>) {
    launch(view.kernel.kappa == 0 ? integrate_close<Entry, source, fmm::Laplace>
                                  : integrate_close<Entry, source, fmm::Yukawa>,
           blocks_for(n), threads_per_block, 0, stream, view, CloseRules(tolerance),
           pairs.begin.data(), pairs.panel.data(), n, values.data());
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
  with_trace(view.kernel.source, [&]<Trace source>(std::integral_constant<Trace, source>) {
    launch(view.kernel.kappa == 0 ? integrate_marked_row<Entry, source, fmm::Laplace>
                                  : integrate_marked_row<Entry, source, fmm::Yukawa>,
           static_cast<unsigned>(rows), threads_per_block, 0, stream, view, CloseRules(tolerance),
           panels_begin, panels, entries);
  });
}

template ClosePairs find_close_pairs(const NearRowsView&, std::int64_t,
                                     const PackedPanels<double, Trace::value>&,
                                     const NearRules<double>&, cudaStream_t);
template ClosePairs find_close_pairs(const NearRowsView&, std::int64_t,
                                     const PackedPanels<double, Trace::value>&,
                                     const NearRules<double, fmm::Yukawa>&, cudaStream_t);
template ClosePairs find_close_pairs(const NearRowsView&, std::int64_t,
                                     const PackedPanels<float, Trace::value>&,
                                     const NearRules<float>&, cudaStream_t);
template ClosePairs find_close_pairs(const NearRowsView&, std::int64_t,
                                     const PackedPanels<float, Trace::value>&,
                                     const NearRules<float, fmm::Yukawa>&, cudaStream_t);
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
