#include "fmbem/bem/layer/mixed_operator.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/bem/precond/cuda/mixed_inverse.hpp"
#include "fmbem/bem/precond/mixed_inverse.hpp"
#include "fmbem/bem/precond/reflected_inverse.hpp"
#include "fmbem/bem/precond/shifted_inverse.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

void check(const std::vector<double>& factors, const char* name, std::size_t n) {
  FMBEM_REQUIRE(factors.size() == n, "mixed rows have " << factors.size() << " factors of " << name
                                                        << " for " << n << " panels");
  bool is_finite = true;
#pragma omp parallel for schedule(static) reduction(&& : is_finite)
  for (std::size_t i = 0; i < n; ++i) is_finite = is_finite && std::isfinite(factors[i]);
  FMBEM_REQUIRE(is_finite, "a factor of " << name << " in a mixed row is not finite");
}

std::shared_ptr<const MixedRows> checked(std::shared_ptr<const MixedRows> rows, std::size_t n) {
  check(rows->alpha, "V", n);
  check(rows->beta, "K'", n);
  check(rows->gamma, "σ", n);
  return rows;
}

Processor processor_for(const Panels& panels, const OperatorOptions& options) {
  return options.processor.value_or(panels.images ? Processor::cpu
                                                  : faster_processor(panels.size(), options));
}

/// Columns of entries that parts have room for on the GPU.
constexpr std::int64_t columns_at_once = 512;

/// Calls body(of_block, of_all, factor) for the numbers of some vectors in a block's rows.
template <class Body>
void for_rows(const PanelBlock& block, std::span<const double> factor, int vectors, Body&& body) {
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

class MixedOperator::RowsOfV final : public LinearMap {
 public:
  explicit RowsOfV(const MixedOperator& all) : all_(all) {}
  std::size_t rows() const override { return all_.size(); }
  std::size_t columns() const override { return all_.size(); }
  Processor processor() const override { return all_.processor(); }
  void wait() const override { all_.wait(); }

 protected:
  void multiply(const double* x, double* y, const Product& product) const override {
    refuse_transposed(product, "the rows of V");
    std::fill_n(y, rows() * product.vectors, 0.0);
    for (const Part& part : all_.parts_)
      if (is_v(part)) all_.add_product(part, x, y, product);
  }
  void multiply_on_device(const double* x, double* y, const Product& product) const override {
    refuse_transposed(product, "the rows of V");
    const std::lock_guard one_at_a_time(all_.multiplying_);
    all_.on_device_->clear(y, product.vectors);
    for (std::size_t k = 0; k < all_.parts_.size(); ++k)
      if (is_v(all_.parts_[k])) all_.add_product_on_device(k, x, y, product);
  }

 private:
  const MixedOperator& all_;
};

MixedOperator::Part MixedOperator::make_v(const Panels& panels, const MixedRows& rows,
                                          const OperatorOptions& options) {
  check(rows.alpha, "V", panels.size());
  OperatorOptions of_part = options;
  of_part.processor = processor_for(panels, options);
  return part_of_v(panels, rows, of_part);
}

MixedOperator::MixedOperator(const Panels& panels, std::shared_ptr<const MixedRows> rows,
                             const OperatorOptions& options, std::optional<Part> v)
    : panels_(panels),
      rows_(checked(std::move(rows), panels.size())),
      equations_(panels, rows_),
      processor_(processor_for(panels, options)) {
  OperatorOptions of_parts = options;
  of_parts.processor = processor_;
  parts_ = make_parts(v ? *std::move(v) : part_of_v(panels, *rows_, of_parts), panels, *rows_,
                      equations_.needs_flux(), of_parts);
  norm_ = norm_of(parts_, *rows_);
  rest_norm_ = largest(rows_->gamma) + largest(rows_->beta) / 2;
  if (std::any_of(parts_.begin(), parts_.end(), is_v)) v_ = std::make_unique<RowsOfV>(*this);
  if (processor_ == Processor::cpu) return;
  std::vector<cuda::bem::RowFactors> factors{{rows_->gamma}};
  for (const Part& part : parts_) factors.push_back({(*rows_).*part.factor, part.block.rows});
  on_device_ = std::make_unique<cuda::bem::MixedVectors>(factors, equations_);
}

void MixedOperator::wait() const {
  for (const Part& part : parts_) part.op->wait();
  if (on_device_) on_device_->wait();
}

OperatorInfo MixedOperator::info() const { return info_of(parts_); }

Product MixedOperator::of_part(const Part& part, const Product& product) {
  return {.vectors = product.vectors,
          .tolerance = part.looser * product.tolerance,
          .transposed = product.transposed};
}
double MixedOperator::accurate_tolerance() const {
  return largest_of(parts_, &BoundaryOperator::accurate_tolerance);
}
double MixedOperator::cheap_tolerance() const {
  return largest_of(parts_, &BoundaryOperator::cheap_tolerance);
}
double MixedOperator::tightest_tolerance() const {
  return largest_of(parts_, &BoundaryOperator::tightest_tolerance);
}

void MixedOperator::diagonal_block(std::int64_t begin, std::int64_t end, double* block) const {
  const std::int64_t n = end - begin;
  std::vector<double> of_part(n * n);
  std::fill_n(block, n * n, 0.0);
  for (std::int64_t i = 0; i < n; ++i) block[i * n + i] = rows_->gamma[begin + i];
  for (const Part& part : parts_) {
    part.op->diagonal_block(begin, end, of_part.data());
    for (std::int64_t k = 0; k < n * n; ++k)
      block[k] += ((*rows_).*part.factor)[begin + k / n] * of_part[k];
  }
}

bool MixedOperator::columns_on_device(const Columns& columns, double* entries) const {
  if (!on_device_ || columns.transposed) return false;
  const std::lock_guard one_at_a_time(multiplying_);
  for (std::int64_t first = columns.begin; first < columns.end; first += columns_at_once) {
    const Columns some{first, std::min(first + columns_at_once, columns.end)};
    const auto count = static_cast<int>(some.count());
    double* const y = entries + (first - columns.begin) * static_cast<std::int64_t>(size());
    double* const room = on_device_->room(count);
    on_device_->set_columns(0, some, y);
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      if (!parts_[k].op->columns_on_device(some, room)) return false;
      on_device_->add(k + 1, room, y, count);
    }
  }
  return true;
}

std::unique_ptr<ApproximateInverse> MixedOperator::approximate_inverse() const {
  std::unique_ptr<ApproximateInverse> inverse;
  if (processor_ == Processor::cpu)
    inverse = make_mixed_inverse(panels_, *rows_);
  else
    inverse = std::make_unique<cuda::bem::MixedInverse>(panels_, *rows_);
  if (rows_->inverse_shifts.empty()) return inverse;
  return shifted_back(std::move(inverse), areas_of(panels_), *rows_);
}

void MixedOperator::multiply(const double* x, double* y, const Product& product) const {
  product.transposed ? multiply_transposed(x, y, product) : multiply_rows(x, y, product);
}

void MixedOperator::multiply_on_device(const double* x, double* y, const Product& product) const {
  if (!on_device_) return LinearMap::multiply_on_device(x, y, product);
  const std::lock_guard one_at_a_time(multiplying_);
  if (product.transposed) return multiply_transposed_on_device(x, y, product);
  on_device_->set(0, x, y, product.vectors);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const double* const result = add_product_on_device(k, x, y, product);
    if (!is_v(parts_[k])) on_device_->sum_fluxes(k + 1, result, product.vectors);
  }
  on_device_->change_rows(x, y, product.vectors);
}

void MixedOperator::multiply_transposed_on_device(const double* x, double* y,
                                                  const Product& product) const {
  const int vectors = product.vectors;
  const double* const of_rows = on_device_->change_rows_transposed(x, y, vectors);
  on_device_->add(0, of_rows, y, vectors);
  double* const taken = on_device_->room(2 * vectors);
  double* const result = taken + size() * static_cast<std::size_t>(vectors);
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    on_device_->take(k + 1, of_rows, !is_v(parts_[k]), taken, vectors);
    parts_[k].op->apply_on_device(taken, result, of_part(parts_[k], product));
    on_device_->add(result, y, vectors);
  }
}

const double* MixedOperator::add_product_on_device(std::size_t k, const double* x, double* y,
                                                   const Product& product) const {
  double* const room = on_device_->room(product.vectors);
  parts_[k].op->apply_on_device(x, room, of_part(parts_[k], product));
  on_device_->add(k + 1, room, y, product.vectors);
  return room;
}

LargeVector<double> MixedOperator::add_product(const Part& part, const double* x, double* y,
                                               const Product& product) const {
  LargeVector<double> result(part.op->rows() * product.vectors);
  part.op->apply(x, result.data(), of_part(part, product));
  for_rows(part.block, (*rows_).*part.factor, product.vectors,
           [&](std::size_t k, std::size_t i, double factor) { y[i] += factor * result[k]; });
  return result;
}

void MixedOperator::multiply_rows(const double* x, double* y, const Product& product) const {
  const std::size_t n = size(), parts = equations_.part_area().size();
  std::vector<double> fluxes(equations_.needs_flux().empty() ? 0 : parts * product.vectors);
  for_rows({}, rows_->gamma, product.vectors,
           [&](auto, auto i, double gamma) { y[i] = gamma * x[i]; });
  for (const Part& part : parts_) {
    const LargeVector<double> result = add_product(part, x, y, product);
    if (is_v(part) || fluxes.empty()) continue;
    const std::size_t rows = part.op->rows();
    for (std::size_t k = 0; k < result.size(); ++k)
      equations_.add_flux(panel_of(part.block.rows, k % rows), result[k],
                          fluxes.data() + k / rows * parts);
  }
  for (int v = 0; v < product.vectors; ++v)
    equations_.change_rows(x + v * n, fluxes.empty() ? nullptr : fluxes.data() + v * parts,
                           y + v * n);
}

void MixedOperator::multiply_transposed(const double* x, double* y, const Product& product) const {
  const std::size_t n = size(), numbers = n * product.vectors;
  std::vector<std::vector<double>> of_flux;
  std::vector<double> of_rows(x, x + numbers), result(numbers);
  std::fill_n(y, numbers, 0.0);
  for (int v = 0; v < product.vectors; ++v)
    of_flux.push_back(equations_.change_rows_transposed(of_rows.data() + v * n, y + v * n));
  for_rows({}, rows_->gamma, product.vectors,
           [&](auto, auto i, double gamma) { y[i] += gamma * of_rows[i]; });
  for (const Part& part : parts_) {
    std::vector<double> scaled(part.op->rows() * product.vectors);
    for_rows(part.block, (*rows_).*part.factor, product.vectors,
             [&](auto k, auto i, double factor) { scaled[k] = factor * of_rows[i]; });
    if (part.factor == &MixedRows::beta && !equations_.needs_flux().empty())
      for_rows(part.block, equations_.area(), product.vectors, [&](auto k, auto i, double area) {
        scaled[k] += area * of_flux[i / n][equations_.part()[i % n]];
      });
    part.op->apply(scaled.data(), result.data(), of_part(part, product));
    for (std::size_t k = 0; k < numbers; ++k) y[k] += result[k];
  }
}

}  // namespace fmbem
