#include "fmbem/bem/layer/mixed_operator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

double largest(const std::vector<double>& values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

void check(const std::vector<double>& factors, const char* name, std::size_t n) {
  FMBEM_REQUIRE(factors.size() == n, "mixed rows have " << factors.size() << " factors of " << name
                                                        << " for " << n << " panels");
  for (const double factor : factors)
    FMBEM_REQUIRE(std::isfinite(factor),
                  "a factor of " << name << " in a mixed row is not finite");
}

MixedRows checked(MixedRows rows, std::size_t n) {
  check(rows.alpha, "V", n);
  check(rows.beta, "K'", n);
  check(rows.gamma, "σ", n);
  return rows;
}

/// Calls body(k, i) for number k of some vectors, which is that of panel i.
template <class Body>
void for_numbers(std::size_t size, int vectors, Body&& body) {
  const auto n = static_cast<std::int64_t>(size);
  for (std::int64_t v = 0; v < vectors; ++v)
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < n; ++i) body(v * n + i, i);
}

}  // namespace

MixedOperator::MixedOperator(const Panels& panels, MixedRows rows, const OperatorOptions& options)
    : panels_(panels),
      options_(options),
      rows_(checked(std::move(rows), panels.size())),
      equations_(panels, rows_) {
  if (largest(rows_.alpha) > 0) v_ = make_boundary_operator(panels, single_layer, options);
  if (largest(rows_.beta) > 0) flux();
}

const BoundaryOperator& MixedOperator::flux() const {
  if (!flux_) flux_ = make_boundary_operator(panels_, adjoint_double_layer, options_);
  return *flux_;
}

OperatorInfo MixedOperator::info() const {
  if (!flux_) return v_ ? v_->info() : OperatorInfo{.name = "σ"};
  OperatorInfo info = flux_->info();
  if (!v_) return info;
  const OperatorInfo of_v = v_->info();
  info.name = "V, K'";
  info.memory_bytes += of_v.memory_bytes;
  info.near_entries += of_v.near_entries;
  for (const auto& [stage, seconds] : of_v.setup_seconds) info.setup_seconds[stage] += seconds;
  for (const auto& [stage, seconds] : of_v.product_seconds) info.product_seconds[stage] += seconds;
  return info;
}

double MixedOperator::largest_of(double (BoundaryOperator::*of)() const) const {
  return std::max(v_ ? (v_.get()->*of)() : 0.0, flux_ ? (flux_.get()->*of)() : 0.0);
}
double MixedOperator::accurate_tolerance() const {
  return largest_of(&BoundaryOperator::accurate_tolerance);
}
double MixedOperator::tightest_tolerance() const {
  return largest_of(&BoundaryOperator::tightest_tolerance);
}

double MixedOperator::norm() const {
  const double of_v = v_ ? v_->norm() : 0, of_flux = flux_ ? flux_->norm() : 0;
  return largest(rows_.alpha) * of_v + largest(rows_.beta) * of_flux + largest(rows_.gamma);
}

void MixedOperator::diagonal_block(std::int64_t begin, std::int64_t end, double* block) const {
  const std::int64_t n = end - begin;
  std::vector<double> part(n * n);
  std::fill_n(block, n * n, 0.0);
  for (std::int64_t i = 0; i < n; ++i) block[i * n + i] = rows_.gamma[begin + i];
  const auto add = [&](const BoundaryOperator* op, const std::vector<double>& factor) {
    if (!op) return;
    op->diagonal_block(begin, end, part.data());
    for (std::int64_t k = 0; k < n * n; ++k) block[k] += factor[begin + k / n] * part[k];
  };
  add(v_.get(), rows_.alpha);
  add(flux_.get(), rows_.beta);
}

void MixedOperator::multiply(const double* x, double* y, const Product& product) const {
  product.transposed ? multiply_transposed(x, y, product) : multiply_rows(x, y, product);
}

void MixedOperator::multiply_rows(const double* x, double* y, const Product& product) const {
  const std::size_t n = size();
  for_numbers(n, product.vectors, [&](auto k, auto i) { y[k] = rows_.gamma[i] * x[k]; });
  std::vector<double> of_layer(n * product.vectors);
  const auto add = [&](const BoundaryOperator* op, const std::vector<double>& factor) {
    if (!op) return;
    op->apply(x, of_layer.data(), {.vectors = product.vectors, .tolerance = product.tolerance});
    for_numbers(n, product.vectors, [&](auto k, auto i) { y[k] += factor[i] * of_layer[k]; });
  };
  add(v_.get(), rows_.alpha);
  add(flux_.get(), rows_.beta);
  for (int v = 0; v < product.vectors; ++v) equations_.replace_means(x + v * n, y + v * n);
}

void MixedOperator::multiply_transposed(const double* x, double* y, const Product& product) const {
  const std::size_t n = size(), numbers = n * product.vectors;
  std::vector<double> of_rows(x, x + numbers), scaled(numbers), of_layer(numbers);
  std::fill_n(y, numbers, 0.0);
  for (int v = 0; v < product.vectors; ++v)
    equations_.replace_means_transposed(of_rows.data() + v * n, y + v * n);
  for_numbers(n, product.vectors, [&](auto k, auto i) { y[k] += rows_.gamma[i] * of_rows[k]; });
  const auto add = [&](const BoundaryOperator* op, const std::vector<double>& factor) {
    if (!op) return;
    for_numbers(n, product.vectors, [&](auto k, auto i) { scaled[k] = factor[i] * of_rows[k]; });
    op->apply(scaled.data(), of_layer.data(),
              {.vectors = product.vectors, .tolerance = product.tolerance, .transposed = true});
    for_numbers(n, product.vectors, [&](auto k, auto) { y[k] += of_layer[k]; });
  };
  add(v_.get(), rows_.alpha);
  add(flux_.get(), rows_.beta);
}

}  // namespace fmbem
