// The near field of V: a block for each row, that is for each leaf with targets.
#include <algorithm>
#include <optional>
#include <type_traits>

#include "fmbem/bem/cuda/near_field.cuh"
#include "fmbem/bem/cuda/near_rows.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda {
namespace {

/// Vectors whose products share the reading of entries.
constexpr int most_together = 4;

/// All entries by rules, also those that are too close: they come later.
template <class Entry, class N>
__global__ void __launch_bounds__(threads_per_block)
    integrate_rows(const __grid_constant__ NearRowsView a,
                   const __grid_constant__ NearRules<N> rules, Entry* entries) {
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.targets_of(row);
  const int n = targets.y - targets.x;
  Entry* out = entries + a.pairs_before[row];
  for_panels<N>(a, row, [&](const SharedPanels<N>& panels, int some) {
    for (int k = threadIdx.x; k < some * n; k += blockDim.x) {
      const int j = k / n;
      const RulePair<N> pair(rules, panels, j, a.target(targets.x + k % n));
      if (pair.rule >= 0)
        out[k] = static_cast<Entry>(integrate_by(rules, pair.rule, panels.panel[j], pair.centre));
    }
    out += some * n;
  });
}

template <class Entry, class N>
__global__ void __launch_bounds__(threads_per_block)
    place_close(const __grid_constant__ NearRowsView a, const __grid_constant__ NearRules<N> rules,
                const std::int64_t* begin, const Entry* value, Entry* entries) {
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.targets_of(row);
  const std::int64_t n = targets.y - targets.x;
  Entry* const out = entries + a.pairs_before[row];
  for_close_pairs(a, row, rules, [&](std::int32_t i, int k, int s, std::int32_t) {
    out[s * n + i - targets.x] = value[begin[i] + k];
  });
}

/// How a block divides a row: its threads are groups that share the targets of a chunk and divide
/// the sources between them.
struct Share {
  int count;   ///< targets of the chunk
  int target;  ///< that of the thread
  int group, groups;
  bool works;

  __device__ explicit Share(int targets_left)
      : count(min(targets_left, static_cast<int>(blockDim.x))),
        target(threadIdx.x % count),
        group(threadIdx.x / count),
        groups(blockDim.x / count),
        works(group < groups) {}

  /// Adds up what the groups have; true in the thread that is to write the target's sum.
  __device__ bool add_up(double& sum, double* s_sums) const {
    __syncthreads();
    s_sums[threadIdx.x] = sum;
    __syncthreads();
    if (group > 0) return false;
    for (int g = 1; g < groups; ++g) sum += s_sums[g * count + target];
    return true;
  }
};

/// Writes the sums of a chunk of targets from `first` on.
template <int Vectors>
__device__ inline void write_sums(const NearRowsView& a, const Share& share, std::int32_t first,
                                  double* sum, const double* factor, double* y) {
  __shared__ double s_sums[threads_per_block];
  for (int v = 0; v < Vectors; ++v)
    if (share.add_up(sum[v], s_sums))
      y[v * a.targets.count + first + share.target] = factor[v] * sum[v];
}

/// Where the sources of each row begin among those of all rows.
__global__ void count_sources(NearRowsView a, std::int64_t rows, std::int64_t* count) {
  const std::int64_t row = thread_index();
  if (row >= rows) return;
  const int2 targets = a.targets_of(row);
  count[row] = (a.pairs_before[row + 1] - a.pairs_before[row]) / (targets.y - targets.x);
}

/// The panels of each row, a warp a row.
__global__ void list_panels(NearRowsView a, std::int64_t rows, const std::int64_t* begin,
                            std::int32_t* panels) {
  const std::int64_t row = thread_index() / warp_size;
  if (row >= rows) return;
  std::int32_t* out = panels + begin[row];
  for (std::int64_t e = a.lists.begin[row]; e < a.lists.begin[row + 1]; ++e) {
    const NearEntry entry = a.lists.entries[e];
    for (int j = threadIdx.x % warp_size; j < entry.count; j += warp_size)
      out[j] = a.source_order[entry.begin + j];
    out += entry.count;
  }
}

/// Entries that a thread asks for before it uses them: leaves of a few panels would else leave too
/// few bytes on their way.
constexpr int entries_ahead = 8;

template <class Entry, int Vectors>
__global__ void __launch_bounds__(threads_per_block)
    multiply_stored(const __grid_constant__ NearRowsView a, const Entry* entries,
                    const std::int64_t* panels_begin, const std::int32_t* all_panels,
                    const double* x, const double* factor, double* y) {
  const std::int64_t row = blockIdx.x;
  const int2 targets = a.targets_of(row);
  const int n = targets.y - targets.x;
  const std::int32_t* const panels = all_panels + panels_begin[row];
  const auto count = static_cast<int>(panels_begin[row + 1] - panels_begin[row]);
  for (int done = 0; done < n; done += blockDim.x) {
    const Share share(n - done);
    double sum[Vectors] = {};
    const Entry* const block = entries + a.pairs_before[row] + done + share.target;
    int j = share.works ? share.group : count;
    for (; j + (entries_ahead - 1) * share.groups < count; j += entries_ahead * share.groups) {
      Entry value[entries_ahead];
      std::int32_t panel[entries_ahead];
#pragma unroll
      for (int k = 0; k < entries_ahead; ++k) {
        const int at = j + k * share.groups;
        value[k] = block[static_cast<std::int64_t>(at) * n];
        panel[k] = panels[at];
      }
#pragma unroll
      for (int k = 0; k < entries_ahead; ++k)
#pragma unroll
        for (int v = 0; v < Vectors; ++v)
          sum[v] += x[v * a.panels + panel[k]] * static_cast<double>(value[k]);
    }
    for (; j < count; j += share.groups)
#pragma unroll
      for (int v = 0; v < Vectors; ++v)
        sum[v] += x[v * a.panels + panels[j]] *
                  static_cast<double>(block[static_cast<std::int64_t>(j) * n]);
    write_sums<Vectors>(a, share, targets.x + done, sum, factor, y);
  }
}

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

/// Rules work in single precision where their rounding leaves room for their own error.
bool rules_in_single(double tolerance) { return tolerance >= 1.5 * single_rule_rounding; }
template <class N>
double rule_tolerance(double tolerance) {
  return sizeof(N) == 4 ? tolerance - single_rule_rounding : tolerance;
}

/// Groups of vectors that go together: put(vectors of the kernel, first vector).
template <class Put>
void for_groups(int vectors, Put&& put) {
  int first = 0;
  for (; vectors - first >= most_together; first += most_together)
    put(std::integral_constant<int, most_together>(), first);
  for (; first < vectors; ++first) put(std::integral_constant<int, 1>(), first);
}

/// In N as far as rules go.
template <class Entry, class N>
class StoredNearField final : public NearField {
 public:
  StoredNearField(const PanelStore& panels, const SpreadTree& tree, double tolerance,
                  cudaStream_t stream)
      : rows_(static_cast<unsigned>(tree.rows())),
        view_(rows_of(panels, tree)),
        entries_(tree.near.pairs, stream),
        panels_begin_(rows_ + 1, stream) {
    const NearRules<N> rules(rule_tolerance<N>(tolerance));
    launch(integrate_rows<Entry, N>, rows_, threads_per_block, 0, stream, view_, rules,
           entries_.data());
    const ClosePairs close = find_close_pairs(view_, rows_, rules, stream);
    const auto values = integrate_close_pairs<Entry>(view_, close, tolerance, stream);
    launch(place_close<Entry, N>, rows_, threads_per_block, 0, stream, view_, rules,
           close.begin.data(), values.data(), entries_.data());
    list_row_panels(stream);
  }
  void multiply(const double* x, int vectors, const double* factor, double* y,
                cudaStream_t stream) const override {
    for_groups(vectors, [&]<int Together>(std::integral_constant<int, Together>, int v) {
      launch(multiply_stored<Entry, Together>, rows_, threads_per_block, 0, stream, view_,
             entries_.data(), panels_begin_.data(), panels_.data(), x + v * view_.panels,
             factor + v, y + v * view_.targets.count);
    });
  }
  std::int64_t bytes() const override {
    return entries_.bytes() + panels_begin_.bytes() + panels_.bytes();
  }

 private:
  void list_row_panels(cudaStream_t stream) {
    DeviceBuffer<std::int64_t> count(rows_ + 1, stream);
    count.fill_bytes(0);
    launch(count_sources, blocks_for(rows_), threads_per_block, 0, stream, view_, rows_,
           count.data());
    exclusive_sum(count.data(), panels_begin_.data(), rows_ + 1, stream);
    panels_ =
        DeviceBuffer<std::int32_t>(download_one(panels_begin_.data() + rows_, stream), stream);
    launch(list_panels, blocks_for(rows_, warps_per_block), threads_per_block, 0, stream, view_,
           rows_, panels_begin_.data(), panels_.data());
  }

  unsigned rows_;
  NearRowsView view_;
  DeviceBuffer<Entry> entries_;
  DeviceBuffer<std::int64_t> panels_begin_;  ///< [rows + 1]
  DeviceBuffer<std::int32_t> panels_;        ///< of each row, in the order of its entries
};

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

template <class Entry>
std::unique_ptr<NearField> make_stored_near_field(const PanelStore& panels, const SpreadTree& tree,
                                                  double tolerance, cudaStream_t stream) {
  if (rules_in_single(tolerance))
    return std::make_unique<StoredNearField<Entry, float>>(panels, tree, tolerance, stream);
  return std::make_unique<StoredNearField<Entry, double>>(panels, tree, tolerance, stream);
}
template std::unique_ptr<NearField> make_stored_near_field<float>(const PanelStore&,
                                                                  const SpreadTree&, double,
                                                                  cudaStream_t);
template std::unique_ptr<NearField> make_stored_near_field<double>(const PanelStore&,
                                                                   const SpreadTree&, double,
                                                                   cudaStream_t);

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
