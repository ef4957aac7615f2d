// The near field of V, lean: a block for each row, that is for each leaf with targets.
#include <algorithm>
#include <optional>

#include "fmbem/bem/cuda/near_field.cuh"
#include "fmbem/bem/cuda/near_products.cuh"

namespace fmbem::cuda {
namespace {

/// Panels that a block of multiply_by_rules() takes at a time.
constexpr int most_panels = 160;

/// The pairs of a thread with panels in shared memory, a bit each, by the rule that serves them.
template <class N>
struct PairsByRule {
  static constexpr int most_pairs = 32, rules = NearRules<N>::most_rules;
  std::uint32_t all = 0, closer[rules] = {};  ///< than each rule's reach, which falls

  /// Pair k is with panel j.
  template <int Room>
  __device__ void add(const NearRules<N>& of, const SharedPanels<N, Room>& panels, int j, Vec3d x,
                      int k) {
    const std::uint32_t bit = 1u << k;
    const N distance2 = of.distance2(panels.centre(j, x)), radius2 = panels.panel[j].radius2;
    all |= bit;
#pragma unroll
    for (int rule = 0; rule < rules; ++rule)
      if (!(distance2 >= of.reach2[rule] * radius2)) closer[rule] |= bit;
  }
  __device__ std::uint32_t of_rule(int rule) const {
    return (rule == 0 ? all : closer[rule - 1]) & ~closer[rule];
  }
};

/// What rules serve, integrated; the close pairs come later. Each thread sorts its pairs by their
/// rules before it integrates them: the threads of a warp then do the same most of the time, as
/// every target has about as many pairs of a rule, while the rules of a panel differ.
template <class N, int Vectors>
__global__ void __launch_bounds__(threads_per_block)
    multiply_by_rules(const __grid_constant__ NearRowsView a,
                      const __grid_constant__ NearRules<N> rules, const double* x,
                      const double* factor, double* y) {
  using Pairs = PairsByRule<N>;
  __shared__ double s_x[Vectors][most_panels];
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.targets_of(row);
  const int n = targets.y - targets.x;
  for (int done = 0; done < n; done += blockDim.x) {
    const Share share(n - done);
    const Vec3d target = a.target(targets.x + done + share.target);
    double sum[Vectors] = {};
    auto& shared = static_shared<SharedPanels<N, most_panels>>();
    const int room = min(most_panels, Pairs::most_pairs * share.groups);
    for_panels(a, row, room, shared, [&](const SharedPanels<N, most_panels>& panels, int some) {
      for (int j = threadIdx.x; j < some; j += blockDim.x)
#pragma unroll
        for (int v = 0; v < Vectors; ++v) s_x[v][j] = x[v * a.panels + panels.number[j]];
      __syncthreads();
      if (!share.works) return;
      Pairs pairs;
      for (int j = share.group, k = 0; j < some; j += share.groups, ++k)
        pairs.add(rules, panels, j, target, k);
#pragma unroll
      for (int rule = 0; rule < Pairs::rules; ++rule) {
        for (std::uint32_t left = pairs.of_rule(rule); left != 0; left &= left - 1) {
          const int j = share.group + (__ffs(static_cast<int>(left)) - 1) * share.groups;
          const auto value = static_cast<double>(
              integrate_by(rules, rule, panels.panel[j], panels.centre(j, target)));
#pragma unroll
          for (int v = 0; v < Vectors; ++v) sum[v] += s_x[v][j] * value;
        }
      }
    });
    write_sums<Vectors>(a, share, targets.x + done, sum, factor, y);
  }
}

/// Adds the close pairs: a thread a target.
template <class Entry, int Vectors>
__global__ void __launch_bounds__(threads_per_block)
    add_close(std::int64_t targets, std::int64_t panels, const std::int64_t* begin,
              const std::int32_t* panel, const Entry* value, const double* x, const double* factor,
              double* y) {
  const std::int64_t i = thread_index();
  if (i >= targets) return;
  double sum[Vectors] = {};
  for (std::int64_t k = begin[i]; k < begin[i + 1]; ++k)
#pragma unroll
    for (int v = 0; v < Vectors; ++v)
      sum[v] += x[v * panels + panel[k]] * static_cast<double>(value[k]);
#pragma unroll
  for (int v = 0; v < Vectors; ++v) y[v * targets + i] += factor[v] * sum[v];
}

/// Close pairs of some rows with their entries.
template <class N>
class CloseEntries {
 public:
  CloseEntries(const NearRowsView& view, std::int64_t rows, const NearRules<N>& rules,
               double tolerance, cudaStream_t stream)
      : pairs_(find_close_pairs(view, rows, rules, stream)),
        values_(integrate_close_pairs<N>(view, pairs_, tolerance, stream)) {}
  /// Adds their part to the products of all targets.
  void add(const NearRowsView& view, const double* x, int vectors, const double* factor, double* y,
           cudaStream_t stream) const {
    const std::int64_t targets = view.targets.count;
    for_groups(vectors, [&]<int Together>(std::integral_constant<int, Together>, int v) {
      launch(add_close<N, Together>, blocks_for(targets), threads_per_block, 0, stream, targets,
             view.panels, pairs_.begin.data(), pairs_.panel.data(), values_.data(),
             x + v * view.panels, factor + v, y + v * targets);
    });
  }
  std::int64_t bytes() const { return pairs_.bytes() + values_.bytes(); }

 private:
  ClosePairs pairs_;
  DeviceBuffer<N> values_;
};

/// In N, the entries of close pairs too.
template <class N>
class LeanNearField final : public NearField {
 public:
  LeanNearField(const PanelStore& panels, const SpreadTree& tree, double tolerance,
                ClosePairStorage close, cudaStream_t stream)
      : rows_(tree.rows()),
        pairs_(tree.near.pairs),
        view_(rows_of(panels, tree)),
        rules_(rule_tolerance<N>(tolerance)),
        tolerance_(tolerance) {
    if (close == ClosePairStorage::entries) close_.emplace(view_, rows_, rules_, tolerance, stream);
  }
  void multiply(const double* x, int vectors, const double* factor, double* y,
                cudaStream_t stream) const override {
    for_groups(vectors, [&]<int Together>(std::integral_constant<int, Together>, int v) {
      launch(multiply_by_rules<N, Together>, static_cast<unsigned>(rows_), threads_per_block, 0,
             stream, view_, rules_, x + v * view_.panels, factor + v, y + v * view_.targets.count);
    });
    if (close_) {
      close_->add(view_, x, vectors, factor, y, stream);
      return;
    }
    const std::int64_t parts = pairs_ / pairs_at_once + 1, some = (rows_ + parts - 1) / parts;
    for (std::int64_t first = 0; first < rows_; first += some)
      CloseEntries<N>(view_.from(first), std::min(some, rows_ - first), rules_, tolerance_, stream)
          .add(view_, x, vectors, factor, y, stream);
  }
  std::int64_t bytes() const override { return close_ ? close_->bytes() : 0; }

 private:
  /// Near pairs, of which about a tenth are close, that are searched for them at a time.
  static constexpr std::int64_t pairs_at_once = std::int64_t{1} << 30;

  std::int64_t rows_, pairs_;
  NearRowsView view_;
  NearRules<N> rules_;
  double tolerance_;
  std::optional<CloseEntries<N>> close_;
};

}  // namespace

Precision lean_precision_for(double tolerance, Precision wanted) {
  return wanted == Precision::single_precision && rules_in_single(tolerance)
             ? Precision::single_precision
             : Precision::double_precision;
}

std::unique_ptr<NearField> make_lean_near_field(const PanelStore& panels, const SpreadTree& tree,
                                                double tolerance, Precision precision,
                                                ClosePairStorage close, cudaStream_t stream) {
  if (precision == Precision::single_precision)
    return std::make_unique<LeanNearField<float>>(panels, tree, tolerance, close, stream);
  return std::make_unique<LeanNearField<double>>(panels, tree, tolerance, close, stream);
}

}  // namespace fmbem::cuda
