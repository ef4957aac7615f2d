#include "fmbem/bem/layer/shifted_operator.hpp"

#include <cmath>
#include <cstddef>
#include <sstream>
#include <utility>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

class ShiftedOperator final : public BoundaryOperator {
 public:
  ShiftedOperator(std::shared_ptr<const BoundaryOperator> a, double gamma, double beta)
      : a_(std::move(a)), gamma_(gamma), beta_(beta) {}

  std::size_t size() const override { return a_->size(); }
  OperatorInfo info() const override {
    OperatorInfo info = a_->info();
    std::ostringstream name;
    name << gamma_ << (beta_ < 0 ? " - " : " + ");
    if (std::abs(beta_) != 1) name << std::abs(beta_) << ' ';
    info.name = name.str() + info.name;
    return info;
  }
  double accurate_tolerance() const override { return a_->accurate_tolerance(); }
  double cheap_tolerance() const override { return a_->cheap_tolerance(); }
  double tightest_tolerance() const override { return a_->tightest_tolerance(); }
  double norm() const override { return std::abs(gamma_) + std::abs(beta_) * a_->norm(); }

  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override {
    a_->diagonal_block(begin, end, block);
    const std::int64_t n = end - begin;
    for (std::int64_t k = 0; k < n * n; ++k) block[k] *= beta_;
    for (std::int64_t i = 0; i < n; ++i) block[i * n + i] += gamma_;
  }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    Product of_a = product;
    of_a.alpha = beta_;
    of_a.beta = 0;
    a_->apply(x, y, of_a);
    const std::size_t numbers = size() * product.vectors;
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < numbers; ++i) y[i] += gamma_ * x[i];
  }

 private:
  std::shared_ptr<const BoundaryOperator> a_;
  double gamma_, beta_;
};

}  // namespace

std::shared_ptr<BoundaryOperator> make_shifted_operator(std::shared_ptr<const BoundaryOperator> a,
                                                        double gamma, double beta) {
  FMBEM_REQUIRE(a->rows() == a->size() && a->columns() == a->size(),
                "a multiple of the identity is added to whole operators, not to a block of "
                    << a->rows() << " rows and " << a->columns() << " columns");
  FMBEM_REQUIRE(a->processor() == Processor::cpu, "second-kind equations by "
                                                      << a->info().name
                                                      << " run on the CPU: use the backend cpu");
  return std::make_shared<ShiftedOperator>(std::move(a), gamma, beta);
}

}  // namespace fmbem
