#include "fmbem/bem/precond/shifted_inverse.hpp"

#include <mutex>
#include <string>
#include <utility>

#include "fmbem/bem/layer/charge_equations.hpp"
#include "fmbem/bem/layer/cuda/mixed_vectors.hpp"

namespace fmbem {
namespace {

/// The inverse shifts as shifts.
std::shared_ptr<const MixedRows> inverse_of(const MixedRows& rows) {
  MixedRows result;
  result.part = rows.part;
  result.shifts = rows.inverse_shifts;
  return std::make_shared<const MixedRows>(std::move(result));
}

class ShiftedInverse final : public ApproximateInverse {
 public:
  ShiftedInverse(std::unique_ptr<ApproximateInverse> inverse, Areas area, const MixedRows& rows)
      : inverse_(std::move(inverse)), shifts_(std::move(area), inverse_of(rows)) {
    if (inverse_->processor() == Processor::cpu) return;
    const std::vector<double> ones(size(), 1.0);
    on_device_ = std::make_unique<cuda::bem::MixedVectors>(
        std::vector<cuda::bem::RowFactors>{{ones}}, shifts_);
  }

  std::string name() const override { return inverse_->name(); }
  std::size_t size() const override { return inverse_->size(); }
  Processor processor() const override { return inverse_->processor(); }
  void wait() const override { inverse_->wait(); }
  std::int64_t memory_bytes() const override { return inverse_->memory_bytes(); }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    const std::size_t n = size();
    std::vector<double> shifted(x, x + n * product.vectors);
    for (int v = 0; v < product.vectors; ++v)
      shifts_.change_rows(x + v * n, nullptr, shifted.data() + v * n);
    inverse_->apply(shifted.data(), y, product);
  }

  void multiply_on_device(const double* x, double* y, const Product& product) const override {
    if (!on_device_) return LinearMap::multiply_on_device(x, y, product);
    const std::lock_guard one_at_a_time(multiplying_);
    double* const shifted = on_device_->room(product.vectors);
    on_device_->set(0, x, shifted, product.vectors);
    on_device_->change_rows(x, shifted, product.vectors);
    inverse_->apply_on_device(shifted, y, product);
  }

 private:
  std::unique_ptr<ApproximateInverse> inverse_;
  ChargeEquations shifts_;
  std::unique_ptr<cuda::bem::MixedVectors> on_device_;  ///< null on the CPU
  mutable std::mutex multiplying_;                      ///< products there share room
};

}  // namespace

std::unique_ptr<ApproximateInverse> shifted_back(std::unique_ptr<ApproximateInverse> inverse,
                                                 Areas area, const MixedRows& rows) {
  if (rows.inverse_shifts.empty()) return inverse;
  return std::make_unique<ShiftedInverse>(std::move(inverse), std::move(area), rows);
}

}  // namespace fmbem
