#include "fmbem/bem/precond/mixed_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "fmbem/bem/precond/cut_laws.hpp"
#include "fmbem/bem/precond/row_entries.hpp"
#include "fmbem/bem/precond/small_system.hpp"
#include "fmbem/fmm/base/simd.hpp"
#include "fmbem/fmm/base/vector_log.hpp"

namespace fmbem {
namespace {

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

}  // namespace

/// Solves the small systems. Holds a thread's buffers.
template <class T>
class BasicMixedInverse<T>::Assembly {
 public:
  using Entry = std::conditional_t<is_complex<T>, std::complex<float>, float>;

  Assembly(std::span<const Triangle> panels, const MixedSystems<T>& systems)
      : panels_(panels),
        tree_(systems.rows.tree()),
        charges_(systems.charges.view()),
        part_size_(systems.rows.part_size()) {
    for (const auto& part : systems.of_nodes) entries_.emplace_back(panels, tree_, *part);
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
    laws_.find(charges_, cut, own);
    const auto& laws = laws_.laws();
    const std::vector<Entry>& share = laws_.share();
    of_laws_.resize(laws.size());
    for (int k = 0; k < cut_.m; ++k) {
      if (!charges_.is_given(cut[k])) continue;
      for (int l = 0; l < cut_.m; ++l)
        matrix_.at(k, l) = static_cast<Entry>(charges_.given_entry(cut[k], cut[l]));
    }
    for (int l = 0; l < cut_.m; ++l) {
      Entry* const column = matrix_.column(l);
      for (std::size_t n = 0; n < laws.size(); ++n) {
        of_laws_[n] = static_cast<Entry>(charges_.charge_entry(laws[n].law, cut[l]));
        for (const auto& [k, factor] : laws[n].rows) of_laws_[n] += factor * column[k];
      }
      for (std::size_t n = 0; n < laws.size(); ++n) {
        Entry mean = 0;
        for (const auto& [begin, end] : laws[n].ranges)
          mean += sum_of_products(end - begin, share.data() + begin, column + begin);
        for (const auto& [begin, end] : laws[n].ranges)
          for (int k = begin; k < end; ++k) column[k] -= mean;
        column[laws[n].place] = of_laws_[n];
      }
    }
  }

  /// Converts rows of the inverse that act on x less its mean over a law's rows, and on the mean,
  /// to rows that act on x.
  void add_means(int own, Entry* rows) const {
    for (const auto& law : laws_.laws()) {
      for (int i = 0; i < own; ++i) {
        T of_mean = 2.0 * static_cast<T>(rows[law.place * own + i]);
        for (const auto& [begin, end] : law.ranges)
          for (int k = begin; k < end; ++k) of_mean -= static_cast<T>(rows[k * own + i]);
        rows[law.place * own + i] = 0;
        for (const auto& [begin, end] : law.ranges)
          for (int k = begin; k < end; ++k)
            rows[k * own + i] += laws_.share()[k] * static_cast<Entry>(of_mean);
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
  LawsOfNodes<T> charges_;
  std::int64_t part_size_;
  std::vector<RowEntries> entries_;
  PlacedCut cut_;
  BasicSmallMatrix<Entry> matrix_;
  SmallMatrix of_part_[2];  ///< of complex ones
  std::vector<std::complex<float>> complex_rows_;
  std::vector<float> scale_;
  CutLaws<T, Entry> laws_;
  std::vector<Entry> of_laws_;  ///< their entries in the column that is worked on
};

template <class T>
BasicMixedInverse<T>::BasicMixedInverse(const Panels& panels, std::span<const Triangle> triangles,
                                        const BasicMixedRows<T>& rows,
                                        const MixedInverseOptions& options)
    : BasicMixedInverse(triangles, MixedSystems<T>(panels, triangles, rows, options)) {}

template <class T>
BasicMixedInverse<T>::BasicMixedInverse(std::span<const Triangle> triangles,
                                        MixedSystems<T>&& systems)
    : rows_(solved(triangles, systems)), correction_(std::move(systems.correction)) {}

template <class T>
ClusterRows BasicMixedInverse<T>::solved(std::span<const Triangle> triangles,
                                         MixedSystems<T>& systems) {
  systems.rows.solve([&] { return Assembly(triangles, systems); });
  return std::move(systems.rows);
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
