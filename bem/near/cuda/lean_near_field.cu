// The near field, lean: a block for each row, that is for each leaf with targets.
#include <algorithm>
#include <optional>

#include "fmbem/bem/near/cuda/close_lists.cuh"
#include "fmbem/bem/near/cuda/near_field.cuh"
#include "fmbem/bem/near/cuda/near_products.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Integrates the pairs that rules serve; close pairs are added later.
template <class N, Trace source, class Kernel, int Vectors>
__global__ void __launch_bounds__(integrating_threads<N, source>,
                                  integrating_blocks<N, source, Vectors>)
    multiply_by_rules(const __grid_constant__ NearRowsView a, const NearPanel<N, source>* packed,
                      const __grid_constant__ NearRules<N, Kernel> rules, const double* x,
                      const double* factor, double* y) {
  struct Charged {
    SharedPanels<N, source, integrating_threads<N, source>> panels;
    N x[Vectors][integrating_threads<N, source>];
  };
  auto& shared = static_shared<Charged>();
  for_chunks_of_targets(a, [&](const Share& share, int number) {
    const auto target = PrecisePoint<N>::of(a.target(number));
    double sum[Vectors] = {};
    N part[Vectors] = {};
    for_panels(a, blockIdx.x, packed, panels_at_once<N, source>(share), shared.panels,
               [&](auto& panels, int some) {
                 const int pairs = fill_up(panels, some, share);
                 for (int j = threadIdx.x; j < pairs * share.groups; j += blockDim.x)
#pragma unroll
                   for (int v = 0; v < Vectors; ++v) {
                     // Times the factor, which takes it to about 1.
                     const N strength =
                         j < some ? static_cast<N>(factor[v] * x[v * a.panels + panels.number[j]])
                                  : N(0);
                     if constexpr (Vectors > 1)
                       shared.x[v][j] = strength;
                     else if (j < some)
                       panels.panel[j].weight = strength * panels.panel[j].weight;
                   }
                 __syncthreads();
                 for_integrals(
                     rules, pairs_of(panels, target), pairs, share,
                     [&](int j, N value) {
                       if constexpr (Vectors == 1)
                         part[0] += value;
                       else
#pragma unroll
                         for (int v = 0; v < Vectors; ++v) part[v] += shared.x[v][j] * value;
                     },
                     [](int) {},
                     [&] {
#pragma unroll
                       for (int v = 0; v < Vectors; ++v) {
                         sum[v] += static_cast<double>(part[v]);
                         part[v] = 0;
                       }
                     });
               });
    write_sums<Vectors, integrating_threads<N, source>>(
        share, sum, [&](int v, double total) { y[v * a.targets.count + number] = total; });
  });
}

/// The same transposed, a block for each box with sources of its own: each thread has a panel, and
/// targets go through shared memory.
template <class N, Trace source, class Kernel, int Vectors>
__global__ void __launch_bounds__(integrating_threads<N, source>,
                                  integrating_blocks<N, source, Vectors>)
    multiply_by_rules_transposed(const __grid_constant__ NearRowsView a,
                                 const __grid_constant__ NearRules<N, Kernel> rules,
                                 const __grid_constant__ NearTilesView near, const double* x,
                                 const double* factor, double* y) {
  struct Charged {
    PrecisePoint<N> target[integrating_threads<N, source>];
    N x[Vectors][integrating_threads<N, source>];
  };
  auto& shared = static_shared<Charged>();
  const int2 own = a.tree.own_sources(near.boxes[blockIdx.x]);
  const NearTile* const tiles = near.tiles + near.begin[blockIdx.x];
  const auto n_tiles = static_cast<int>(near.begin[blockIdx.x + 1] - near.begin[blockIdx.x]);
  for (int done = 0; done < size_of(own); done += blockDim.x) {
    const Share share(size_of(own) - done);
    const std::int64_t number = a.source_order[own.x + done + share.target];
    const NearPanel<N, source> panel = near_panel<N, source>(a, rules, number);
    double sum[Vectors] = {};
    N part[Vectors] = {};
    for_ranges(
        n_tiles, [&](int k) { return a.targets_of(tiles[k].row); },
        panels_at_once<N, source>(share),
        [&](int at, int place, int) {
          shared.target[place] = PrecisePoint<N>::of(a.target(at));
#pragma unroll
          for (int v = 0; v < Vectors; ++v)
            // Times the factor, which takes it to about 1.
            shared.x[v][place] =
                static_cast<N>(factor[v] * x[v * a.targets.count + a.targets.order[at]]);
        },
        [&](int some) {
          // Fills up with targets that have no effect, until each group has as many.
          const int pairs = (some + share.groups - 1) / share.groups;
          for (int j = some + static_cast<int>(threadIdx.x); j < pairs * share.groups;
               j += blockDim.x) {
            shared.target[j] = PrecisePoint<N>::of({far_away, far_away, far_away});
#pragma unroll
            for (int v = 0; v < Vectors; ++v) shared.x[v][j] = 0;
          }
          __syncthreads();
          for_integrals(
              rules,
              [&](int j) {
                return NearPair<N, source>{panel, panel.centroid - shared.target[j]};
              },
              pairs, share,
              [&](int j, N value) {
#pragma unroll
                for (int v = 0; v < Vectors; ++v) part[v] += shared.x[v][j] * value;
              },
              [](int) {},
              [&] {
#pragma unroll
                for (int v = 0; v < Vectors; ++v) {
                  sum[v] += static_cast<double>(part[v]);
                  part[v] = 0;
                }
              });
        });
    write_sums<Vectors, integrating_threads<N, source>>(
        share, sum, [&](int v, double total) { y[v * a.panels + number] = total; });
  }
}

/// Adds the close pairs of rows, whose entries are in some columns: of targets or, transposed, of
/// panels.
template <class Entry, int Vectors>
__global__ void __launch_bounds__(threads_per_block)
    add_close(std::int64_t rows, std::int64_t columns, const std::int64_t* begin,
              const std::int32_t* column, const Entry* value, const double* x, const double* factor,
              double* y) {
  const std::int64_t i = thread_index() / close_group;
  const bool works = i < rows;
  double sum[Vectors] = {};
  for (std::int64_t k = works ? begin[i] + threadIdx.x % close_group : 0; works && k < begin[i + 1];
       k += close_group)
#pragma unroll
    for (int v = 0; v < Vectors; ++v)
      sum[v] += x[v * columns + column[k]] * static_cast<double>(value[k]);
#pragma unroll
  for (int v = 0; v < Vectors; ++v) {
    const double all = sum_of_close(sum[v]);
    if (works && threadIdx.x % close_group == 0) y[v * rows + i] += factor[v] * all;
  }
}

/// Close pairs of some rows with their entries.
template <class N>
class CloseEntries {
 public:
  template <class Kernel>
  CloseEntries(const NearRowsView& view, std::int64_t rows,
               const PackedPanels<N, Trace::value>& packed, const NearRules<N, Kernel>& rules,
               double tolerance, cudaStream_t stream)
      : pairs_(find_close_pairs(view, rows, packed, rules, stream)),
        values_(integrate_close_pairs<N>(view, pairs_, tolerance, stream)) {}
  /// Lists the same pairs panel after panel, with the panels of the targets. Waits for the stream.
  CloseEntries transposed(const NearRowsView& view, cudaStream_t stream) const {
    CloseEntries by_panel;
    by_panel.pairs_ = transposed_pairs(view, pairs_, values_.data(), by_panel.values_, stream);
    return by_panel;
  }
  /// Adds the close pairs' part to the products of all targets or, transposed, of all panels, with
  /// x of so many columns.
  void add(std::int64_t columns, const double* x, int vectors, const double* factor, double* y,
           cudaStream_t stream) const {
    const auto rows = static_cast<std::int64_t>(pairs_.begin.size()) - 1;
    for_groups(vectors, [&]<int Together>(std::integral_constant<int, Together>, int v) {
      launch(add_close<N, Together>, blocks_for(rows, threads_per_block / close_group),
             threads_per_block, 0, stream, rows, columns, pairs_.begin.data(), pairs_.panel.data(),
             values_.data(), x + v * columns, factor + v, y + v * rows);
    });
  }
  std::int64_t bytes() const { return pairs_.bytes() + values_.bytes(); }

 private:
  CloseEntries() = default;

  ClosePairs pairs_;
  DeviceBuffer<N> values_;
};

/// In N, the entries of close pairs too.
template <class N, Trace source, class Kernel>
class LeanNearField final : public NearField {
 public:
  LeanNearField(const PanelStore& panels, const SpreadTree& tree, const PanelKernel& kernel,
                double tolerance, ClosePairStorage close, cudaStream_t stream)
      : tree_(tree),
        rows_(tree.rows()),
        pairs_(tree.near.pairs),
        view_(rows_of(panels, tree, kernel)),
        rules_(rules_for<N, Kernel>(tolerance, view_.kernel)),
        tolerance_(own_tolerance<N>(tolerance, view_.kernel)) {
    if (close == ClosePairStorage::entries)
      close_.emplace(view_, rows_, PackedPanels<N, Trace::value>(view_, rules_, stream), rules_,
                     tolerance_, stream);
  }
  void multiply(const double* x, int vectors, const double* factor, double* y,
                cudaStream_t stream) const override {
    const PackedPanels<N, source> packed(view_, rules_, stream);
    for_groups(vectors, [&]<int Together>(std::integral_constant<int, Together>, int v) {
      launch(multiply_by_rules<N, source, Kernel, Together>, static_cast<unsigned>(rows_),
             integrating_threads<N, source>, 0, stream, view_, packed.data(), rules_,
             x + v * view_.panels, factor + v, y + v * view_.targets.count);
    });
    if (close_) return close_->add(view_.panels, x, vectors, factor, y, stream);
    for_close_parts(stream, [&](const CloseEntries<N>& close) {
      close.add(view_.panels, x, vectors, factor, y, stream);
    });
  }
  void multiply_transposed(const TransposedLists& lists, const double* x, int vectors,
                           const double* factor, double* y, cudaStream_t stream) override {
    const NearTilesView near = lists.tiles_of(tree_);
    for_groups(vectors, [&]<int Together>(std::integral_constant<int, Together>, int v) {
      launch(multiply_by_rules_transposed<N, source, Kernel, Together>,
             static_cast<unsigned>(near.n_boxes), integrating_threads<N, source>, 0, stream, view_,
             rules_, near, x + v * view_.targets.count, factor + v, y + v * view_.panels);
    });
    const std::int64_t columns = view_.targets.count;
    if (close_) {
      if (!close_by_panel_) close_by_panel_.emplace(close_->transposed(view_, stream));
      return close_by_panel_->add(columns, x, vectors, factor, y, stream);
    }
    for_close_parts(stream, [&](const CloseEntries<N>& close) {
      close.transposed(view_, stream).add(columns, x, vectors, factor, y, stream);
    });
  }
  std::int64_t bytes() const override {
    return (close_ ? close_->bytes() : 0) + (close_by_panel_ ? close_by_panel_->bytes() : 0);
  }

 private:
  /// Calls body(close pairs) for the pairs of some rows at a time.
  template <class Body>
  void for_close_parts(cudaStream_t stream, Body&& body) const {
    const std::int64_t parts = pairs_ / pairs_at_once + 1, some = (rows_ + parts - 1) / parts;
    const PackedPanels<N, Trace::value> packed(view_, rules_, stream);
    for (std::int64_t first = 0; first < rows_; first += some)
      body(CloseEntries<N>(view_.from(first), std::min(some, rows_ - first), packed, rules_,
                           tolerance_, stream));
  }

  /// Near pairs that are searched for close ones at a time; about a tenth of them are close.
  static constexpr std::int64_t pairs_at_once = std::int64_t{1} << 26;

  const SpreadTree& tree_;
  std::int64_t rows_, pairs_;
  NearRowsView view_;
  NearRules<N, Kernel> rules_;
  double tolerance_;
  std::optional<CloseEntries<N>> close_;
  std::optional<CloseEntries<N>> close_by_panel_;  ///< from the first transposed product on
};

}  // namespace

Precision lean_precision_for(double tolerance, const PanelKernel& kernel, Precision wanted) {
  return wanted == Precision::single_precision && rules_in_single(tolerance, kernel)
             ? Precision::single_precision
             : Precision::double_precision;
}

std::optional<double> lean_tolerance_in_single(double own, const PanelKernel& kernel) {
  constexpr double part = 0.5;
  if (kernel.kappa > 0 || norm_of_single_rules > part * own) return {};
  return own + single_rule_rounding(kernel);
}

std::unique_ptr<NearField> make_lean_near_field(const PanelStore& panels, const SpreadTree& tree,
                                                const PanelKernel& kernel, double tolerance,
                                                Precision precision, ClosePairStorage close,
                                                cudaStream_t stream) {
  std::unique_ptr<NearField> result;
  with_trace(kernel.source, [&]<Trace source>(std::integral_constant<Trace, source>) {
    fmm::with_kernel(kernel.kappa, [&]<class Kernel>(Kernel) {
      if (precision == Precision::single_precision)
        result = std::make_unique<LeanNearField<float, source, Kernel>>(panels, tree, kernel,
                                                                        tolerance, close, stream);
      else
        result = std::make_unique<LeanNearField<double, source, Kernel>>(panels, tree, kernel,
                                                                         tolerance, close, stream);
    });
  });
  return result;
}

}  // namespace fmbem::cuda::bem
