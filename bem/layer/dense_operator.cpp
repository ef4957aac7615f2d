#include "fmbem/bem/layer/dense_operator.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <sstream>
#include <type_traits>
#include <vector>

#include <cblas.h>

#include "fmbem/bem/layer/fmm_operator.hpp"
#include "fmbem/bem/near/exact_entry.hpp"
#include "fmbem/bem/near/norm_estimate.hpp"
#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/base/simd.hpp"
#include "fmbem/fmm/check.hpp"

namespace fmbem {
namespace {

// Rows that one thread takes at a time; a fixed number, so that sums do not depend on the number of
// threads.
constexpr std::int64_t rows_at_a_time = 64;

/// a_ij by closed forms. Panels are flat: the diagonals of K and K' are 0, the mean of both sides'
/// limits.
class ExactEntries {
 public:
  ExactEntries(const Panels& panels, const Layer& layer, const OperatorOptions& options,
               const PanelBlock& block)
      : panels_(panels),
        sources_(triangles_of(panels, block.columns)),
        layer_(layer),
        rows_(options.normal_rows),
        kappa_(options.kappa),
        block_(block) {}

  /// The panels of the columns.
  std::span<const Triangle> sources() const { return sources_; }

  /// BoundaryOperator::diagonal_block(), whatever the block is.
  void integrate_diagonal(std::int64_t begin, std::int64_t end, double* block) const {
    exact_block(panels_, layer_, begin, end, block, kappa_, rows_);
  }

  template <class Entry>
  void integrate_row(std::int64_t i, Entry* row) const {
    const std::int32_t panel = panel_of(block_.rows, i);
    const Triangle to = panels_.triangle(panel);
    for (std::size_t j = 0; j < sources_.size(); ++j)
      row[j] = static_cast<Entry>(exact_entry(layer_, rows_, to, sources_[j],
                                              panel_of(block_.columns, j) == panel, kappa_));
  }

 private:
  Panels panels_;
  LargeVector<Triangle> sources_;
  Layer layer_;
  NormalRows rows_;
  double kappa_;
  PanelBlock block_;
};

/// y = A x for some rows of n entries; vectors of y are `stride` apart.
void multiply_rows(const double* rows, std::int64_t n_rows, std::int64_t n, const double* x,
                   double* y, std::int64_t stride, int n_vectors) {
  if (n_vectors == 1) {
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n_rows, n, 1.0, rows, n, x, 1, 0.0, y, 1);
  } else {
    // y and x hold one vector a row: Yᵀ = Xᵀ Aᵀ.
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n_vectors, n_rows, n, 1.0, x, n, rows, n,
                0.0, y, stride);
  }
}

FMBEM_SIMD_CLONES double mixed_dot(const float* a, const double* x, std::int64_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t j = 0; j < n; ++j) sum += static_cast<double>(a[j]) * x[j];
  return sum;
}

// The BLAS has no product of float entries that sums in double.
void multiply_rows(const float* rows, std::int64_t n_rows, std::int64_t n, const double* x,
                   double* y, std::int64_t stride, int n_vectors) {
  for (int v = 0; v < n_vectors; ++v)
    for (std::int64_t i = 0; i < n_rows; ++i)
      y[v * stride + i] = mixed_dot(rows + i * n, x + v * n, n);
}

template <class Entry>
class DenseOperator final : public BoundaryOperator {
 public:
  DenseOperator(const Panels& panels, const Layer& layer, const OperatorOptions& options,
                const PanelBlock& block)
      : panels_(panels),
        layer_(layer),
        kappa_(options.kappa),
        is_whole_(block.is_whole()),
        exact_(panels, layer, options, block),
        m_(static_cast<std::int64_t>(count_of(block.rows, panels.size()))),
        n_(static_cast<std::int64_t>(count_of(block.columns, panels.size()))),
        entries_(std::make_unique_for_overwrite<Entry[]>(m_ * n_)) {
    const Progress& progress = options.progress;
    const std::int64_t blocks = (m_ + rows_at_a_time - 1) / rows_at_a_time;
    // In slices, so that progress (and what it throws) stays on the calling thread.
    const std::int64_t slice = progress ? std::max<std::int64_t>(1, blocks / 100) : blocks;
    for (std::int64_t first = 0; first < blocks; first += slice) {
      assemble(first * rows_at_a_time, std::min(m_, (first + slice) * rows_at_a_time));
      if (progress) progress(std::min(1.0, double(first + slice) / double(blocks)));
    }
  }

  std::size_t size() const override { return panels_.size(); }
  std::size_t rows() const override { return m_; }
  std::size_t columns() const override { return n_; }

  OperatorInfo info() const override {
    return {.name = layer_.name(),
            .kind = OperatorKind::dense,
            .memory_bytes = m_ * n_ * static_cast<std::int64_t>(sizeof(Entry)),
            .precision = is_exact ? Precision::double_precision : Precision::single_precision};
  }

  /// Entries in double precision are exact.
  double accurate_tolerance() const override { return is_exact ? 0 : exact_tolerance; }
  double tightest_tolerance() const override { return accurate_tolerance(); }

  double norm() const override {
    const std::int64_t stride = SampledRows(m_).stride;
    double largest = 0;
    for (std::int64_t i = 0; i < m_; i += stride)
      largest = std::max(
          largest,
          double(std::accumulate(entries_.get() + i * n_, entries_.get() + (i + 1) * n_, Entry(0),
                                 [](Entry sum, Entry entry) { return sum + std::abs(entry); })));
    return largest;
  }

  std::unique_ptr<ApproximateInverse> approximate_inverse() const override {
    if (layer_ != single_layer || !is_whole_ || kappa_ > 0) return nullptr;
    return std::make_unique<ClusterInverse>(panels_, exact_.sources());
  }

  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override {
    if (!is_whole_) return exact_.integrate_diagonal(begin, end, block);
    for (std::int64_t i = begin; i < end; ++i)
      block = std::copy(entries_.get() + i * n_ + begin, entries_.get() + i * n_ + end, block);
  }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    const std::size_t from = product.transposed ? m_ : n_, vectors = product.vectors;
    fmm::check_evaluation(from, 0, {.charges = {x, from * vectors}, .count = product.vectors}, {});
    if (product.transposed) return multiply_transposed(x, y, product);
    if (!is_exact && product.tolerance > 0 && product.tolerance < own_tolerance)
      return multiply_afresh(x, y, product.vectors);
    for_blocks(m_, [&](std::int64_t begin, std::int64_t end) {
      multiply_rows(entries_.get() + begin * n_, end - begin, n_, x, y + begin, m_,
                    product.vectors);
    });
  }

 private:
  static constexpr bool is_exact = std::is_same_v<Entry, double>;
  /// The error of entries in single precision, and of products that integrate them afresh.
  static constexpr double own_tolerance = 1e-7, exact_tolerance = 1e-12;

  /// A product with entries in double precision that are not stored.
  void multiply_afresh(const double* x, double* y, int n_vectors) const {
    for_blocks(m_, [&](std::int64_t begin, std::int64_t end) {
      std::vector<double> row(n_);
      for (std::int64_t i = begin; i < end; ++i) {
        exact_.integrate_row(i, row.data());
        multiply_rows(row.data(), 1, n_, x, y + i, m_, n_vectors);
      }
    });
  }

  /// A thread for some columns, so that each sum has one owner.
  void multiply_transposed(const double* x, double* y, const Product& product) const {
    FMBEM_REQUIRE(
        is_exact || product.tolerance == 0 || product.tolerance >= own_tolerance,
        "transposed products of single precision entries are off by 1e-7: use --precision "
        "double");
    for_blocks(n_, [&](std::int64_t begin, std::int64_t end) {
      for (int v = 0; v < product.vectors; ++v) {
        std::fill(y + v * n_ + begin, y + v * n_ + end, 0.0);
        for (std::int64_t i = 0; i < m_; ++i)
          for (std::int64_t j = begin; j < end; ++j)
            y[v * n_ + j] += x[v * m_ + i] * static_cast<double>(entries_[i * n_ + j]);
      }
    });
  }

  void assemble(std::int64_t begin, std::int64_t end) {
#pragma omp parallel for schedule(dynamic, 4)
    for (std::int64_t i = begin; i < end; ++i) exact_.integrate_row(i, entries_.get() + i * n_);
  }

  template <class Body>
  static void for_blocks(std::int64_t n, Body body) {
    const OneBlasThread one_blas_thread;
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t begin = 0; begin < n; begin += rows_at_a_time)
      body(begin, std::min(n, begin + rows_at_a_time));
  }

  Panels panels_;
  Layer layer_;
  double kappa_;
  bool is_whole_;
  ExactEntries exact_;
  std::int64_t m_, n_;
  // [m][n], row by row; not initialised, so that the thread that fills a row touches it first.
  std::unique_ptr<Entry[]> entries_;
};

}  // namespace

void refuse_large_dense_operator(std::size_t panels) {
  FMBEM_REQUIRE(panels <= dense_panels_at_most, "the dense operator takes at most "
                                                    << dense_panels_at_most
                                                    << " panels, and the mesh has " << panels
                                                    << ": use a coarser mesh");
}

std::shared_ptr<BoundaryOperator> make_dense_operator(const Panels& panels, const Layer& layer,
                                                      const OperatorOptions& options,
                                                      const PanelBlock& block) {
  const std::size_t n = panels.size(), rows = count_of(block.rows, n),
                    columns = count_of(block.columns, n);
  refuse_large_dense_operator(n);
  const bool single = options.precision == Precision::single_precision;  // not by default
  FMBEM_REQUIRE(!single || options.tolerance >= 1e-6,
                "single precision serves operator tolerances of 1e-6 and more, not "
                    << options.tolerance << ": use --precision double, or loosen the tolerance");
  const auto bytes =
      static_cast<std::int64_t>(rows * columns * (single ? sizeof(float) : sizeof(double)));
  if (bytes > available_memory()) {
    std::ostringstream sentence;
    sentence << "the dense matrix of " << n << " panels needs " << bytes << " bytes of memory and "
             << available_memory() << " are free: use a coarser mesh"
             << (single ? "" : " or --precision single");
    throw ResourceError(sentence.str());
  }
  if (single) return std::make_shared<DenseOperator<float>>(panels, layer, options, block);
  return std::make_shared<DenseOperator<double>>(panels, layer, options, block);
}

}  // namespace fmbem
