#include "fmbem/problems/solvation/poisson_boltzmann_operator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/layer/fmm_operator.hpp"
#include "fmbem/bem/layer/row_parts.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// Regions with so few panels, such as cavities, are not worth a tree.
constexpr std::size_t dense_up_to = 1000;

void add(OperatorInfo& sum, const OperatorInfo& part) {
  if (part.kind == OperatorKind::dense) {
    sum.memory_bytes += part.memory_bytes;
    return;
  }
  sum.kind = OperatorKind::fmm;
  sum.inflation = std::max(sum.inflation, part.inflation);
  add_counts(sum, part);
}

}  // namespace

PoissonBoltzmannOperator::PoissonBoltzmannOperator(const Panels& panels,
                                                   std::vector<ScreenedRegion> regions,
                                                   std::span<const int> inside,
                                                   std::span<const int> outside,
                                                   const OperatorOptions& options)
    : panels_(panels),
      regions_{{inside.begin(), inside.end()}, {outside.begin(), outside.end()}, {}, {}},
      options_(options),
      screened_(std::move(regions)) {
  FMBEM_REQUIRE(inside.size() == panels.size() && outside.size() == panels.size(),
                "there are " << panels.size() << " panels, but regions of " << inside.size()
                             << " backs and " << outside.size() << " fronts");
  for (const ScreenedRegion& region : screened_) {
    FMBEM_REQUIRE(region.permittivity > 0 && std::isfinite(region.permittivity),
                  "a permittivity must be positive, not " << region.permittivity);
    FMBEM_REQUIRE(region.sign.size() == region.panels.size(),
                  "a region has " << region.panels.size() << " panels, but " << region.sign.size()
                                  << " signs");
  }
  for (const ScreenedRegion& region : screened_) {
    regions_.permittivity.push_back(region.permittivity);
    regions_.kappa.push_back(region.kappa);
  }
  for (const ScreenedRegion& region : screened_) {
    if (region.panels.empty()) continue;
    Part part;
    part.kappa = region.kappa;
    OperatorOptions of_region = options;
    if (of_region.kind == OperatorOptions::Choice::automatic && region.panels.size() <= dense_up_to)
      of_region.kind = OperatorOptions::Choice::dense;
    PanelBlock block;
    if (region.panels.size() < panels.size()) block = {region.panels, region.panels};
    const std::vector<GreenTerm> terms{{.kappa = region.kappa}};
    part.green = std::make_unique<GreenOperator>(panels, block, terms, of_region);
    for (std::size_t k = 0; k < region.panels.size(); ++k) {
      const std::int32_t i = region.panels[k];
      part.row.push_back(2 * static_cast<std::size_t>(i) + (region.sign[k] > 0 ? 0 : 1));
      part.flux_factor.push_back(region.sign[k] * regions_.permittivity[inside[i]] /
                                 region.permittivity);
    }
    part.panels = region.panels;
    part.sign = region.sign;
    parts_.push_back(std::move(part));
  }
}

OperatorInfo PoissonBoltzmannOperator::info() const {
  OperatorInfo info;
  info.name = "V, K";
  for (const Part& part : parts_) {
    const OperatorInfo of_region = part.green->info();
    info.precision = of_region.precision;
    info.far_precision = of_region.far_precision;
    add(info, of_region);
  }
  return info;
}

double PoissonBoltzmannOperator::tightest_tolerance() const {
  return least_tolerance(Trace::normal).of_operator;
}

double PoissonBoltzmannOperator::norm() const {
  double result = 0;
  for (const Part& part : parts_) {
    double flux = 0;
    for (const double factor : part.flux_factor) flux = std::max(flux, std::abs(factor));
    result = std::max(result, 1 + flux * part.green->norm_of_v());  // ‖K‖ counts as ½
  }
  return result;
}

void PoissonBoltzmannOperator::diagonal_block(std::int64_t begin, std::int64_t end,
                                              double* block) const {
  const std::int64_t n = end - begin;
  std::fill_n(block, n * n, 0.0);
  const auto entry = [&](std::size_t row, std::size_t column) -> double* {
    const auto i = static_cast<std::int64_t>(row), j = static_cast<std::int64_t>(column);
    const bool is_in = i >= begin && i < end && j >= begin && j < end;
    return is_in ? &block[(i - begin) * n + j - begin] : nullptr;
  };
  const std::int64_t first = begin / 2, last = (end + 1) / 2, m = last - first;  // panels
  std::vector<double> v(m * m), k(m * m);
  for (const Part& part : parts_) {
    const auto at = [&](std::int64_t panel) {
      return std::lower_bound(part.panels.begin(), part.panels.end(), panel) - part.panels.begin();
    };
    const std::int64_t low = at(first), high = at(last);
    if (low == high) continue;
    exact_block(panels_, single_layer, first, last, v.data(), part.kappa);
    exact_block(panels_, double_layer, first, last, k.data(), part.kappa);
    for (std::int64_t a = low; a < high; ++a)
      for (std::int64_t b = low; b < high; ++b) {
        const std::int64_t of_pair = (part.panels[a] - first) * m + part.panels[b] - first;
        const std::size_t column = 2 * static_cast<std::size_t>(part.panels[b]);
        if (double* to = entry(part.row[a], column))
          *to += part.sign[b] * k[of_pair] + (a == b ? 0.5 : 0);
        if (double* to = entry(part.row[a], column + 1)) *to -= part.flux_factor[b] * v[of_pair];
      }
  }
}

std::unique_ptr<ApproximateInverse> PoissonBoltzmannOperator::approximate_inverse() const {
  return make_overlapping_inverse(panels_, regions_);
}

std::vector<std::int64_t> PoissonBoltzmannOperator::leaf_begin() const {
  std::vector<std::int64_t> result;
  for (const std::int64_t begin : panels_.leaf_begin) result.push_back(2 * begin);
  return result;
}

void PoissonBoltzmannOperator::multiply(const double* x, double* y, const Product& product) const {
  refuse_transposed(product, "the operator of Poisson and Boltzmann");
  if (product.tolerance > 0 && product.tolerance < options_.tolerance) {
    OperatorOptions tighter = options_;
    tighter.tolerance = product.tolerance;
    tighter.precision = Precision::double_precision;
    return PoissonBoltzmannOperator(panels_, screened_, regions_.inside, regions_.outside, tighter)
        .multiply(x, y, {.vectors = product.vectors});
  }
  const std::size_t n = size();
  for (int v = 0; v < product.vectors; ++v, x += n, y += n)
    for (const Part& part : parts_) {
      const std::size_t m = part.panels.size();
      std::vector<double> sources(2 * m), result(m);
      for (std::size_t k = 0; k < m; ++k) {
        const double* unknowns = x + 2 * static_cast<std::size_t>(part.panels[k]);
        sources[k] = -part.flux_factor[k] * unknowns[1];
        sources[m + k] = part.sign[k] * unknowns[0];
      }
      part.green->multiply(sources, result);
      for (std::size_t k = 0; k < m; ++k)
        y[part.row[k]] = 0.5 * x[2 * static_cast<std::size_t>(part.panels[k])] + result[k];
    }
}

}  // namespace fmbem
