// The near field of V where long panels are cut into pieces.
#include "fmbem/bem/near/cuda/column_integral.cuh"
#include "fmbem/bem/near/cuda/near_products.cuh"
#include "fmbem/bem/near/cuda/piece_near_field.cuh"

namespace fmbem::cuda::bem {
namespace {

__global__ void make_strips(const __grid_constant__ NearRowsView a, PiecesView pieces,
                            Strip* strips) {
  const std::int64_t j = thread_index();
  if (j < a.panels) strips[j] = pieces.strip_of(j, scaled_triangle(a, j));
}

__global__ void make_stretches(ColumnsView columns, double scale, std::int64_t n,
                               Stretch* stretches) {
  const std::int64_t column = thread_index();
  if (column >= n) return;
  if (!columns.pieces.is_cut(columns.panel[column]))
    stretches[column].next = Stretch::whole;
  else
    stretches[column] = columns.stretch_from(columns.pieces_begin[column], column, scale);
}

/// The integrals of columns, made anew for whoever asks.
class ColumnIntegrals {
 public:
  ColumnIntegrals(const PanelStore& panels, const SpreadTree& tree, const DevicePieces& pieces,
                  const PieceColumns& columns, double tolerance, cudaStream_t stream)
      : strips_(panels.size(), stream),
        stretches_(columns.panel.size(), stream),
        view_{rows_of(panels, tree, {}),
              {columns.begin.data(), columns.panel.data(), columns.pieces_begin.data(),
               columns.piece.data(), pieces.view()},
              NearRules<double>(tolerance, {}),
              CloseRules(tolerance),
              strips_.data(),
              stretches_.data()} {
    const auto n = static_cast<std::int64_t>(stretches_.size());
    launch(make_strips, blocks_for(panels.size()), threads_per_block, 0, stream, view_.rows,
           pieces.view(), strips_.data());
    launch(make_stretches, blocks_for(n), threads_per_block, 0, stream, view_.columns, tree.scale,
           n, stretches_.data());
  }
  const IntegrationView& view() const { return view_; }
  std::int64_t bytes() const { return strips_.bytes() + stretches_.bytes(); }

 private:
  DeviceBuffer<Strip> strips_;
  DeviceBuffer<Stretch> stretches_;
  IntegrationView view_;
};

/// Blocks of a multiprocessor: with more registers for each thread, too few hide their latencies.
constexpr int integrating_blocks = 5;

/// Entries of a block, whatever their rows, as rows are of very different sizes.
constexpr int entries_of_block = 64 * threads_per_block;

/// `entries_before`: [rows + 1]; the entries of a row are [columns][targets].
template <class Entry>
__global__ void __launch_bounds__(threads_per_block, integrating_blocks)
    integrate_columns(const __grid_constant__ IntegrationView a, std::int32_t rows,
                      const std::int64_t* entries_before, Entry* entries) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * entries_of_block,
                     all = entries_before[rows],
                     end = first + entries_of_block < all ? first + entries_of_block : all;
  std::int32_t row = lower_bound(entries_before, 0, rows + 1, first + 1) - 1;
  std::int64_t column = 0, row_end = 0;
  int2 targets{0, 1};
  int i = 0;
  for (std::int64_t k = first + threadIdx.x; k < end; k += threads_per_block) {
    if (k < row_end) {
      const int n = targets.y - targets.x;
      i += threads_per_block % n;
      column += threads_per_block / n;
      if (i >= n) {
        i -= n;
        ++column;
      }
    } else {
      while (k >= entries_before[row + 1]) ++row;
      row_end = entries_before[row + 1];
      targets = a.rows.targets_of(row);
      const std::int64_t of_row = k - entries_before[row];
      column = a.columns.begin[row] + of_row / (targets.y - targets.x);
      i = static_cast<int>(of_row % (targets.y - targets.x));
    }
    entries[k] = static_cast<Entry>(column_integral(a, column, targets.x + i));
  }
}

template <int Vectors>
__global__ void __launch_bounds__(threads_per_block)
    multiply_columns(const __grid_constant__ IntegrationView a, const double* x,
                     const double* factor, double* y) {
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.rows.targets_of(row);
  const int n = targets.y - targets.x;
  for (int done = 0; done < n; done += blockDim.x) {
    const Share share(n - done);
    double sum[Vectors] = {};
    for (std::int64_t c = a.columns.begin[row] + share.group;
         share.works && c < a.columns.begin[row + 1]; c += share.groups) {
      const double value = column_integral(a, c, targets.x + done + share.target);
#pragma unroll
      for (int v = 0; v < Vectors; ++v) sum[v] += x[v * a.rows.panels + a.columns.panel[c]] * value;
    }
    write_sums<Vectors, threads_per_block>(share, sum, [&](int v, double total) {
      y[v * a.rows.targets.count + targets.x + done + share.target] = factor[v] * total;
    });
  }
}

/// Where stored entries are: row after row, [columns][targets].
template <class Entry>
struct StoredColumns {
  const Entry* entries;
  const std::int64_t* entries_before;
  const std::int64_t* begin;
};

/// That of a column and the i-th target of its row: stored, or integrated.
template <class Entry>
__device__ inline double column_entry(const StoredColumns<Entry>& a, std::int64_t row,
                                      std::int64_t column, int2 targets, int i) {
  return static_cast<double>(
      a.entries[a.entries_before[row] + (column - a.begin[row]) * size_of(targets) + i]);
}
__device__ inline double column_entry(const IntegrationView& a, std::int64_t /*row*/,
                                      std::int64_t column, int2 targets, int i) {
  return column_integral(a, column, targets.x + i);
}

/// Sums of each column over its row's targets, [vectors][columns]: a block a row.
template <int Vectors, class Entries>
__global__ void __launch_bounds__(threads_per_block)
    sum_columns(const __grid_constant__ NearRowsView a, const std::int64_t* begin,
                std::int64_t columns, const __grid_constant__ Entries entries, const double* x,
                double* sums) {
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.targets_of(row);
  const int lane = threadIdx.x % column_group, group = threadIdx.x / column_group;
  for (std::int64_t first = begin[row]; first < begin[row + 1];
       first += blockDim.x / column_group) {
    const std::int64_t column = first + group;
    const bool works = column < begin[row + 1];
    double sum[Vectors] = {};
    for (int i = lane; works && i < size_of(targets); i += column_group) {
      const double value = column_entry(entries, row, column, targets, i);
#pragma unroll
      for (int v = 0; v < Vectors; ++v)
        sum[v] += x[v * a.targets.count + a.targets.order[targets.x + i]] * value;
    }
#pragma unroll
    for (int v = 0; v < Vectors; ++v) {
      const double total = sum_of_group(sum[v]);
      if (works && lane == 0) sums[v * columns + column] = total;
    }
  }
}

/// Adds up the columns of each panel.
__global__ void gather_columns(std::int64_t panels, const std::int64_t* begin,
                               const std::int32_t* column, std::int64_t columns, const double* sums,
                               const double* factor, double* y) {
  const std::int64_t j = thread_index(), v = blockIdx.y;
  if (j >= panels) return;
  double sum = 0;
  for (std::int64_t k = begin[j]; k < begin[j + 1]; ++k) sum += sums[v * columns + column[k]];
  y[v * panels + j] = factor[v] * sum;
}

template <class Entries>
void multiply_columns_transposed(const NearRowsView& view, std::int64_t rows,
                                 const PieceColumns& columns, const Grouped& of_panels,
                                 const Entries& entries, const double* x, int vectors,
                                 const double* factor, double* y, cudaStream_t stream) {
  const auto n = static_cast<std::int64_t>(columns.panel.size());
  DeviceBuffer<double> sums(most_together * n, stream);
  for_groups(vectors, [&]<int Together>(std::integral_constant<int, Together>, int v) {
    launch(sum_columns<Together, Entries>, static_cast<unsigned>(rows), threads_per_block, 0,
           stream, view, columns.begin.data(), n, entries, x + v * view.targets.count, sums.data());
    launch(gather_columns, dim3(blocks_for(view.panels), Together), threads_per_block, 0, stream,
           view.panels, of_panels.begin.data(), of_panels.number.data(), n, sums.data(), factor + v,
           y + v * view.panels);
  });
}

template <class Entry>
class StoredPieceNearField final : public NearField {
 public:
  StoredPieceNearField(const PanelStore& panels, const SpreadTree& tree, const DevicePieces& pieces,
                       const PieceColumns& columns, double tolerance, cudaStream_t stream)
      : rows_(tree.rows()),
        view_(rows_of(panels, tree, {})),
        columns_(columns),
        entries_(columns.entries, stream) {
    view_.pairs_before = columns.entries_before.data();
    const ColumnIntegrals integrals(panels, tree, pieces, columns, tolerance, stream);
    launch(integrate_columns<Entry>, blocks_for(columns.entries, entries_of_block),
           threads_per_block, 0, stream, integrals.view(), static_cast<std::int32_t>(rows_),
           columns.entries_before.data(), entries_.data());
  }
  void multiply(const double* x, int vectors, const double* factor, double* y,
                cudaStream_t stream) const override {
    multiply_stored_rows(view_, rows_, entries_.data(),
                         {columns_.begin.data(), columns_.panel.data()}, x, vectors, factor, y,
                         stream);
  }
  void multiply_transposed(const TransposedLists& lists, const double* x, int vectors,
                           const double* factor, double* y, cudaStream_t stream) override {
    multiply_columns_transposed(
        view_, rows_, columns_, *lists.columns,
        StoredColumns<Entry>{entries_.data(), columns_.entries_before.data(),
                             columns_.begin.data()},
        x, vectors, factor, y, stream);
  }
  std::int64_t bytes() const override { return entries_.bytes() + columns_.bytes(); }

 private:
  std::int64_t rows_;
  NearRowsView view_;
  const PieceColumns& columns_;
  DeviceBuffer<Entry> entries_;
};

class LeanPieceNearField final : public NearField {
 public:
  LeanPieceNearField(const PanelStore& panels, const SpreadTree& tree, const DevicePieces& pieces,
                     const PieceColumns& columns, double tolerance, cudaStream_t stream)
      : integrals_(panels, tree, pieces, columns, tolerance, stream),
        columns_(columns),
        rows_(tree.rows()) {}
  void multiply(const double* x, int vectors, const double* factor, double* y,
                cudaStream_t stream) const override {
    for_groups(vectors, [&]<int Together>(std::integral_constant<int, Together>, int v) {
      launch(multiply_columns<Together>, static_cast<unsigned>(rows_), threads_per_block, 0, stream,
             view(), x + v * view().rows.panels, factor + v, y + v * view().rows.targets.count);
    });
  }
  void multiply_transposed(const TransposedLists& lists, const double* x, int vectors,
                           const double* factor, double* y, cudaStream_t stream) override {
    multiply_columns_transposed(view().rows, rows_, columns_, *lists.columns, view(), x, vectors,
                                factor, y, stream);
  }
  std::int64_t bytes() const override { return integrals_.bytes(); }

 private:
  const IntegrationView& view() const { return integrals_.view(); }

  ColumnIntegrals integrals_;
  const PieceColumns& columns_;
  std::int64_t rows_;
};

}  // namespace

template <class Entry>
std::unique_ptr<NearField> make_stored_piece_near_field(const PanelStore& panels,
                                                        const SpreadTree& tree,
                                                        const DevicePieces& pieces,
                                                        const PieceColumns& columns,
                                                        double tolerance, cudaStream_t stream) {
  return std::make_unique<StoredPieceNearField<Entry>>(panels, tree, pieces, columns, tolerance,
                                                       stream);
}
template std::unique_ptr<NearField> make_stored_piece_near_field<float>(const PanelStore&,
                                                                        const SpreadTree&,
                                                                        const DevicePieces&,
                                                                        const PieceColumns&, double,
                                                                        cudaStream_t);
template std::unique_ptr<NearField> make_stored_piece_near_field<double>(const PanelStore&,
                                                                         const SpreadTree&,
                                                                         const DevicePieces&,
                                                                         const PieceColumns&,
                                                                         double, cudaStream_t);

std::unique_ptr<NearField> make_lean_piece_near_field(const PanelStore& panels,
                                                      const SpreadTree& tree,
                                                      const DevicePieces& pieces,
                                                      const PieceColumns& columns, double tolerance,
                                                      cudaStream_t stream) {
  return std::make_unique<LeanPieceNearField>(panels, tree, pieces, columns, tolerance, stream);
}

}  // namespace fmbem::cuda::bem
