// The lean near field of charges and dipoles: a block for each row, that is for each leaf with
// targets. Both take the rules of dipoles, with one root and one exponential.
#include "fmbem/bem/near/cuda/close_integral.cuh"
#include "fmbem/bem/near/cuda/close_lists.cuh"
#include "fmbem/bem/near/cuda/green_near_field.cuh"
#include "fmbem/bem/near/cuda/near_products.cuh"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cuda::bem {
namespace {

/// Integrates the pairs that rules serve; close pairs are added later. A block fewer than for K
/// alone, as there are more registers to a thread.
template <class N, class Kernel>
__global__ void __launch_bounds__(integrating_threads<N, Trace::normal>,
                                  integrating_blocks<N, Trace::normal> - 1)
    multiply_both_by_rules(const __grid_constant__ NearRowsView a,
                           const NearPanel<N, Trace::normal>* packed,
                           const __grid_constant__ RulesOfBoth<N, Kernel> rules, const double* x,
                           const double* factor, double* y) {
  constexpr int room = integrating_threads<N, Trace::normal>;
  struct Charged {
    SharedPanels<N, Trace::normal, room> panels;  ///< their weights times the dipoles
    N charge[room];
  };
  auto& shared = static_shared<Charged>();
  for_chunks_of_targets(a, [&](const Share& share, int number) {
    const auto target = PrecisePoint<N>::of(a.target(number));
    double sum = 0;
    N part = 0;
    for_panels(a, blockIdx.x, packed, panels_at_once<N, Trace::normal>(share), shared.panels,
               [&](auto& panels, int some) {
                 const int pairs = fill_up(panels, some, share);
                 for (int j = threadIdx.x; j < pairs * share.groups; j += blockDim.x) {
                   shared.charge[j] = 0;
                   if (j >= some) continue;
                   // Times the factor, which takes strengths to about 1.
                   const std::int64_t panel = panels.number[j];
                   shared.charge[j] =
                       static_cast<N>(*factor * x[panel]) * rule_weight<N, Trace::value>(a, panel);
                   panels.panel[j].weight =
                       static_cast<N>(*factor * x[a.panels + panel]) * panels.panel[j].weight;
                 }
                 __syncthreads();
                 for_integrals(
                     rules, pairs_of(panels, target), pairs, share,
                     [&](int j, OfBoth<N> value) { part += shared.charge[j] * value.v + value.k; },
                     [](int) {},
                     [&] {
                       sum += static_cast<double>(part);
                       part = 0;
                     });
               });
    write_sums<1, integrating_threads<N, Trace::normal>>(
        share, &sum, [&](int, double total) { y[number] = total; });
  });
}

/// Of a close pair.
template <class N>
struct alignas(2 * sizeof(N)) ClosePair {
  N v, k;
};

template <class N, class Kernel>
__global__ void __launch_bounds__(threads_per_block)
    integrate_close_both(const __grid_constant__ NearRowsView a,
                         const __grid_constant__ CloseRules rules, const std::int64_t* begin,
                         const std::int32_t* panel, std::int64_t pairs, ClosePair<N>* value) {
  const std::int64_t k = thread_index();
  if (k >= pairs) return;
  const std::int64_t i = target_of(begin, a.targets.count, k);
  const OfBoth<double> both =
      close_integrals<Kernel>(rules, scaled_triangle(a, panel[k]), a.target(i), a.kernel.kappa);
  // K of a panel at its own centroid is the mean of both sides.
  value[k] = {static_cast<N>(both.v), a.own_panel(i) == panel[k] ? N(0) : static_cast<N>(both.k)};
}

template <class N>
__global__ void __launch_bounds__(threads_per_block)
    add_close_both(std::int64_t targets, std::int64_t panels, const std::int64_t* begin,
                   const std::int32_t* panel, const ClosePair<N>* value, const double* x,
                   const double* factor, double* y) {
  const std::int64_t i = thread_index() / close_group;
  const bool works = i < targets;
  double sum = 0;
  for (std::int64_t k = works ? begin[i] + threadIdx.x % close_group : 0; works && k < begin[i + 1];
       k += close_group)
    sum += x[panel[k]] * static_cast<double>(value[k].v) +
           x[panels + panel[k]] * static_cast<double>(value[k].k);
  sum = sum_of_close(sum);
  if (works && threadIdx.x % close_group == 0) y[i] += *factor * sum;
}

/// In N, the entries of close pairs too.
template <class N, class Kernel>
class LeanGreenNearField final : public NearField {
 public:
  LeanGreenNearField(const PanelStore& panels, const SpreadTree& tree, double kappa,
                     double tolerance, cudaStream_t stream)
      : rows_(static_cast<unsigned>(tree.rows())),
        view_(rows_of(panels, tree, {Trace::normal, kappa})),
        rules_(rules_for<N, Kernel, RulesOfBoth<N, Kernel>>(tolerance, view_.kernel)),
        close_(find_close_pairs<N, Kernel>(
            view_, rows_, PackedPanels<N, Trace::value>(view_, rules_, stream), rules_, stream)),
        values_(close_.panel.size(), stream) {
    const auto pairs = static_cast<std::int64_t>(values_.size());
    launch(integrate_close_both<N, Kernel>, blocks_for(pairs), threads_per_block, 0, stream, view_,
           CloseRules(tolerance), close_.begin.data(), close_.panel.data(), pairs, values_.data());
  }
  void multiply(const double* x, int vectors, const double* factor, double* y,
                cudaStream_t stream) const override {
    const std::int64_t targets = view_.targets.count;
    const PackedPanels<N, Trace::normal> packed(view_, rules_, stream);
    for (int v = 0; v < vectors; ++v, x += 2 * view_.panels, y += targets) {
      launch(multiply_both_by_rules<N, Kernel>, rows_, integrating_threads<N, Trace::normal>, 0,
             stream, view_, packed.data(), rules_, x, factor + v, y);
      launch(add_close_both<N>, blocks_for(targets, threads_per_block / close_group),
             threads_per_block, 0, stream, targets, view_.panels, close_.begin.data(),
             close_.panel.data(), values_.data(), x, factor + v, y);
    }
  }
  void multiply_transposed(const TransposedLists&, const double*, int, const double*, double*,
                           cudaStream_t) override {
    throw InputError("products of charges and dipoles together have no transpose");
  }
  std::int64_t bytes() const override { return close_.bytes() + values_.bytes(); }

 private:
  unsigned rows_;
  NearRowsView view_;
  RulesOfBoth<N, Kernel> rules_;
  ClosePairs close_;
  DeviceBuffer<ClosePair<N>> values_;
};

}  // namespace

std::unique_ptr<NearField> make_lean_green_near_field(const PanelStore& panels,
                                                      const SpreadTree& tree, double kappa,
                                                      double tolerance, Precision precision,
                                                      cudaStream_t stream) {
  std::unique_ptr<NearField> result;
  fmm::with_kernel(kappa, [&]<class Kernel>(const Kernel&) {
    if (precision == Precision::single_precision)
      result = std::make_unique<LeanGreenNearField<float, Kernel>>(panels, tree, kappa, tolerance,
                                                                   stream);
    else
      result = std::make_unique<LeanGreenNearField<double, Kernel>>(panels, tree, kappa, tolerance,
                                                                    stream);
  });
  return result;
}

}  // namespace fmbem::cuda::bem
