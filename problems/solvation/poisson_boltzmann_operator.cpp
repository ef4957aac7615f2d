#include "fmbem/problems/solvation/poisson_boltzmann_operator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/layer/green_operator.hpp"
#include "fmbem/bem/layer/row_parts.hpp"
#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/solvation/derivative_operator.hpp"
#include "fmbem/problems/solvation/direct_operator.hpp"

namespace fmbem {

const char* name_of(SolvationFormulation formulation) {
  return formulation == SolvationFormulation::direct   ? "direct"
         : formulation == SolvationFormulation::juffer ? "juffer"
                                                       : "lu";
}

PoissonBoltzmannOperator::PoissonBoltzmannOperator(
    const Panels& panels, std::vector<ScreenedRegion> regions, std::span<const int> inside,
    std::span<const int> outside, SolvationFormulation formulation, const OperatorOptions& options)
    : panels_(panels),
      screened_(std::move(regions)),
      of_panels_{copied(inside), copied(outside), {}, {}},
      surfaces_(inside, outside),
      formulation_(formulation),
      options_(options) {
  FMBEM_REQUIRE(inside.size() == panels.size() && outside.size() == panels.size(),
                "there are " << panels.size() << " panels, but regions of " << inside.size()
                             << " backs and " << outside.size() << " fronts");
  for (const ScreenedRegion& region : screened_) {
    FMBEM_REQUIRE(region.permittivity > 0 && std::isfinite(region.permittivity),
                  "a permittivity must be positive, not " << region.permittivity);
    of_panels_.permittivity.push_back(region.permittivity);
    of_panels_.kappa.push_back(region.kappa);
  }
}

double PoissonBoltzmannOperator::tightest_tolerance() const {
  const bool is_dense =
      info().kind == OperatorKind::dense && options_.precision != Precision::single_precision;
  return is_dense ? dense_green_tolerance
                  : std::min(options_.tolerance, least_tolerance(Trace::normal).of_operator);
}

std::vector<std::int64_t> PoissonBoltzmannOperator::leaf_begin() const {
  std::vector<std::int64_t> result;
  for (const std::int64_t begin : panels_.leaf_begin) result.push_back(2 * begin);
  return result;
}

std::shared_ptr<const PoissonBoltzmannOperator> PoissonBoltzmannOperator::tighter(
    double tolerance) const {
  OperatorOptions options = options_;
  options.tolerance = tolerance;
  options.precision = Precision::double_precision;
  return make_poisson_boltzmann(panels_, screened_, of_panels_.inside, of_panels_.outside,
                                formulation_, options);
}

void PoissonBoltzmannOperator::multiply(const double* x, double* y, const Product& product) const {
  refuse_transposed(product, "the operator of Poisson and Boltzmann");
  if (product.tolerance > 0 && product.tolerance < options_.tolerance)
    return tighter(product.tolerance)->apply(x, y, {.vectors = product.vectors});
  const std::size_t n = size();
  for (int v = 0; v < product.vectors; ++v) multiply({x + v * n, n}, {y + v * n, n});
}

void PoissonBoltzmannOperator::set_on_device(std::span<const double> blocks,
                                             const std::vector<cuda::bem::PairPlaces>& of) {
  on_device_ = std::make_unique<OnDevice>(OnDevice{cuda::bem::PairBlocks(surfaces_, blocks), {}});
  for (const cuda::bem::PairPlaces& places : of)
    on_device_->parts.emplace_back(on_device_->blocks, places);
}

void PoissonBoltzmannOperator::multiply_on_device(const double* x, double* y,
                                                  const Product& product) const {
  if (!on_device_) return LinearMap::multiply_on_device(x, y, product);
  refuse_transposed(product, "the operator of Poisson and Boltzmann");
  if (product.tolerance > 0 && product.tolerance < options_.tolerance) {
    const auto accurate = tighter(product.tolerance);
    accurate->apply_on_device(x, y, {.vectors = product.vectors});
    return accurate->wait();
  }
  const std::lock_guard one_at_a_time(multiplying_);
  on_device_->blocks.multiply(x, y, product.vectors);
  for (int v = 0; v < product.vectors; ++v, x += size(), y += size())
    for (std::size_t p = 0; p < on_device_->parts.size(); ++p) {
      const cuda::bem::PairPart& part = on_device_->parts[p];
      multiply_part(p, part.sources(x), part);
      part.add(y);
    }
}

void PoissonBoltzmannOperator::wait() const {
  if (on_device_) on_device_->blocks.wait();
}

OperatorOptions PoissonBoltzmannOperator::options_for(std::size_t rows, std::size_t columns) const {
  constexpr double few_pairs = 1e6;
  OperatorOptions result = options_;
  const bool too_accurate = options_.tolerance < least_tolerance(Trace::normal).of_operator,
             few = static_cast<double>(rows) * static_cast<double>(columns) <= few_pairs;
  if (result.kind == OperatorOptions::Choice::automatic &&
      (too_accurate || (few && options_.processor != Processor::gpu)))
    result.kind = OperatorOptions::Choice::dense;
  return result;
}

void PoissonBoltzmannOperator::add(OperatorInfo& sum, const OperatorInfo& part) {
  if (part.kind == OperatorKind::dense) {
    sum.memory_bytes += part.memory_bytes;
    return;
  }
  sum.kind = OperatorKind::fmm;
  sum.processor = part.processor;
  sum.precision = part.precision;
  sum.far_precision = part.far_precision;
  sum.near_field_stored = sum.near_field_stored && part.near_field_stored;
  sum.inflation = std::max(sum.inflation, part.inflation);
  add_counts(sum, part);
}

std::shared_ptr<PoissonBoltzmannOperator> make_poisson_boltzmann(
    const Panels& panels, std::vector<ScreenedRegion> regions, std::span<const int> inside,
    std::span<const int> outside, SolvationFormulation formulation,
    const OperatorOptions& options) {
  if (formulation == SolvationFormulation::direct)
    return std::make_shared<DirectOperator>(panels, std::move(regions), inside, outside, options);
  return std::make_shared<DerivativeOperator>(panels, std::move(regions), inside, outside,
                                              formulation, options);
}

}  // namespace fmbem
