#include "fmbem/bem/near/near_blocks.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "fmbem/bem/near/block_product.hpp"
#include "fmbem/bem/near/near_integrals.hpp"
#include "fmbem/bem/near/near_rows.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/near/transposed_sums.hpp"
#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"

namespace fmbem {
namespace {

using fmm::PointTree;
using fmm::Range;

/// The columns of V between the targets of a row of the near lists and its sources, one by one.
class NearColumns {
 public:
  NearColumns(std::span<const Triangle> panels, const fmm::PointTree& tree, double tolerance)
      : panels_(panels),
        tree_(tree),
        tolerance_(tolerance),
        integrals_(tolerance, FarKernel::potential) {}

  /// Calls body(panel, column [targets]) for each near source of the row, in the order of the
  /// lists.
  template <class Body>
  void for_row(std::size_t row, Body body) {
    const NearRow near = near_row(tree_, row);
    const Range range = near.targets;
    targets_.clear();
    for (std::int32_t i = range.begin; i < range.end; ++i)
      targets_.add(panels_[tree_.targets().order[i]].centroid);
    targets_.pad();
    for_near_sources(tree_, near, [&](std::int32_t panel) {
      const Triangle& t = panels_[panel];
      integrals_.integrate(t, targets_);
      column_.assign(integrals_.potential().begin(), integrals_.potential().begin() + range.size());
      for (const int i : integrals_.close())
        column_[i] = close_panel_potential(t, targets_[i], tolerance_);
      body(panel, column_.data());
    });
  }

 private:
  std::span<const Triangle> panels_;
  const fmm::PointTree& tree_;
  double tolerance_;
  NearIntegrals integrals_;
  IntegralTargets targets_;
  std::vector<double> column_;
};

template <class Entry>
class NearBlocksOf final : public NearBlocks {
 public:
  NearBlocksOf(std::span<const Triangle> panels, std::shared_ptr<const PointTree> tree,
               double tolerance, const Progress& progress)
      : panels_(panels), tree_(std::move(tree)) {
    const std::size_t rows = tree_->lists.p2p.targets.size();
    begin_.assign(1, 0);
    for (std::size_t row = 0; row < rows; ++row)
      begin_.push_back(begin_.back() + near_sources(tree_->octree, tree_->lists.p2p, row) *
                                           near_row(*tree_, row).targets.size());
    const std::int64_t needed = begin_.back() * static_cast<std::int64_t>(sizeof(Entry));
    if (needed > available_memory())
      throw ResourceError("the near field of " + std::to_string(panels.size()) + " panels needs " +
                          std::to_string(needed >> 20) + " MiB, but " +
                          std::to_string(available_memory() >> 20) +
                          " MiB are free: use a looser tolerance or a coarser mesh");
    entries_ = Buffer<Entry>(begin_.back() + block_rows);
    std::fill_n(entries_.data() + begin_.back(), block_rows, Entry(0));
    // Slices, so that progress (and what it throws) stays on the calling thread.
    const std::size_t slice = progress ? rows / 100 + 1 : rows;
    for (std::size_t first = 0; first < rows; first += slice) {
      const std::size_t last = std::min(first + slice, rows);
      integrate(first, last, tolerance);
      if (progress) progress(static_cast<double>(last) / static_cast<double>(rows));
    }
  }

  void add(const double* x, double* y, const Product& product) const override {
    product.transposed ? add_transposed(x, y, product.vectors) : add_rows(x, y, product.vectors);
  }
  std::int64_t bytes() const override {
    return static_cast<std::int64_t>(entries_.size() * sizeof(Entry));
  }

 private:
  void integrate(std::size_t first, std::size_t last, double tolerance) {
#pragma omp parallel
    {
      NearColumns columns(panels_, *tree_, tolerance);
#pragma omp for schedule(dynamic, 8)
      for (std::size_t row = first; row < last; ++row) {
        const int targets = near_row(*tree_, row).targets.size();
        Entry* out = entries_.data() + begin_[row];
        columns.for_row(row, [&](std::int32_t, const double* column) {
          for (int i = 0; i < targets; ++i) out[i] = static_cast<Entry>(column[i]);
          out += targets;
        });
      }
    }
  }

  void add_rows(const double* x, double* y, int n_vectors) const {
    const std::size_t n = panels_.size(), rows = tree_->lists.p2p.targets.size();
    for_vector_groups(n_vectors, [&](int first, int width, int present) {
#pragma omp parallel
      {
        std::vector<double> near_x, sum;
#pragma omp for schedule(dynamic, 8)
        for (std::size_t row = 0; row < rows; ++row) {
          const NearRow near = near_row(*tree_, row);
          const int targets = near.targets.size();
          const std::int64_t sources = (begin_[row + 1] - begin_[row]) / targets;
          near_x.assign(sources * width, 0.0);
          sum.resize(static_cast<std::size_t>(targets) * width);
          double* next = near_x.data();
          for_near_sources(*tree_, near, [&](std::int32_t panel) {
            for (int v = 0; v < present; ++v) next[v] = x[(first + v) * n + panel];
            next += width;
          });
          multiply_block(width, sources, targets, entries_.data() + begin_[row], near_x.data(),
                         sum.data());
          const RowVectors out{*tree_, near.targets};
          for (int v = 0; v < present; ++v)
            for (int i = 0; i < targets; ++i)
              y[(first + v) * n + out.panel(i)] += sum[v * targets + i];
        }
      }
    });
  }

  void add_transposed(const double* x, double* y, int n_vectors) const {
    add_transposed_columns(*tree_, x, y, n_vectors, [this] {
      return [this](std::size_t row, auto&& take) {
        const std::int64_t targets = near_row(*tree_, row).targets.size();
        for (std::int64_t k = begin_[row]; k < begin_[row + 1]; k += targets)
          take(entries_.data() + k);
      };
    });
  }

  std::span<const Triangle> panels_;
  std::shared_ptr<const PointTree> tree_;
  std::vector<std::int64_t> begin_;  ///< [rows + 1]
  Buffer<Entry> entries_;            ///< row after row, [near sources][targets]
};

}  // namespace

std::unique_ptr<NearBlocks> make_near_blocks(std::span<const Triangle> panels,
                                             std::shared_ptr<const PointTree> tree,
                                             double tolerance, Precision precision,
                                             const Progress& progress) {
  if (precision == Precision::single_precision)
    return std::make_unique<NearBlocksOf<float>>(panels, std::move(tree), tolerance, progress);
  return std::make_unique<NearBlocksOf<double>>(panels, std::move(tree), tolerance, progress);
}

void add_near_field_afresh(std::span<const Triangle> panels, const PointTree& tree,
                           double tolerance, const double* x, double* y, const Product& product) {
  if (product.transposed)
    return add_transposed_columns(tree, x, y, product.vectors, [&] {
      return
          [columns = NearColumns(panels, tree, tolerance)](std::size_t row, auto&& take) mutable {
            columns.for_row(row, [&](std::int32_t, const double* column) { take(column); });
          };
    });
  const std::size_t n = panels.size();
#pragma omp parallel
  {
    NearColumns columns(panels, tree, tolerance);
    std::vector<double> sum;
#pragma omp for schedule(dynamic, 8)
    for (std::size_t row = 0; row < tree.lists.p2p.targets.size(); ++row) {
      const RowVectors out{tree, near_row(tree, row).targets};
      const int targets = out.range.size();
      sum.assign(static_cast<std::size_t>(product.vectors) * targets, 0.0);
      columns.for_row(row, [&](std::int32_t panel, const double* column) {
        for (int v = 0; v < product.vectors; ++v)
          for (int i = 0; i < targets; ++i) sum[v * targets + i] += x[v * n + panel] * column[i];
      });
      for (int v = 0; v < product.vectors; ++v)
        for (int i = 0; i < targets; ++i) y[v * n + out.panel(i)] += sum[v * targets + i];
    }
  }
}

}  // namespace fmbem
