// The stored near field of charges and dipoles: a block for each row, that is for each leaf with
// targets.
#include "fmbem/bem/near/cuda/close_integral.cuh"
#include "fmbem/bem/near/cuda/green_near_field.cuh"
#include "fmbem/bem/near/cuda/integrate_rows.cuh"
#include "fmbem/bem/near/cuda/marked_pairs.cuh"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cuda::bem {
namespace {

/// Of a pair.
template <class Entry>
struct alignas(2 * sizeof(Entry)) GreenEntries {
  Entry v, k;
};

/// What is read once takes no room in caches.
__device__ inline GreenEntries<float> read_once(const GreenEntries<float>* from) {
  const float2 entries = __ldcs(reinterpret_cast<const float2*>(from));
  return {entries.x, entries.y};
}
__device__ inline GreenEntries<double> read_once(const GreenEntries<double>* from) {
  const double2 entries = __ldcs(reinterpret_cast<const double2*>(from));
  return {entries.x, entries.y};
}

/// Panels in shared memory with the factor of charges, which the rules of dipoles leave out.
template <class N>
struct GreenPanels : StoredPanels<N, Trace::normal> {
  // One fewer than of K alone, as there are more registers to a thread.
  static constexpr int blocks = integrating_blocks<N, Trace::normal> - 1;
  N charge[integrating_threads<N, Trace::normal>];

  __device__ void load(const NearRowsView& a, const NearPanel<N, Trace::normal>* packed, int at,
                       int to) {
    StoredPanels<N, Trace::normal>::load(a, packed, at, to);
    charge[to] = rule_weight<N, Trace::value>(a, this->number[to]);
  }
  template <class Entries>
  __device__ Entries entry(int j, OfBoth<N> integrals) const {
    using Entry = decltype(Entries::v);
    return {static_cast<Entry>(charge[j] * integrals.v), static_cast<Entry>(integrals.k)};
  }
  template <class Entries>
  __device__ static Entries mark() {
    return {close_mark<decltype(Entries::v)>, 0};
  }
};

/// Puts integrals in the place of marks.
template <class Entry, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    integrate_marked_both(const __grid_constant__ NearRowsView a,
                          const __grid_constant__ CloseRules rules, const RowPanels of_rows,
                          GreenEntries<Entry>* entries) {
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.targets_of(row);
  const int n = size_of(targets);
  const std::int32_t* const panels = of_rows.panel + of_rows.begin[row];
  entries += a.pairs_before[row];
  for_marked(
      a.pairs_before[row + 1] - a.pairs_before[row],
      [&](std::int64_t at) { return entries[at].v == close_mark<Entry>; },
      [&](std::int64_t at) {
        const std::int64_t i = targets.x + at % n;
        const std::int32_t panel = panels[at / n];
        const OfBoth<double> both =
            close_integrals<Kernel>(rules, scaled_triangle(a, panel), a.target(i), a.kernel.kappa);
        // K of a panel at its own centroid is the mean of both sides.
        entries[at] = {static_cast<Entry>(both.v),
                       a.own_panel(i) == panel ? Entry(0) : static_cast<Entry>(both.k)};
      });
}

/// Pairs whose entries a thread asks for before it uses them, and sources whose strengths a block
/// has in shared memory.
constexpr int green_pairs_ahead = 8, green_sources_at_once = 640;

template <class Entry>
__global__ void __launch_bounds__(threads_per_block)
    multiply_both(const __grid_constant__ NearRowsView a, const GreenEntries<Entry>* entries,
                  const RowPanels of_rows, const double* x, const double* factor, double* y) {
  __shared__ double2 s_x[green_sources_at_once];
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.targets_of(row);
  const int n = size_of(targets);
  const std::int32_t* const panels = of_rows.panel + of_rows.begin[row];
  const auto count = static_cast<int>(of_rows.begin[row + 1] - of_rows.begin[row]);
  for (int done = 0; done < n; done += blockDim.x) {
    const Share share(n - done);
    const GreenEntries<Entry>* column = entries + a.pairs_before[row] + done + share.target;
    double sum = 0;
    for (int first = 0; first < count; first += green_sources_at_once) {
      const int some = min(count - first, green_sources_at_once);
      __syncthreads();
      for (int j = threadIdx.x; j < some; j += blockDim.x) {
        const std::int32_t panel = panels[first + j];
        s_x[j] = {x[panel], x[a.panels + panel]};
      }
      __syncthreads();
      const int step = share.groups * n;
      for (int j = share.works ? share.group : some; j < some;
           j += green_pairs_ahead * share.groups) {
        const GreenEntries<Entry>* const from = column + static_cast<std::int64_t>(j) * n;
        GreenEntries<Entry> value[green_pairs_ahead];
#pragma unroll
        for (int k = 0; k < green_pairs_ahead; ++k)
          value[k] =
              j + k * share.groups < some ? read_once(from + k * step) : GreenEntries<Entry>{};
#pragma unroll
        for (int k = 0; k < green_pairs_ahead; ++k) {
          const double2 strength = s_x[min(j + k * share.groups, some - 1)];
          sum += strength.x * static_cast<double>(value[k].v) +
                 strength.y * static_cast<double>(value[k].k);
        }
      }
      column += static_cast<std::int64_t>(some) * n;
    }
    write_sums<1, threads_per_block>(share, &sum, [&](int, double total) {
      y[targets.x + done + share.target] = *factor * total;
    });
  }
}

template <class Entry>
class StoredGreenNearField final : public NearField {
 public:
  StoredGreenNearField(const PanelStore& panels, const SpreadTree& tree, double kappa,
                       double tolerance, cudaStream_t stream)
      : rows_(static_cast<unsigned>(tree.rows())),
        view_(rows_of(panels, tree, {Trace::normal, kappa})),
        entries_(tree.near.pairs, stream) {
    fmm::with_kernel(kappa, [&]<class Kernel>(Kernel) {
      if (rules_in_single(tolerance, view_.kernel))
        integrate<float, Kernel>(tolerance, stream);
      else
        integrate<double, Kernel>(tolerance, stream);
      panels_ = RowSources(view_, rows_, stream);
      launch(integrate_marked_both<Entry, Kernel>, rows_, threads_per_block, 0, stream, view_,
             CloseRules(tolerance), of_rows(), entries_.data());
    });
  }
  void multiply(const double* x, int vectors, const double* factor, double* y,
                cudaStream_t stream) const override {
    for (int v = 0; v < vectors; ++v)
      launch(multiply_both<Entry>, rows_, threads_per_block, 0, stream, view_, entries_.data(),
             of_rows(), x + 2 * v * view_.panels, factor + v, y + v * view_.targets.count);
  }
  void multiply_transposed(const TransposedLists&, const double*, int, const double*, double*,
                           cudaStream_t) override {
    throw InputError("products of charges and dipoles together have no transpose");
  }
  std::int64_t bytes() const override { return entries_.bytes() + panels_.bytes(); }

 private:
  RowPanels of_rows() const { return {panels_.begin.data(), panels_.source.data()}; }

  /// Where rules serve, in N.
  template <class N, class Kernel>
  void integrate(double tolerance, cudaStream_t stream) {
    using Rules = RulesOfBoth<N, Kernel>;
    const auto rules = rules_for<N, Kernel, Rules>(tolerance, view_.kernel);
    const PackedPanels<N, Trace::normal> packed(view_, rules, stream);
    launch(integrate_rows<GreenEntries<Entry>, GreenPanels<N>, Rules>, rows_,
           integrating_threads<N, Trace::normal>, 0, stream, view_, packed.data(), rules,
           entries_.data());
  }

  unsigned rows_;
  NearRowsView view_;
  DeviceBuffer<GreenEntries<Entry>> entries_;
  RowSources panels_;  ///< in the order of the entries
};

}  // namespace

template <class Entry>
std::unique_ptr<NearField> make_stored_green_near_field(const PanelStore& panels,
                                                        const SpreadTree& tree, double kappa,
                                                        double tolerance, cudaStream_t stream) {
  return std::make_unique<StoredGreenNearField<Entry>>(panels, tree, kappa, tolerance, stream);
}
template std::unique_ptr<NearField> make_stored_green_near_field<float>(const PanelStore&,
                                                                        const SpreadTree&, double,
                                                                        double, cudaStream_t);
template std::unique_ptr<NearField> make_stored_green_near_field<double>(const PanelStore&,
                                                                         const SpreadTree&, double,
                                                                         double, cudaStream_t);

}  // namespace fmbem::cuda::bem
