#include "fmbem/bem/near/green_blocks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "fmbem/bem/near/block_product.hpp"
#include "fmbem/bem/near/near_rows.hpp"
#include "fmbem/bem/near/transposed_sums.hpp"
#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {
namespace {

template <class Entry>
class GreenBlocksOf final : public GreenBlocks {
 public:
  GreenBlocksOf(std::span<const Triangle> panels, const GreenTargets& targets,
                std::shared_ptr<const NearPanels> near, std::span<const GreenTerm> terms,
                double tolerance)
      : panels_(panels.size()), targets_(targets.own.size()), near_(std::move(near)) {
    if (has_flux(terms)) outputs_ = 2;
    for (std::size_t row = 0; row < near_->rows(); ++row)
      begin_.push_back(begin_.back() + 2 * outputs_ * near_->count(row) *
                                           near_row(near_->tree(), row).targets.size());
    entries_ = room_for_entries<Entry>(panels.size(), begin_.back());
#pragma omp parallel
    {
      GreenColumns columns(panels, targets, *near_, terms, tolerance);
#pragma omp for schedule(dynamic, 8)
      for (std::size_t row = 0; row < near_->rows(); ++row) {
        const int count = near_row(near_->tree(), row).targets.size();
        Entry* out = entries_.data() + begin_[row];
        const std::int64_t of_output = 2 * near_->count(row) * count;
        columns.for_row(row, [&](const EntrySums& sums) {
          for (int k = 0; k < 2 * outputs_; ++k)
            for (int i = 0; i < count; ++i)
              out[(k / 2) * of_output + (k % 2) * count + i] = static_cast<Entry>(sums[k][i]);
          out += 2 * count;
        });
      }
    }
  }

  void add(const double* x, double* y) const override {
#pragma omp parallel
    {
      std::vector<double> near_x, sum;
#pragma omp for schedule(dynamic, 8)
      for (std::size_t row = 0; row < near_->rows(); ++row) {
        const RowVectors out{near_->tree(), near_row(near_->tree(), row).targets};
        const int count = out.range.size();
        near_x.clear();
        near_->for_row(row, [&](std::int32_t panel) {
          near_x.push_back(x[panel]);
          near_x.push_back(x[panels_ + panel]);
        });
        sum.resize(count);
        const auto columns = static_cast<std::int64_t>(near_x.size());
        for (int k = 0; k < outputs_; ++k) {
          multiply_block(1, columns, count, entries_.data() + begin_[row] + k * columns * count,
                         near_x.data(), sum.data());
          for (int i = 0; i < count; ++i) y[k * targets_ + out.target(i)] += sum[i];
        }
      }
    }
  }

  void add_transposed(const double* y, double* x) const override {
    SourceSums sums(*near_);
    for (int strength = 0; strength < 2; ++strength) {
#pragma omp parallel for schedule(dynamic, 8)
      for (std::size_t row = 0; row < near_->rows(); ++row) {
        const RowVectors in{near_->tree(), near_row(near_->tree(), row).targets};
        const int count = in.range.size();
        const std::int64_t near_panels = near_->count(row);
        double* const out = sums.of_row(row);
        std::fill_n(out, near_panels, 0.0);
        for (int k = 0; k < outputs_; ++k) {
          const Entry* entry =
              entries_.data() + begin_[row] + (2 * k * near_panels + strength) * count;
          for (std::int64_t j = 0; j < near_panels; ++j, entry += 2 * count)
            for (int i = 0; i < count; ++i)
              out[j] += static_cast<double>(entry[i]) * y[k * targets_ + in.target(i)];
        }
      }
      sums.add_to(x + strength * panels_);
    }
  }

  std::int64_t bytes() const override {
    return static_cast<std::int64_t>(entries_.size() * sizeof(Entry));
  }

 private:
  std::size_t panels_, targets_;
  std::shared_ptr<const NearPanels> near_;
  int outputs_ = 1;
  std::vector<std::int64_t> begin_{0};  ///< [rows + 1]
  Buffer<Entry> entries_;               ///< row after row, [outputs][near panels][2][targets]
};

}  // namespace

std::unique_ptr<GreenBlocks> make_green_blocks(std::span<const Triangle> panels,
                                               const GreenTargets& targets,
                                               std::shared_ptr<const NearPanels> near,
                                               std::span<const GreenTerm> terms, double tolerance,
                                               Precision precision) {
  if (precision == Precision::single_precision)
    return std::make_unique<GreenBlocksOf<float>>(panels, targets, std::move(near), terms,
                                                  tolerance);
  return std::make_unique<GreenBlocksOf<double>>(panels, targets, std::move(near), terms,
                                                 tolerance);
}

}  // namespace fmbem
