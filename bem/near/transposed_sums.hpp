#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fmbem/bem/near/near_panels.hpp"
#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {

/// Puts the targets of a row into vectors.
struct RowVectors {
  const fmm::PointTree& tree;
  fmm::Range range;
  std::int32_t target(std::int32_t i) const { return tree.targets().order[range.begin + i]; }
};

/// Sums for the near panels of each row. A transposed product adds them up for each panel in the
/// order of the rows: the bits are the same whichever thread did which row.
class SourceSums {
 public:
  explicit SourceSums(const NearPanels& near) : begin_{0}, entries_begin_(near.panels() + 1) {
    for (std::size_t row = 0; row < near.rows(); ++row)
      begin_.push_back(begin_.back() + near.count(row));
    for_entries(near, [&](std::int32_t panel, std::int64_t) { ++entries_begin_[panel + 1]; });
    for (std::size_t j = 1; j < entries_begin_.size(); ++j)
      entries_begin_[j] += entries_begin_[j - 1];
    entries_.resize(begin_.back());
    std::vector<std::int64_t> next(entries_begin_.begin(), entries_begin_.end() - 1);
    for_entries(near, [&](std::int32_t panel, std::int64_t k) { entries_[next[panel]++] = k; });
    sums_.resize(begin_.back());
  }

  /// Those of a row, [near panels].
  double* of_row(std::size_t row) { return sums_.data() + begin_[row]; }

  /// y[panel] += its sums.
  void add_to(double* y) const {
    const auto panels = static_cast<std::int64_t>(entries_begin_.size()) - 1;
#pragma omp parallel for schedule(static)
    for (std::int64_t j = 0; j < panels; ++j)
      for (std::int64_t k = entries_begin_[j]; k < entries_begin_[j + 1]; ++k)
        y[j] += sums_[entries_[k]];
  }

 private:
  template <class Body>
  static void for_entries(const NearPanels& near, Body&& body) {
    std::int64_t k = 0;
    for (std::size_t row = 0; row < near.rows(); ++row)
      near.for_row(row, [&](std::int32_t panel) { body(panel, k++); });
  }

  std::vector<std::int64_t> begin_;          ///< [rows + 1]
  std::vector<std::int64_t> entries_begin_;  ///< [panels + 1]
  std::vector<std::int64_t> entries_;        ///< of each panel, which sums are its own
  LargeVector<double> sums_;
};

/// y += Aᵀ x for vectors of so many targets, and of the near field's panels. Each thread calls
/// make_columns(), which returns for_columns(row, take): this calls take(column [targets]) for each
/// near panel of a row, in its order.
template <class MakeColumns>
void add_transposed_columns(const NearPanels& near, std::size_t targets, const double* x, double* y,
                            int n_vectors, MakeColumns&& make_columns) {
  const std::size_t n = near.panels(), rows = near.rows();
  SourceSums sums(near);
  for (int v = 0; v < n_vectors; ++v) {
#pragma omp parallel
    {
      auto for_columns = make_columns();
#pragma omp for schedule(dynamic, 8)
      for (std::size_t row = 0; row < rows; ++row) {
        const RowVectors in{near.tree(), near_row(near.tree(), row).targets};
        double* out = sums.of_row(row);
        for_columns(row, [&](const auto* column) {
          *out = 0;
          for (int i = 0; i < in.range.size(); ++i)
            *out += static_cast<double>(column[i]) * x[v * targets + in.target(i)];
          ++out;
        });
      }
    }
    sums.add_to(y + v * n);
  }
}

}  // namespace fmbem
