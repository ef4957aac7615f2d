#include "fmbem/bem/layer/complex_operator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/bem/precond/reflected_inverse.hpp"
#include "fmbem/bem/precond/shifted_inverse.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

std::shared_ptr<const ComplexRows> checked(std::shared_ptr<const ComplexRows> rows, std::size_t n) {
  for (const auto* factors : {&rows->alpha, &rows->beta, &rows->gamma}) {
    FMBEM_REQUIRE(factors->size() == n,
                  "complex rows have " << factors->size() << " factors for " << n << " panels");
    for (const Complex factor : *factors)
      FMBEM_REQUIRE(std::isfinite(factor.real()) && std::isfinite(factor.imag()),
                    "a factor of a complex row is not finite");
  }
  return rows;
}

/// Shifts of real parts and of imaginary ones, whose parts are numbered behind those.
std::vector<PartShift> shifts_of_both(const std::vector<BasicPartShift<Complex>>& shifts,
                                      std::int32_t parts) {
  std::vector<PartShift> both;
  for (const auto& [part, terms] : shifts)
    for (const bool is_imaginary : {false, true}) {
      PartShift& shift = both.emplace_back();
      shift.part = is_imaginary ? part + parts : part;
      for (const auto& term : terms) {
        const auto add = [&](std::int32_t of, Complex turn) {
          shift.terms.push_back({of, (turn * term.charge).real(), (turn * term.flux).real(),
                                 (turn * term.row).real()});
        };
        // Re and Im of a product with the real part, and with i times the imaginary one.
        add(term.part, is_imaginary ? Complex(0, -1) : Complex(1));
        add(term.part + parts, is_imaginary ? Complex(1) : Complex(0, 1));
      }
    }
  return both;
}

/// Charge equations and shifts of real parts, and behind them of imaginary ones, as if these were
/// panels.
MixedRows equations_of_both(const ComplexRows& rows) {
  MixedRows both;
  if (rows.part.empty()) return both;
  const std::int32_t parts = *std::max_element(rows.part.begin(), rows.part.end()) + 1;
  for (const std::int32_t shift : {0, parts}) {
    for (const std::int32_t part : rows.part) both.part.push_back(part + shift);
    for (const ComplexChargeEquation& equation : rows.equations) {
      ChargeEquation real{equation.part + shift};
      for (const auto& [other, factor] : equation.others) {
        real.others.push_back({other, shift == 0 ? factor.real() : factor.imag()});
        real.others.push_back({other + parts, shift == 0 ? -factor.imag() : factor.real()});
      }
      both.equations.push_back(std::move(real));
    }
  }
  both.shifts = shifts_of_both(rows.shifts, parts);
  both.inverse_shifts = shifts_of_both(rows.inverse_shifts, parts);
  return both;
}

Areas twice(const Areas& areas) {
  LargeVector<double> both(areas->begin(), areas->end());
  both.insert(both.end(), areas->begin(), areas->end());
  return std::make_shared<const LargeVector<double>>(std::move(both));
}

}  // namespace

ComplexOperator::ComplexOperator(const Panels& panels, std::shared_ptr<const ComplexRows> rows,
                                 const OperatorOptions& options)
    : panels_(panels),
      rows_(checked(std::move(rows), panels.size())),
      equations_(twice(areas_of(panels)),
                 std::make_shared<const MixedRows>(equations_of_both(*rows_))) {
  OperatorOptions of_parts = options;
  FMBEM_REQUIRE(options.processor.value_or(Processor::cpu) == Processor::cpu,
                "operators of complex densities run on the CPU: choose that");
  of_parts.processor = Processor::cpu;
  parts_ = make_parts(part_of_v(panels, *rows_, of_parts), panels, *rows_, flux_rows(), of_parts);
}

OperatorInfo ComplexOperator::info() const {
  OperatorInfo info = info_of(parts_);
  info.name += " of complex densities";
  return info;
}

double ComplexOperator::accurate_tolerance() const {
  return largest_of(parts_, &BoundaryOperator::accurate_tolerance);
}
double ComplexOperator::tightest_tolerance() const {
  return largest_of(parts_, &BoundaryOperator::tightest_tolerance);
}

double ComplexOperator::norm() const { return norm_of(parts_, *rows_); }

void ComplexOperator::diagonal_block(std::int64_t begin, std::int64_t end, double* block) const {
  const auto n = static_cast<std::int64_t>(panels_.size());
  FMBEM_REQUIRE(begin >= n || end <= n,
                "a block of complex densities has their real parts, or the imaginary ones");
  const std::int64_t first = begin >= n ? begin - n : begin, count = end - begin;
  std::vector<double> of_part(count * count);
  std::fill_n(block, count * count, 0.0);
  for (std::int64_t i = 0; i < count; ++i) block[i * count + i] = rows_->gamma[first + i].real();
  for (const auto& part : parts_) {
    part.op->diagonal_block(first, first + count, of_part.data());
    for (std::int64_t k = 0; k < count * count; ++k)
      block[k] += ((*rows_).*part.factor)[first + k / count].real() * of_part[k];
  }
}

std::unique_ptr<ApproximateInverse> ComplexOperator::approximate_inverse() const {
  return shifted_back(make_mixed_inverse(panels_, *rows_), twice(areas_of(panels_)),
                      equations_of_both(*rows_));
}

/// Rows of panels of which equations need K'σ.
std::vector<char> ComplexOperator::flux_rows() const {
  const std::vector<char>& of_both = equations_.needs_flux();
  return {of_both.begin(), of_both.begin() + static_cast<std::ptrdiff_t>(of_both.size() / 2)};
}

void ComplexOperator::multiply(const double* x, double* y, const Product& product) const {
  refuse_transposed(product, "an operator of complex densities");
  const std::size_t n = panels_.size();
  const auto add = [&](std::size_t v, std::size_t i, Complex factor, Complex value) {
    const Complex result = factor * value;
    y[2 * v * n + i] += result.real();
    y[(2 * v + 1) * n + i] += result.imag();
  };
  std::fill_n(y, size() * product.vectors, 0.0);
  const std::size_t parts = equations_.part_area().size();
  std::vector<double> fluxes(equations_.needs_flux().empty() ? 0 : parts * product.vectors);
  for (int v = 0; v < product.vectors; ++v)
    for (std::size_t i = 0; i < n; ++i)
      add(v, i, rows_->gamma[i], {x[2 * v * n + i], x[(2 * v + 1) * n + i]});
  for (const auto& part : parts_) {
    const std::size_t rows = part.op->rows();
    std::vector<double> result(2 * rows * product.vectors);
    part.op->apply(x, result.data(),
                   {.vectors = 2 * product.vectors, .tolerance = part.looser * product.tolerance});
    for (int v = 0; v < product.vectors; ++v)
      for (std::size_t k = 0; k < rows; ++k) {
        const std::int32_t i = panel_of(part.block.rows, k);
        add(v, i, ((*rows_).*part.factor)[i],
            {result[2 * v * rows + k], result[(2 * v + 1) * rows + k]});
        if (part.factor != &ComplexRows::beta || fluxes.empty()) continue;
        double* const sums = fluxes.data() + v * parts;
        equations_.add_flux(i, result[2 * v * rows + k], sums);
        equations_.add_flux(static_cast<std::int32_t>(i + n), result[(2 * v + 1) * rows + k], sums);
      }
  }
  for (int v = 0; v < product.vectors; ++v)
    equations_.change_rows(x + 2 * v * n, fluxes.empty() ? nullptr : fluxes.data() + v * parts,
                           y + 2 * v * n);
}

}  // namespace fmbem
