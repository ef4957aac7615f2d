#include "fmbem/bem/layer/mixed_operator.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/bem/precond/cuda/mixed_inverse.hpp"
#include "fmbem/bem/precond/mixed_inverse.hpp"
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
    FMBEM_REQUIRE(std::isfinite(factor), "a factor of " << name << " in a mixed row is not finite");
}

MixedRows checked(MixedRows rows, std::size_t n) {
  check(rows.alpha, "V", n);
  check(rows.beta, "K'", n);
  check(rows.gamma, "σ", n);
  return rows;
}

/// The rows whose factor is not 0; an empty list if that is all of them.
std::vector<std::int32_t> rows_with(const std::vector<double>& factor) {
  std::vector<std::int32_t> rows;
  for (std::size_t i = 0; i < factor.size(); ++i)
    if (factor[i] != 0) rows.push_back(static_cast<std::int32_t>(i));
  return rows.size() < factor.size() ? rows : std::vector<std::int32_t>{};
}

/// Calls body(of_block, of_all, factor) for the numbers of some vectors in a block's rows.
template <class Body>
void for_rows(const PanelBlock& block, const std::vector<double>& factor, int vectors,
              Body&& body) {
  const std::size_t n = factor.size();
  const auto rows = static_cast<std::int64_t>(count_of(block.rows, n));
  for (std::int64_t v = 0; v < vectors; ++v)
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < rows; ++k) {
      const std::int32_t i = panel_of(block.rows, k);
      body(v * rows + k, v * n + i, factor[i]);
    }
}

}  // namespace

MixedOperator::MixedOperator(const Panels& panels, MixedRows rows, const OperatorOptions& options)
    : panels_(panels),
      rows_(checked(std::move(rows), panels.size())),
      equations_(panels, rows_),
      processor_(options.processor.value_or(faster_processor(panels.size(), options))) {
  OperatorOptions of_parts = options;
  of_parts.processor = processor_;
  add_part(single_layer, &MixedRows::alpha, 1, panels, of_parts);
  // ‖K'‖ counts as 1/2.
  const double looser = 1 + 2 * largest(rows_.gamma) / std::max(largest(rows_.beta), 1e-3);
  add_part(adjoint_double_layer, &MixedRows::beta, looser, panels, of_parts);
  if (processor_ == Processor::cpu) return;
  std::vector<std::span<const double>> factors{rows_.gamma};
  for (const Part& part : parts_) factors.push_back(rows_.*part.factor);
  on_device_ = std::make_unique<cuda::bem::MixedVectors>(factors, equations_);
}

void MixedOperator::wait() const {
  for (const Part& part : parts_) part.op->wait();
}

void MixedOperator::add_part(const Layer& layer, std::vector<double> MixedRows::*factor,
                             double looser, const Panels& panels, OperatorOptions options) {
  if (largest(rows_.*factor) == 0) return;
  options.tolerance = std::min(looser * options.tolerance, 0.5);
  PanelBlock block;
  if (processor_ == Processor::cpu) block.rows = rows_with(rows_.*factor);
  parts_.push_back({block, looser, factor, make_boundary_operator(panels, layer, options, block)});
}

OperatorInfo MixedOperator::info() const {
  OperatorInfo info{.name = "σ"};
  bool is_first = true;
  for (const Part& part : parts_) {
    OperatorInfo of_part = part.op->info();
    if (std::exchange(is_first, false)) {
      info = std::move(of_part);
      continue;
    }
    info.name += ", " + of_part.name;
    info.memory_bytes += of_part.memory_bytes;
    info.near_entries += of_part.near_entries;
    info.order = std::max(info.order, of_part.order);
    info.levels = std::max(info.levels, of_part.levels);
    info.max_leaf = std::max(info.max_leaf, of_part.max_leaf);
    for (const auto& [stage, seconds] : of_part.setup_seconds) info.setup_seconds[stage] += seconds;
    for (const auto& [stage, seconds] : of_part.product_seconds)
      info.product_seconds[stage] += seconds;
  }
  return info;
}

double MixedOperator::largest_of(double (BoundaryOperator::*of)() const) const {
  double result = 0;
  for (const Part& part : parts_) result = std::max(result, (part.op.get()->*of)() / part.looser);
  return result;
}
Product MixedOperator::of_part(const Part& part, const Product& product) {
  return {.vectors = product.vectors,
          .tolerance = part.looser * product.tolerance,
          .transposed = product.transposed};
}
double MixedOperator::accurate_tolerance() const {
  return largest_of(&BoundaryOperator::accurate_tolerance);
}
double MixedOperator::tightest_tolerance() const {
  return largest_of(&BoundaryOperator::tightest_tolerance);
}

double MixedOperator::norm() const {
  double norm = largest(rows_.gamma);
  for (const Part& part : parts_) norm += largest(rows_.*part.factor) * part.op->norm();
  return norm;
}

void MixedOperator::diagonal_block(std::int64_t begin, std::int64_t end, double* block) const {
  const std::int64_t n = end - begin;
  std::vector<double> of_part(n * n);
  std::fill_n(block, n * n, 0.0);
  for (std::int64_t i = 0; i < n; ++i) block[i * n + i] = rows_.gamma[begin + i];
  for (const Part& part : parts_) {
    part.op->diagonal_block(begin, end, of_part.data());
    for (std::int64_t k = 0; k < n * n; ++k)
      block[k] += (rows_.*part.factor)[begin + k / n] * of_part[k];
  }
}

std::unique_ptr<ApproximateInverse> MixedOperator::approximate_inverse() const {
  auto inverse = std::make_unique<MixedInverse>(panels_, triangles_of(panels_), rows_);
  if (processor_ == Processor::cpu) return inverse;
  return std::make_unique<cuda::bem::MixedInverse>(*inverse);
}

void MixedOperator::multiply(const double* x, double* y, const Product& product) const {
  product.transposed ? multiply_transposed(x, y, product) : multiply_rows(x, y, product);
}

void MixedOperator::multiply_on_device(const double* x, double* y, const Product& product) const {
  if (!on_device_) return LinearMap::multiply_on_device(x, y, product);
  FMBEM_REQUIRE(!product.transposed,
                "transposed products of mixed rows take vectors in host memory");
  const std::lock_guard one_at_a_time(multiplying_);
  on_device_->set(0, x, y, product.vectors);
  double* const room = on_device_->room(product.vectors);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    parts_[k].op->apply_on_device(x, room, of_part(parts_[k], product));
    on_device_->add(k + 1, room, y, product.vectors);
  }
  on_device_->replace_means(x, y, product.vectors);
}

void MixedOperator::multiply_rows(const double* x, double* y, const Product& product) const {
  const std::size_t n = size();
  for_rows({}, rows_.gamma, product.vectors,
           [&](auto, auto i, double gamma) { y[i] = gamma * x[i]; });
  for (const Part& part : parts_) {
    std::vector<double> result(part.op->rows() * product.vectors);
    part.op->apply(x, result.data(), of_part(part, product));
    for_rows(part.block, rows_.*part.factor, product.vectors,
             [&](auto k, auto i, double factor) { y[i] += factor * result[k]; });
  }
  for (int v = 0; v < product.vectors; ++v) equations_.replace_means(x + v * n, y + v * n);
}

void MixedOperator::multiply_transposed(const double* x, double* y, const Product& product) const {
  const std::size_t n = size(), numbers = n * product.vectors;
  std::vector<double> of_rows(x, x + numbers), result(numbers);
  std::fill_n(y, numbers, 0.0);
  for (int v = 0; v < product.vectors; ++v)
    equations_.replace_means_transposed(of_rows.data() + v * n, y + v * n);
  for_rows({}, rows_.gamma, product.vectors,
           [&](auto, auto i, double gamma) { y[i] += gamma * of_rows[i]; });
  for (const Part& part : parts_) {
    std::vector<double> scaled(part.op->rows() * product.vectors);
    for_rows(part.block, rows_.*part.factor, product.vectors,
             [&](auto k, auto i, double factor) { scaled[k] = factor * of_rows[i]; });
    part.op->apply(scaled.data(), result.data(), of_part(part, product));
    for (std::size_t k = 0; k < numbers; ++k) y[k] += result[k];
  }
}

}  // namespace fmbem
