#include "fmbem/bem/layer/reflected_operator.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/bem/near/exact_entry.hpp"
#include "fmbem/bem/precond/cluster_inverse.hpp"
#include "fmbem/bem/precond/reflected_inverse.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

/// Rows and columns of a block in the whole: a row for each of the panels', a column for each image
/// of theirs.
class WholeBlock {
 public:
  WholeBlock(const Panels& panels, const PanelBlock& block) {
    const PanelImages& images = *panels.images;
    const std::size_t rows = count_of(block.rows, panels.size());
    std::vector<std::pair<std::int32_t, std::int32_t>> row;  // in the whole, and in the block
    for (std::size_t k = 0; k < rows; ++k)
      row.emplace_back(images.itself(panel_of(block.rows, k)), static_cast<std::int32_t>(k));
    std::sort(row.begin(), row.end());
    for (const auto& [of_whole, of_block] : row) {
      whole.rows.push_back(of_whole);
      row_.push_back(of_block);
    }
    std::vector<std::int32_t> column_of(panels.size(), block.columns.empty() ? 0 : -1);
    if (block.columns.empty()) std::iota(column_of.begin(), column_of.end(), 0);
    for (std::size_t k = 0; k < block.columns.size(); ++k)
      column_of[block.columns[k]] = static_cast<std::int32_t>(k);
    for (std::size_t w = 0; w < images.source.size(); ++w) {
      const std::int32_t column = column_of[images.source[w]];
      if (column < 0) continue;
      if (!block.columns.empty()) whole.columns.push_back(static_cast<std::int32_t>(w));
      column_.push_back(column);
      factor_.push_back(images.charge[w]);
    }
  }

  PanelBlock whole;

  std::size_t rows() const { return row_.size(); }
  std::size_t columns() const { return column_.size(); }  ///< of the whole

  void extend(const double* x, double* of_whole) const {
    for (std::size_t w = 0; w < column_.size(); ++w) of_whole[w] = factor_[w] * x[column_[w]];
  }
  void restrict(const double* of_whole, double* y) const {
    for (std::size_t k = 0; k < row_.size(); ++k) y[row_[k]] = of_whole[k];
  }
  /// The transposes of both.
  void scatter(const double* x, double* of_whole) const {
    for (std::size_t k = 0; k < row_.size(); ++k) of_whole[k] = x[row_[k]];
  }
  void fold(const double* of_whole, double* y, std::size_t columns) const {
    std::fill_n(y, columns, 0.0);
    for (std::size_t w = 0; w < column_.size(); ++w) y[column_[w]] += factor_[w] * of_whole[w];
  }

 private:
  std::vector<std::int32_t> row_;     ///< [rows of the whole]: in the block
  std::vector<std::int32_t> column_;  ///< [columns of the whole]: in the block
  std::vector<double> factor_;        ///< [columns of the whole]
};

class ReflectedOperator final : public BoundaryOperator {
 public:
  ReflectedOperator(const Panels& panels, const Layer& layer, const OperatorOptions& options,
                    const PanelBlock& block)
      : panels_(panels),
        layer_(layer),
        normal_rows_(options.normal_rows),
        kappa_(options.kappa),
        rows_(count_of(block.rows, panels.size())),
        columns_(count_of(block.columns, panels.size())),
        block_(panels, block),
        op_(make_boundary_operator(panels.images->whole, layer, options, block_.whole)) {}

  std::size_t size() const override { return panels_.size(); }
  std::size_t rows() const override { return rows_; }
  std::size_t columns() const override { return columns_; }
  OperatorInfo info() const override { return op_->info(); }
  double accurate_tolerance() const override { return op_->accurate_tolerance(); }
  double tightest_tolerance() const override { return op_->tightest_tolerance(); }
  double norm() const override { return op_->norm(); }

  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override {
    const PanelImages& images = *panels_.images;
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = begin; j < end; ++j) *block++ = entry(images, i, j);
  }

  std::unique_ptr<ApproximateInverse> approximate_inverse() const override {
    if (layer_ != single_layer || kappa_ > 0 || rows_ < size() || columns_ < size()) return nullptr;
    return std::make_unique<ReflectedInverse>(
        panels_, std::make_unique<ClusterInverse>(panels_.images->whole));
  }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    const std::size_t rows = block_.rows(), columns = block_.columns();
    const std::size_t from = product.transposed ? rows : columns,
                      to = product.transposed ? columns : rows;
    std::vector<double> of_x(from * product.vectors), of_y(to * product.vectors);
    for (int v = 0; v < product.vectors; ++v)
      product.transposed ? block_.scatter(x + v * rows_, of_x.data() + v * from)
                         : block_.extend(x + v * columns_, of_x.data() + v * from);
    op_->apply(of_x.data(), of_y.data(),
               {.vectors = product.vectors,
                .tolerance = product.tolerance,
                .transposed = product.transposed});
    for (int v = 0; v < product.vectors; ++v)
      product.transposed ? block_.fold(of_y.data() + v * to, y + v * columns_, columns_)
                         : block_.restrict(of_y.data() + v * to, y + v * rows_);
  }

 private:
  double entry(const PanelImages& images, std::int64_t i, std::int64_t j) const {
    const Triangle to = images.whole.triangle(images.itself(i));
    double sum = 0;
    for (std::size_t m = 0; m < images.reflections; ++m) {
      const std::int32_t w = images.image[j * images.reflections + m];
      if (w >= 0)
        sum += images.charge[w] * exact_entry(layer_, normal_rows_, to, images.whole.triangle(w),
                                              w == images.itself(i), kappa_);
    }
    return sum;
  }

  Panels panels_;
  Layer layer_;
  NormalRows normal_rows_;
  double kappa_;
  std::size_t rows_, columns_;
  WholeBlock block_;
  std::shared_ptr<BoundaryOperator> op_;
};

/// The mean of both sides says nothing of a panel in a plane.
void refuse_in_plane(const Panels& panels, std::span<const std::int32_t> chosen, const char* what) {
  for (std::size_t k = 0; k < count_of(chosen, panels.size()); ++k) {
    const std::int32_t panel = panel_of(chosen, k);
    FMBEM_REQUIRE(!panels.images->lies_in_plane(panel),
                  "the panel at " << place(panels.centroid(panel) + panels.origin)
                                  << " lies in a mirror plane, where " << what
                                  << ": leave it out of the mesh");
  }
}

}  // namespace

std::shared_ptr<BoundaryOperator> make_reflected_operator(const Panels& panels, const Layer& layer,
                                                          const OperatorOptions& options,
                                                          const PanelBlock& block) {
  FMBEM_REQUIRE(options.processor.value_or(Processor::cpu) == Processor::cpu,
                "operators with symmetry planes run on the CPU: choose that, or mesh the images");
  if (layer.source == Trace::normal)
    refuse_in_plane(panels, block.columns, "dipoles along the normal and their images cancel");
  if (layer.target == Trace::normal)
    refuse_in_plane(panels, block.rows, "there is no field along the normal");
  OperatorOptions of_whole = options;
  of_whole.processor = Processor::cpu;
  return std::make_shared<ReflectedOperator>(panels, layer, of_whole, block);
}

}  // namespace fmbem
