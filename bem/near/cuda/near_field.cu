// The near field, stored: a block for each row, that is for each leaf with targets.
#include "fmbem/bem/near/cuda/integrate_rows.cuh"
#include "fmbem/bem/near/cuda/near_field.cuh"
#include "fmbem/bem/near/cuda/stored_together.cuh"
#include "fmbem/bem/near/cuda/transposed_columns.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Where the sources of each row begin among those of all rows.
__global__ void count_sources(NearRowsView a, std::int64_t rows, std::int64_t* count) {
  const std::int64_t row = thread_index();
  if (row >= rows) return;
  const int2 targets = a.targets_of(row);
  count[row] = (a.pairs_before[row + 1] - a.pairs_before[row]) / (targets.y - targets.x);
}

/// The sources of each row, a warp a row.
__global__ void list_sources(NearRowsView a, std::int64_t rows, const std::int64_t* begin,
                             std::int32_t* sources) {
  const std::int64_t row = thread_index() / warp_size;
  if (row >= rows) return;
  std::int32_t* out = sources + begin[row];
  for (std::int64_t e = a.lists.begin[row]; e < a.lists.begin[row + 1]; ++e) {
    const NearEntry entry = a.lists.entries[e];
    for (int j = threadIdx.x % warp_size; j < entry.count; j += warp_size)
      out[j] = a.source_order[entry.begin + j];
    out += entry.count;
  }
}

/// Entries that a thread asks for before it uses them. With fewer, leaves of a few panels would
/// keep the memory idle.
constexpr int entries_ahead = 8;
/// Sources of a row whose strengths are in shared memory at a time.
constexpr int sources_at_once = 1024;

template <class Entry>
__global__ void __launch_bounds__(threads_per_block)
    multiply_stored(const __grid_constant__ NearRowsView a, const Entry* entries,
                    const std::int64_t* panels_begin, const std::int32_t* all_panels,
                    const double* x, const double* factor, double* y) {
  constexpr int room = sources_at_once;
  __shared__ double s_x[room];
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.targets_of(row);
  const int n = targets.y - targets.x;
  const std::int32_t* const panels = all_panels + panels_begin[row];
  const auto count = static_cast<int>(panels_begin[row + 1] - panels_begin[row]);
  for (int done = 0; done < n; done += blockDim.x) {
    const Share share(n - done);
    double sum[1] = {};
    for (int first = 0; first < count; first += room) {
      const int some = min(count - first, room);
      __syncthreads();  // the sources before are done
      for (int k = threadIdx.x; k < some; k += blockDim.x) s_x[k] = x[panels[first + k]];
      __syncthreads();
      const Entry* const block = entries + a.pairs_before[row] +
                                 static_cast<std::int64_t>(first) * n + done + share.target;
      int j = share.works ? share.group : some;
      for (; j + (entries_ahead - 1) * share.groups < some; j += entries_ahead * share.groups) {
        Entry value[entries_ahead];
#pragma unroll
        for (int k = 0; k < entries_ahead; ++k) value[k] = block[(j + k * share.groups) * n];
#pragma unroll
        for (int k = 0; k < entries_ahead; ++k)
          sum[0] += s_x[j + k * share.groups] * static_cast<double>(value[k]);
      }
      for (; j < some; j += share.groups) sum[0] += s_x[j] * static_cast<double>(block[j * n]);
    }
    write_sums<1, threads_per_block>(share, sum, [&](int, double total) {
      y[targets.x + done + share.target] = *factor * total;
    });
  }
}

/// Columns that a warp takes at a time.
constexpr int columns_of_warp = 8;

/// A block for each box with sources of its own.
template <class Entry>
__global__ void __launch_bounds__(column_threads)
    multiply_stored_transposed(const __grid_constant__ NearRowsView a, const Entry* entries,
                               const __grid_constant__ NearTilesView near, const double* x,
                               const double* factor, double* y) {
  multiply_columns<columns_of_warp, 1>(
      a, entries, near, [&](std::int32_t target) { return x[target]; },
      [](double(&sum)[1], double strength, Entry entry) {
        sum[0] += strength * static_cast<double>(entry);
      },
      [&](std::int32_t source, const double(&sum)[1]) { y[source] = *factor * sum[0]; });
}

/// Calls one() for one vector; else together(first vector, how many) for so many at a time.
template <class One, class Together>
void for_vectors_of_entries(int vectors, One&& one, Together&& together) {
  if (vectors == 1) return one();
  for (int first = 0; first < vectors; first += tile_vectors)
    together(first, std::min(tile_vectors, vectors - first));
}

template <class Entry>
class StoredNearField final : public NearField {
 public:
  StoredNearField(const PanelStore& panels, const SpreadTree& tree, const PanelKernel& kernel,
                  double tolerance, cudaStream_t stream)
      : tree_(tree),
        rows_(static_cast<unsigned>(tree.rows())),
        view_(rows_of(panels, tree, kernel)),
        entries_(tree.near.pairs, stream) {
    with_trace(kernel.source, [&]<Trace source>(std::integral_constant<Trace, source>) {
      fmm::with_kernel(kernel.kappa, [&]<class Kernel>(Kernel) {
        if (rules_in_single(tolerance, kernel))
          integrate<float, source, Kernel>(tolerance, stream);
        else
          integrate<double, source, Kernel>(tolerance, stream);
      });
    });
    panels_ = RowSources(view_, rows_, stream);
    integrate_marked(view_, rows_, panels_.begin.data(), panels_.source.data(), tolerance,
                     entries_.data(), stream);
  }
  void multiply(const double* x, int vectors, const double* factor, double* y,
                cudaStream_t stream) const override {
    multiply_stored_rows(view_, rows_, entries_.data(),
                         {panels_.begin.data(), panels_.source.data()}, x, vectors, factor, y,
                         stream);
  }
  void multiply_transposed(const TransposedLists& lists, const double* x, int vectors,
                           const double* factor, double* y, cudaStream_t stream) override {
    const NearTilesView near = lists.tiles_of(tree_);
    const auto boxes = static_cast<unsigned>(near.n_boxes);
    for_vectors_of_entries(
        vectors,
        [&] {
          launch(multiply_stored_transposed<Entry>, boxes, column_threads, 0, stream, view_,
                 entries_.data(), near, x, factor, y);
        },
        [&](int v, int some) {
          launch(multiply_stored_transposed_together<Entry>, boxes, several_threads, 0, stream,
                 view_, entries_.data(), near, x + v * view_.targets.count, some, factor + v,
                 y + v * view_.panels);
        });
  }
  std::int64_t bytes() const override { return entries_.bytes() + panels_.bytes(); }

 private:
  /// Where rules serve, in N.
  template <class N, Trace source, class Kernel>
  void integrate(double tolerance, cudaStream_t stream) {
    const auto rules = rules_for<N, Kernel>(tolerance, view_.kernel);
    const PackedPanels<N, source> packed(view_, rules, stream);
    launch(integrate_rows<Entry, StoredPanels<N, source>, NearRules<N, Kernel>>, rows_,
           integrating_threads<N, source>, 0, stream, view_, packed.data(), rules, entries_.data());
  }

  const SpreadTree& tree_;
  unsigned rows_;
  NearRowsView view_;
  DeviceBuffer<Entry> entries_;
  RowSources panels_;  ///< in the order of the entries
};

}  // namespace

RowSources::RowSources(const NearRowsView& view, std::int64_t rows, cudaStream_t stream)
    : begin(rows + 1, stream) {
  DeviceBuffer<std::int64_t> count(rows + 1, stream);
  count.fill_bytes(0);
  launch(count_sources, blocks_for(rows), threads_per_block, 0, stream, view, rows, count.data());
  exclusive_sum(count.data(), begin.data(), rows + 1, stream);
  source = DeviceBuffer<std::int32_t>(download_one(begin.data() + rows, stream), stream);
  launch(list_sources, blocks_for(rows, warps_per_block), threads_per_block, 0, stream, view, rows,
         begin.data(), source.data());
}

template <class Entry>
void multiply_stored_rows(const NearRowsView& view, std::int64_t rows, const Entry* entries,
                          const RowPanels& panels, const double* x, int vectors,
                          const double* factor, double* y, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(rows);
  for_vectors_of_entries(
      vectors,
      [&] {
        launch(multiply_stored<Entry>, blocks, threads_per_block, 0, stream, view, entries,
               panels.begin, panels.panel, x, factor, y);
      },
      [&](int v, int some) {
        launch(multiply_stored_together<Entry>, blocks, several_threads, 0, stream, view, entries,
               panels.begin, panels.panel, x + v * view.panels, some, factor + v,
               y + v * view.targets.count);
      });
}
template void multiply_stored_rows(const NearRowsView&, std::int64_t, const float*,
                                   const RowPanels&, const double*, int, const double*, double*,
                                   cudaStream_t);
template void multiply_stored_rows(const NearRowsView&, std::int64_t, const double*,
                                   const RowPanels&, const double*, int, const double*, double*,
                                   cudaStream_t);

template <class Entry>
std::unique_ptr<NearField> make_stored_near_field(const PanelStore& panels, const SpreadTree& tree,
                                                  const PanelKernel& kernel, double tolerance,
                                                  cudaStream_t stream) {
  return std::make_unique<StoredNearField<Entry>>(panels, tree, kernel, tolerance, stream);
}
template std::unique_ptr<NearField> make_stored_near_field<float>(const PanelStore&,
                                                                  const SpreadTree&,
                                                                  const PanelKernel&, double,
                                                                  cudaStream_t);
template std::unique_ptr<NearField> make_stored_near_field<double>(const PanelStore&,
                                                                   const SpreadTree&,
                                                                   const PanelKernel&, double,
                                                                   cudaStream_t);

}  // namespace fmbem::cuda::bem
