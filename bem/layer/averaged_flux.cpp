#include "fmbem/bem/layer/averaged_flux.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/bem/layer/cuda/area_scaling.hpp"
#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {
namespace {

class AveragedFlux final : public BoundaryOperator {
 public:
  AveragedFlux(const Panels& panels, std::shared_ptr<const BoundaryOperator> k,
               const PanelBlock& block)
      : panels_(panels),
        k_(std::move(k)),
        row_area_(areas_of(panels, block.rows)),
        column_area_(areas_of(panels, block.columns)) {
    if (processor() == Processor::gpu) on_device_.emplace(*row_area_, *column_area_);
  }

  std::size_t size() const override { return panels_.size(); }
  std::size_t rows() const override { return row_area_->size(); }
  std::size_t columns() const override { return column_area_->size(); }
  Processor processor() const override { return k_->processor(); }
  void wait() const override {
    k_->wait();
    if (on_device_) on_device_->of_rows.wait();
  }
  OperatorInfo info() const override {
    OperatorInfo info = k_->info();
    info.name = adjoint_double_layer.name();
    return info;
  }
  double accurate_tolerance() const override { return k_->accurate_tolerance(); }
  double cheap_tolerance() const override { return k_->cheap_tolerance(); }
  double tightest_tolerance() const override { return k_->tightest_tolerance(); }
  double norm() const override { return k_->norm(); }

  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override {
    const std::int64_t n = end - begin;
    k_->diagonal_block(begin, end, block);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        double &lower = block[i * n + j], &upper = block[j * n + i];
        const double ratio = panels_.area(begin + j) / panels_.area(begin + i);
        lower = std::exchange(upper, lower / ratio) * ratio;
      }
  }
  /// K'_ij = A_j K_ji/A_i.
  bool columns_on_device(const Columns& columns, double* entries) const override {
    if (!on_device_ ||
        !k_->columns_on_device({columns.begin, columns.end, !columns.transposed}, entries))
      return false;
    const auto count = static_cast<int>(columns.count());
    if (columns.transposed) {
      on_device_->of_columns.multiply(entries, count);
      on_device_->of_rows.divide_each(entries, columns, column_area_->size());
    } else {
      on_device_->of_rows.divide(entries, count);
      on_device_->of_columns.multiply_each(entries, columns, row_area_->size());
    }
    return true;
  }

 protected:
  /// A⁻¹ (Kᵀ (A x)); transposed A (K (A⁻¹ x)).
  void multiply(const double* x, double* y, const Product& product) const override {
    const std::span<const double> before = product.transposed ? *row_area_ : *column_area_,
                                  after = product.transposed ? *column_area_ : *row_area_;
    LargeVector<double> scaled(before.size() * product.vectors);
    scale(before, x, product.vectors, product.transposed, scaled.data());
    k_->apply(scaled.data(), y, of_k(product));
    scale(after, y, product.vectors, !product.transposed, y);
  }

  void multiply_on_device(const double* x, double* y, const Product& product) const override {
    if (!on_device_) return LinearMap::multiply_on_device(x, y, product);
    const std::lock_guard one_at_a_time(multiplying_);  // products share room
    const int vectors = product.vectors;
    AreasOnDevice& areas = *on_device_;
    if (product.transposed) {
      k_->apply_on_device(areas.of_rows.divided(x, vectors), y, of_k(product));
      areas.of_columns.multiply(y, vectors);
    } else {
      k_->apply_on_device(areas.of_columns.multiplied(x, vectors), y, of_k(product));
      areas.of_rows.divide(y, vectors);
    }
  }

 private:
  /// Times the areas, or over them; x and y may be the same.
  static void scale(std::span<const double> area, const double* x, int vectors, bool divides,
                    double* y) {
    const auto n = static_cast<std::int64_t>(area.size());
    for (std::int64_t first = 0; first < vectors * n; first += n)
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < n; ++i)
        y[first + i] = divides ? x[first + i] / area[i] : x[first + i] * area[i];
  }
  static Product of_k(const Product& product) {
    return {.vectors = product.vectors,
            .tolerance = product.tolerance,
            .transposed = !product.transposed};
  }
  struct AreasOnDevice {
    AreasOnDevice(std::span<const double> row_area, std::span<const double> column_area)
        : of_rows(row_area), of_columns(column_area) {}
    cuda::bem::AreaScaling of_rows, of_columns;
  };

  Panels panels_;
  std::shared_ptr<const BoundaryOperator> k_;
  Areas row_area_, column_area_;
  mutable std::mutex multiplying_;
  mutable std::optional<AreasOnDevice> on_device_;  ///< where K is on the GPU
};

}  // namespace

std::shared_ptr<BoundaryOperator> make_averaged_flux(const Panels& panels,
                                                     std::shared_ptr<const BoundaryOperator> k,
                                                     const PanelBlock& block) {
  return std::make_shared<AveragedFlux>(panels, std::move(k), block);
}

}  // namespace fmbem
