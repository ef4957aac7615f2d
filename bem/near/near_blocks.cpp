#include "fmbem/bem/near/near_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/sliver.hpp"
#include "fmbem/bem/near/block_product.hpp"
#include "fmbem/bem/near/near_integrals.hpp"
#include "fmbem/bem/near/near_rows.hpp"
#include "fmbem/bem/near/strip_integrals.hpp"
#include "fmbem/bem/near/transposed_sums.hpp"
#include "fmbem/bem/near/yukawa_integrals.hpp"
#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {
namespace {

using fmm::PointTree;
using fmm::Range;

/// Makes the columns of V or K between the targets of a row of the near lists and its panels, one
/// by one.
class NearColumns {
 public:
  NearColumns(std::span<const Triangle> panels, const NearTargets& all, const NearPanels& near,
              const PanelKernel& kernel, double tolerance)
      : panels_(panels),
        all_(all),
        near_(near),
        kernel_(kernel),
        tolerance_(tolerance),
        integrals_(tolerance,
                   kernel.source == Trace::value ? FarKernel::potential : FarKernel::gradient,
                   kernel.kappa),
        strips_(tolerance) {}

  /// Calls body(panel, column [targets]) for each near panel of the row, in its order.
  template <class Body>
  void for_row(std::size_t row, Body body) {
    const PointTree& tree = near_.tree();
    const Range range = near_row(tree, row).targets;
    targets_.clear();
    for (std::int32_t i = range.begin; i < range.end; ++i)
      targets_.add(all_.centroid[tree.targets().order[i]]);
    targets_.pad();
    if (near_.has_pieces()) return for_stretches(row, body);
    near_.for_row(row, [&](std::int32_t panel) {
      if (kernel_.source == Trace::value)
        integrate(panels_[panel]);
      else
        integrate_normal(panel, tree.targets().order.data() + range.begin);
      body(panel, column_.data());
    });
  }

 private:
  void integrate(const Triangle& t) {
    integrals_.integrate(t, targets_);
    column_.assign(integrals_.potential().begin(),
                   integrals_.potential().begin() + targets_.count());
    const bool is_sliver = shape(t) <= shaped_enough(tolerance_);
    for (const int i : integrals_.close())
      column_[i] = kernel_.kappa > 0 ? yukawa_integrals(t, targets_[i], kernel_.kappa).potential
                   : is_sliver       ? strips_.at(t, targets_[i])
                                     : triangle_potential(t, targets_[i]);
  }

  /// K where rules do not serve: the solid angle. `order`: of the targets.
  void integrate_normal(std::int32_t panel, const std::int32_t* order) {
    const Triangle& t = panels_[panel];
    integrals_.integrate(t, targets_);
    column_.resize(targets_.count());
    for (int i = 0; i < targets_.count(); ++i)
      column_[i] =
          -(t.normal.x * integrals_.gradient(0)[i] + t.normal.y * integrals_.gradient(1)[i] +
            t.normal.z * integrals_.gradient(2)[i]);
    for (const int i : integrals_.close())
      column_[i] = all_.own[order[i]] == panel ? 0
                   : kernel_.kappa > 0
                       ? yukawa_integrals(t, targets_[i], kernel_.kappa).double_layer
                       : triangle_double_layer(t, targets_[i]);
  }

  template <class Body>
  void for_stretches(std::size_t row, Body body) {
    near_.stretches(row, stretches_);
    const PanelPieces& pieces = near_.pieces();
    for (std::size_t k = 0; k < stretches_.size();) {
      const std::int32_t panel = stretches_[k].panel;
      const Triangle& t = panels_[panel];
      if (!pieces.is_cut(panel)) {
        integrate(t);
        ++k;
      } else {
        const Strip strip = make_strip(t);
        column_.assign(targets_.count(), 0.0);
        for (; k < stretches_.size() && stretches_[k].panel == panel; ++k)
          strips_.add(t, strip, pieces.begin_of(stretches_[k].first),
                      pieces.end_of(stretches_[k].end - 1), targets_, column_.data());
      }
      body(panel, column_.data());
    }
  }

  std::span<const Triangle> panels_;
  const NearTargets& all_;
  const NearPanels& near_;
  PanelKernel kernel_;
  double tolerance_;
  NearIntegrals integrals_;
  StripIntegrals strips_;
  IntegralTargets targets_;
  std::vector<double> column_;
  std::vector<NearPanels::Stretch> stretches_;
};

template <class Entry>
class NearBlocksOf final : public NearBlocks {
 public:
  NearBlocksOf(std::span<const Triangle> panels, const NearTargets& targets,
               std::shared_ptr<const NearPanels> near, const PanelKernel& kernel, double tolerance,
               const Progress& progress)
      : panels_(panels), targets_(targets), near_(std::move(near)), tree_(near_->tree()) {
    const std::size_t rows = near_->rows();
    begin_.assign(1, 0);
    for (std::size_t row = 0; row < rows; ++row)
      begin_.push_back(begin_.back() + near_->count(row) * near_row(tree_, row).targets.size());
    entries_ = room_for_entries<Entry>(panels.size(), begin_.back());
    // In slices, so that progress (and what it throws) stays on the calling thread.
    const std::size_t slice = progress ? rows / 100 + 1 : rows;
    for (std::size_t first = 0; first < rows; first += slice) {
      const std::size_t last = std::min(first + slice, rows);
      integrate(first, last, kernel, tolerance);
      if (progress) progress(static_cast<double>(last) / static_cast<double>(rows));
    }
  }

  void add(const double* x, double* y, const Product& product) const override {
    product.transposed ? add_transposed(x, y, product.vectors) : add_rows(x, y, product.vectors);
  }
  std::int64_t bytes() const override {
    return static_cast<std::int64_t>(entries_.size() * sizeof(Entry));
  }
  double largest_rounding() const override { return largest_rounding_; }

 private:
  void integrate(std::size_t first, std::size_t last, const PanelKernel& kernel, double tolerance) {
    double rounding = largest_rounding_;
#pragma omp parallel reduction(max : rounding)
    {
      NearColumns columns(panels_, targets_, *near_, kernel, tolerance);
#pragma omp for schedule(dynamic, 8)
      for (std::size_t row = first; row < last; ++row) {
        const int targets = near_row(tree_, row).targets.size();
        Entry* out = entries_.data() + begin_[row];
        columns.for_row(row, [&](std::int32_t, const double* column) {
          for (int i = 0; i < targets; ++i) {
            out[i] = static_cast<Entry>(column[i]);
            rounding = std::max(rounding, std::abs(column[i] - static_cast<double>(out[i])));
          }
          out += targets;
        });
      }
    }
    largest_rounding_ = rounding;
  }

  void add_rows(const double* x, double* y, int n_vectors) const {
    const std::size_t n = panels_.size(), m = targets_.own.size(), rows = near_->rows();
    for_vector_groups(n_vectors, [&](int first, int width, int present) {
#pragma omp parallel
      {
        std::vector<double> near_x, sum;
#pragma omp for schedule(dynamic, 8)
        for (std::size_t row = 0; row < rows; ++row) {
          const RowVectors out{tree_, near_row(tree_, row).targets};
          const int targets = out.range.size();
          const std::int64_t sources = (begin_[row + 1] - begin_[row]) / targets;
          near_x.assign(sources * width, 0.0);
          sum.resize(static_cast<std::size_t>(targets) * width);
          double* next = near_x.data();
          near_->for_row(row, [&](std::int32_t panel) {
            for (int v = 0; v < present; ++v) next[v] = x[(first + v) * n + panel];
            next += width;
          });
          multiply_block(width, sources, targets, entries_.data() + begin_[row], near_x.data(),
                         sum.data());
          for (int v = 0; v < present; ++v)
            for (int i = 0; i < targets; ++i)
              y[(first + v) * m + out.target(i)] += sum[v * targets + i];
        }
      }
    });
  }

  void add_transposed(const double* x, double* y, int n_vectors) const {
    add_transposed_columns(*near_, targets_.own.size(), x, y, n_vectors, [this] {
      return [this](std::size_t row, auto&& take) {
        const std::int64_t targets = near_row(tree_, row).targets.size();
        for (std::int64_t k = begin_[row]; k < begin_[row + 1]; k += targets)
          take(entries_.data() + k);
      };
    });
  }

  std::span<const Triangle> panels_;
  const NearTargets& targets_;
  std::shared_ptr<const NearPanels> near_;
  const PointTree& tree_;
  std::vector<std::int64_t> begin_;  ///< [rows + 1]
  Buffer<Entry> entries_;            ///< row after row, [near panels][targets]
  double largest_rounding_ = 0;
};

}  // namespace

std::unique_ptr<NearBlocks> make_near_blocks(std::span<const Triangle> panels,
                                             const NearTargets& targets,
                                             std::shared_ptr<const NearPanels> near,
                                             const PanelKernel& kernel, double tolerance,
                                             Precision precision, const Progress& progress) {
  if (precision == Precision::single_precision)
    return std::make_unique<NearBlocksOf<float>>(panels, targets, std::move(near), kernel,
                                                 tolerance, progress);
  return std::make_unique<NearBlocksOf<double>>(panels, targets, std::move(near), kernel, tolerance,
                                                progress);
}

void add_near_field_afresh(std::span<const Triangle> panels, const NearTargets& targets,
                           const NearPanels& near, const PanelKernel& kernel, double tolerance,
                           const double* x, double* y, const Product& product) {
  const std::size_t n = panels.size(), m = targets.own.size();
  if (product.transposed)
    return add_transposed_columns(near, m, x, y, product.vectors, [&] {
      return [columns = NearColumns(panels, targets, near, kernel, tolerance)](
                 std::size_t row, auto&& take) mutable {
        columns.for_row(row, [&](std::int32_t, const double* column) { take(column); });
      };
    });
#pragma omp parallel
  {
    NearColumns columns(panels, targets, near, kernel, tolerance);
    std::vector<double> sum;
#pragma omp for schedule(dynamic, 8)
    for (std::size_t row = 0; row < near.rows(); ++row) {
      const RowVectors out{near.tree(), near_row(near.tree(), row).targets};
      const int count = out.range.size();
      sum.assign(static_cast<std::size_t>(product.vectors) * count, 0.0);
      columns.for_row(row, [&](std::int32_t panel, const double* column) {
        for (int v = 0; v < product.vectors; ++v)
          for (int i = 0; i < count; ++i) sum[v * count + i] += x[v * n + panel] * column[i];
      });
      for (int v = 0; v < product.vectors; ++v)
        for (int i = 0; i < count; ++i) y[v * m + out.target(i)] += sum[v * count + i];
    }
  }
}

}  // namespace fmbem
