#include "fmbem/problems/solvation/block_inverses.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fmbem/cuda/device_array.hpp"

namespace fmbem {
namespace {

constexpr char name_of_blocks_inverse[] = "inverse of panels' blocks";

/// Inverses of the 2×2 blocks of panels.
class PanelBlocksInverse final : public ApproximateInverse {
 public:
  explicit PanelBlocksInverse(const BoundaryOperator& op)
      : size_(op.size()), inverse_(2 * op.size()) {
    const auto panels = static_cast<std::int64_t>(size_ / 2);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < panels; ++i) {
      double a[4];
      op.diagonal_block(2 * i, 2 * i + 2, a);
      const double determinant = a[0] * a[3] - a[1] * a[2];
      const double inverse[4] = {a[3], -a[1], -a[2], a[0]};
      for (int k = 0; k < 4; ++k) inverse_[4 * i + k] = inverse[k] / determinant;
    }
  }
  std::string name() const override { return name_of_blocks_inverse; }
  std::size_t size() const override { return size_; }
  std::int64_t memory_bytes() const override {
    return static_cast<std::int64_t>(inverse_.size() * sizeof(double));
  }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    refuse_transposed(product, "the inverse of panels' blocks");
    for (int v = 0; v < product.vectors; ++v, x += size_, y += size_)
#pragma omp parallel for schedule(static)
      for (std::size_t i = 0; i < size_; i += 2) {
        const double* a = inverse_.data() + 2 * i;
        y[i] = a[0] * x[i] + a[1] * x[i + 1];
        y[i + 1] = a[2] * x[i] + a[3] * x[i + 1];
      }
  }

 private:
  std::size_t size_;
  std::vector<double> inverse_;  ///< [panels][2][2]
};

/// The same in the GPU's memory.
class DeviceBlocksInverse final : public ApproximateInverse {
 public:
  explicit DeviceBlocksInverse(cuda::bem::PairBlocks inverse) : inverse_(std::move(inverse)) {}
  std::string name() const override { return name_of_blocks_inverse; }
  std::size_t size() const override { return 2 * inverse_.panels(); }
  Processor processor() const override { return Processor::gpu; }
  void wait() const override { inverse_.wait(); }
  std::int64_t memory_bytes() const override { return inverse_.bytes(); }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    const std::size_t n = static_cast<std::size_t>(product.vectors) * size();
    const cuda::DeviceArray<double> d_x(std::span(x, n)), d_y(n);
    multiply_on_device(d_x.data(), d_y.data(), product);
    wait();
    d_y.download({y, n});
  }
  void multiply_on_device(const double* x, double* y, const Product& product) const override {
    refuse_transposed(product, "the inverse of panels' blocks");
    inverse_.multiply(x, y, product.vectors);
  }

 private:
  cuda::bem::PairBlocks inverse_;
};

}  // namespace

std::unique_ptr<ApproximateInverse> inverse_of_blocks(const BoundaryOperator& op) {
  return std::make_unique<PanelBlocksInverse>(op);
}
std::unique_ptr<ApproximateInverse> inverse_of_blocks(cuda::bem::PairBlocks inverse) {
  return std::make_unique<DeviceBlocksInverse>(std::move(inverse));
}

}  // namespace fmbem
