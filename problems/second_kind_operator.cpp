#include "fmbem/problems/second_kind_operator.hpp"

#include <utility>

namespace fmbem {

SecondKindOperator::SecondKindOperator(const Panels& panels,
                                       std::shared_ptr<const BoundaryOperator> k,
                                       std::vector<double> jump, std::vector<Charge> charges)
    : area_(areas_of(panels)),
      k_(std::move(k)),
      jump_(std::move(jump)),
      charges_(std::move(charges)) {}

OperatorInfo SecondKindOperator::info() const {
  OperatorInfo info = k_->info();
  info.name = "K - s/2";
  return info;
}

void SecondKindOperator::diagonal_block(std::int64_t begin, std::int64_t end, double* block) const {
  const std::int64_t n = end - begin;
  k_->diagonal_block(begin, end, block);
  for (std::int64_t i = 0; i < n; ++i) block[i * n + i] -= 0.5 * jump_[begin + i];
  for (const Charge& charge : charges_)
    for (const std::int32_t j : charge.panels)
      if (j >= begin && j < end)
        for (std::int64_t i = 0; i < n; ++i)
          block[i * n + j - begin] += (*area_)[j] / charge.area * charge.potential[begin + i];
}

double SecondKindOperator::mean(const Charge& charge, const double* mu) const {
  double sum = 0;
  for (const std::int32_t j : charge.panels) sum += (*area_)[j] * mu[j];
  return sum / charge.area;
}

void SecondKindOperator::multiply(const double* x, double* y, const Product& product) const {
  refuse_transposed(product, "the operator of the second kind");
  k_->apply(x, y, product);
  const std::size_t n = size();
  for (int v = 0; v < product.vectors; ++v) {
    for (std::size_t i = 0; i < n; ++i) y[v * n + i] -= 0.5 * jump_[i] * x[v * n + i];
    for (const Charge& charge : charges_) {
      const double of_part = mean(charge, x + v * n);
      for (std::size_t i = 0; i < n; ++i) y[v * n + i] += of_part * charge.potential[i];
    }
  }
}

}  // namespace fmbem
