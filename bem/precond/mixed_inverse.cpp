#include "fmbem/bem/precond/mixed_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "fmbem/bem/precond/charge_rows.hpp"
#include "fmbem/bem/precond/mixed_places.hpp"
#include "fmbem/bem/precond/row_entries.hpp"
#include "fmbem/bem/precond/small_system.hpp"
#include "fmbem/fmm/base/simd.hpp"
#include "fmbem/fmm/base/vector_log.hpp"

namespace fmbem {
namespace {

/// Leaves with too many unknowns are halved down to this number of panels.
constexpr int smallest_leaf = 8;

template <class T>
constexpr bool is_complex = !std::is_same_v<T, double>;

/// largest[k] = max(largest[k], |column[k]|)
FMBEM_SIMD_CLONES void raise_to(int m, const float* column, float* largest) {
#pragma omp simd
  for (int k = 0; k < m; ++k) {
    const float size = std::abs(column[k]);
    largest[k] = size > largest[k] ? size : largest[k];
  }
}
void raise_to(int m, const std::complex<float>* column, float* largest) {
  for (int k = 0; k < m; ++k) largest[k] = std::max(largest[k], std::abs(column[k]));
}

FMBEM_SIMD_CLONES float sum_of_products(int n, const float* a, const float* b) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}
std::complex<float> sum_of_products(int n, const std::complex<float>* a,
                                    const std::complex<float>* b) {
  std::complex<float> sum = 0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/// column[k] *= factor[k]
FMBEM_SIMD_CLONES void multiply_by(int m, const float* factor, float* column) {
#pragma omp simd
  for (int k = 0; k < m; ++k) column[k] *= factor[k];
}
void multiply_by(int m, const float* factor, std::complex<float>* column) {
  for (int k = 0; k < m; ++k) column[k] *= factor[k];
}

const MixedInverseOptions& checked(const MixedInverseOptions& options) {
  checked(options.clusters);
  FMBEM_REQUIRE(options.reach >= 0 && std::isfinite(options.reach),
                "the reach of close entries must not be negative, not " << options.reach);
  return options;
}

/// The real parts of α, β and γ, or the imaginary ones.
template <class T>
MixedRows part_of(const BasicMixedRows<T>& rows, int part) {
  const auto of = [&](const std::vector<T>& factors) {
    std::vector<double> result;
    for (const T factor : factors)
      result.push_back(part == 0 ? std::real(factor) : std::imag(factor));
    return result;
  };
  return {of(rows.alpha), of(rows.beta), of(rows.gamma)};
}

}  // namespace

/// Solves the small systems. Holds a thread's buffers.
template <class T>
class BasicMixedInverse<T>::Assembly {
 public:
  using Entry = std::conditional_t<is_complex<T>, std::complex<float>, float>;

  /// `of_nodes`: rows of real parts, and of imaginary ones. Those of the inverse are `part_size`
  /// apart.
  Assembly(std::span<const Triangle> panels, const ClusterTree& tree, const ChargeRows<T>& charges,
           const std::vector<std::unique_ptr<const RowsOfNodes>>& of_nodes, std::int64_t part_size)
      : panels_(panels), tree_(tree), charges_(charges), part_size_(part_size) {
    for (const auto& part : of_nodes) entries_.emplace_back(panels, tree, *part);
  }

  /// rows[k][i], k in the cut and i in the leaf. False if the system is singular.
  bool solve(std::span<const std::int32_t> cut, const Cluster& leaf, float* rows) {
    const int own = leaf.size();
    cut_.place(tree_, cut, leaf, panels_);
    fill(cut);
    set_charge_rows(cut, own);
    scale_rows();
    if constexpr (is_complex<T>) {
      const std::int64_t count = static_cast<std::int64_t>(cut_.m) * own;
      complex_rows_.resize(count);
      if (!matrix_.invert_last_rows(own, complex_rows_.data())) return false;
      finish(own, complex_rows_.data());
      for (std::int64_t k = 0; k < count; ++k) {
        rows[k] = complex_rows_[k].real();
        rows[part_size_ + k] = complex_rows_[k].imag();
      }
    } else {
      if (!matrix_.invert_last_rows(own, rows)) return false;
      finish(own, rows);
    }
    return true;
  }

 private:
  void fill(std::span<const std::int32_t> cut) {
    if constexpr (is_complex<T>) {
      for (std::size_t part = 0; part < 2; ++part) entries_[part].fill(cut, cut_, of_part_[part]);
      matrix_.resize(cut_.m);
      for (int l = 0; l < cut_.m; ++l)
        for (int k = 0; k < cut_.m; ++k)
          matrix_.at(k, l) = {of_part_[0].at(k, l), of_part_[1].at(k, l)};
    } else {
      entries_[0].fill(cut, cut_, matrix_);
    }
  }

  void finish(int own, Entry* rows) const {
    for (int k = 0; k < cut_.m; ++k)
      for (int i = 0; i < own; ++i) rows[k * own + i] *= scale_[k];
    add_means(own, rows);
  }

  /// Rows r whose mean a law replaces are less that mean, equal to the right-hand side x less its
  /// mean, and the law of charges and rows stands for the mean:
  ///
  ///     r_k − mean(r) = x_k − mean(x),   Σ c Q + Σ f Y = mean(x).
  ///
  /// The latter is in place of the largest node's row. If it were added to all rows, as in the
  /// operator, the charges of others, times the contrast, would leave nothing of r in single
  /// precision.
  void set_charge_rows(std::span<const std::int32_t> cut, int own) {
    find_laws(cut, own);
    for (int k = 0; k < cut_.m; ++k) {
      if (!charges_.is_given(tree_.nodes[cut[k]])) continue;
      for (int l = 0; l < cut_.m; ++l)
        matrix_.at(k, l) = static_cast<Entry>(charges_.given_entry(cut[k], cut[l]));
    }
    for (int l = 0; l < cut_.m; ++l) {
      Entry* const column = matrix_.column(l);
      for (LawInCut& law : laws_) {
        law.entry = static_cast<Entry>(charges_.charge_entry(law.law, cut[l]));
        for (const auto& [k, factor] : law.rows) law.entry += factor * column[k];
      }
      for (const LawInCut& law : laws_) {
        Entry mean = 0;
        for (const auto& [begin, end] : law.ranges)
          mean += sum_of_products(end - begin, share_.data() + begin, column + begin);
        for (const auto& [begin, end] : law.ranges)
          for (int k = begin; k < end; ++k) column[k] -= mean;
        column[law.place] = law.entry;
      }
    }
  }

  /// The laws of a cut, with the ranges of nodes whose mean they replace.
  void find_laws(std::span<const std::int32_t> cut, int own) {
    laws_.clear();
    share_.assign(cut_.m, Entry(0));
    std::int32_t before = -1;
    for (int k = 0; k < cut_.m; ++k) {
      const Cluster& node = tree_.nodes[cut[k]];
      const std::int32_t number = charges_.law_of(node);
      const bool goes_on = number == before && k != cut_.m - own;
      before = number;
      if (number < 0) continue;
      share_[k] = static_cast<Entry>(charges_.share_of(node));
      auto law = std::find_if(laws_.begin(), laws_.end(),
                              [&](const LawInCut& found) { return found.law == number; });
      if (law == laws_.end()) law = laws_.insert(law, {number, k, {}, {}, Entry(0)});
      if (goes_on)
        law->ranges.back().end = k + 1;
      else
        law->ranges.push_back({k, k + 1});
      if (std::abs(share_[k]) > std::abs(share_[law->place])) law->place = k;
    }
    for (LawInCut& law : laws_) {
      if (!charges_.has_rows(law.law)) continue;
      for (int k = 0; k < cut_.m; ++k)
        if (const T factor = charges_.row_factor(law.law, tree_.nodes[cut[k]]); factor != T(0))
          law.rows.push_back({k, static_cast<Entry>(factor)});
    }
  }

  /// Converts rows of the inverse that act on x less its mean over a law's rows, and on the mean,
  /// to rows that act on x.
  void add_means(int own, Entry* rows) const {
    for (const LawInCut& law : laws_) {
      for (int i = 0; i < own; ++i) {
        T of_mean = 2.0 * static_cast<T>(rows[law.place * own + i]);
        for (const auto& [begin, end] : law.ranges)
          for (int k = begin; k < end; ++k) of_mean -= static_cast<T>(rows[k * own + i]);
        rows[law.place * own + i] = 0;
        for (const auto& [begin, end] : law.ranges)
          for (int k = begin; k < end; ++k)
            rows[k * own + i] += share_[k] * static_cast<Entry>(of_mean);
      }
    }
  }

  /// Brings the largest entry of each row to 1.
  void scale_rows() {
    scale_.assign(cut_.m, 0.0F);
    for (int l = 0; l < cut_.m; ++l) raise_to(cut_.m, matrix_.column(l), scale_.data());
    for (float& scale : scale_) scale = 1 / scale;
    for (int l = 0; l < cut_.m; ++l) multiply_by(cut_.m, scale_.data(), matrix_.column(l));
  }

  std::span<const Triangle> panels_;
  const ClusterTree& tree_;
  const ChargeRows<T>& charges_;
  std::int64_t part_size_;
  std::vector<RowEntries> entries_;
  PlacedCut cut_;
  BasicSmallMatrix<Entry> matrix_;
  SmallMatrix of_part_[2];  ///< of complex ones
  std::vector<std::complex<float>> complex_rows_;
  std::vector<float> scale_;

  struct Range {
    int begin, end;
  };
  struct RowInCut {
    int place;
    Entry factor;
  };
  struct LawInCut {
    std::int32_t law;
    int place;                   ///< of its row
    std::vector<Range> ranges;   ///< whose mean it replaces
    std::vector<RowInCut> rows;  ///< that it counts itself
    Entry entry;                 ///< in the column that is worked on
  };
  std::vector<LawInCut> laws_;
  std::vector<Entry> share_;  ///< [m] of nodes in the mean of their law's rows
};

template <class T>
BasicMixedInverse<T>::BasicMixedInverse(const Panels& panels, std::span<const Triangle> triangles,
                                        const BasicMixedRows<T>& rows,
                                        const MixedInverseOptions& options)
    : BasicMixedInverse(triangles, rows, checked(options), MixedPlaces(panels, triangles, rows)) {}

template <class T>
BasicMixedInverse<T>::BasicMixedInverse(std::span<const Triangle> triangles,
                                        const BasicMixedRows<T>& rows,
                                        const MixedInverseOptions& options,
                                        const MixedPlaces& places)
    : rows_(
          ClusterTree(places.trees, triangles, options.clusters.max_leaf), options.clusters, 1,
          smallest_leaf, [&](const Cluster& node) { return places.divides(node); }, parts),
      correction_(places, rows, rows_.tree()) {
  const ClusterTree& tree = rows_.tree();
  const ChargeRows<T> charges(places, rows, tree);
  std::vector<std::unique_ptr<const RowsOfNodes>> of_nodes;
  for (int part = 0; part < parts; ++part)
    of_nodes.push_back(
        std::make_unique<RowsOfNodes>(tree, triangles, part_of(rows, part), options.reach));
  rows_.solve([&] { return Assembly(triangles, tree, charges, of_nodes, rows_.part_size()); });
}

template <class T>
std::int64_t BasicMixedInverse<T>::memory_bytes() const {
  return rows_.memory_bytes() + correction_.memory_bytes();
}

template <class T>
void BasicMixedInverse<T>::multiply(const double* x, double* y, const Product& product) const {
  refuse_transposed(product, "the cluster inverse");
  rows_.multiply(x, y, {.vectors = parts * product.vectors});
  if constexpr (is_complex<T>) {
    // y is R_r x; with R_i x it becomes R_r x_r − R_i x_i and R_r x_i + R_i x_r.
    const std::size_t n = rows_.tree().size();
    std::vector<double> turned(size() * product.vectors);
    rows_.multiply(x, turned.data(), {.vectors = parts * product.vectors}, 1);
    for (int v = 0; v < product.vectors; ++v)
      for (std::size_t i = 2 * v * n; i < (2 * v + 1) * n; ++i) {
        y[i] -= turned[i + n];
        y[i + n] += turned[i];
      }
  }
  for (int v = 0; v < product.vectors; ++v)
    correction_.apply(rows_.tree(), x + v * size(), y + v * size());
}

template class BasicMixedInverse<double>;
template class BasicMixedInverse<Complex>;

}  // namespace fmbem
