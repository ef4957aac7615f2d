#include "fmbem/problems/solvation/block_inverses.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fmbem/cuda/device_array.hpp"

namespace fmbem {
namespace {

/// Inverses of the 2×2 blocks of panels, in the GPU's memory.
class DeviceBlocksInverse final : public ApproximateInverse {
 public:
  explicit DeviceBlocksInverse(cuda::bem::PairBlocks inverse) : inverse_(std::move(inverse)) {}
  std::string name() const override { return "inverse of panels' blocks"; }
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

std::unique_ptr<ApproximateInverse> inverse_of_blocks(cuda::bem::PairBlocks inverse) {
  return std::make_unique<DeviceBlocksInverse>(std::move(inverse));
}

}  // namespace fmbem
