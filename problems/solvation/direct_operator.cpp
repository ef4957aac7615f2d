#include "fmbem/problems/solvation/direct_operator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/bem/layer/fmm_operator.hpp"

namespace fmbem {

DirectOperator::DirectOperator(const Panels& panels, std::vector<ScreenedRegion> regions,
                               std::span<const int> inside, std::span<const int> outside,
                               const OperatorOptions& options)
    : PoissonBoltzmannOperator(panels, std::move(regions), inside, outside,
                               SolvationFormulation::direct, options) {
  for (std::size_t r = 0; r < screened().size(); ++r) {
    const ScreenedRegion& region = screened()[r];
    const std::size_t m = region.panels.size();
    if (m == 0) continue;
    PanelBlock block;
    if (m < panels.size()) block = {region.panels, region.panels};
    Part part{static_cast<int>(r),
              {},
              {},
              GreenOperator(panels, block, std::vector<GreenTerm>(1, GreenTerm{region.kappa}),
                            options_for(m, m))};
    for (std::size_t k = 0; k < m; ++k) {
      const std::int32_t i = region.panels[k];
      part.row.push_back(2 * static_cast<std::size_t>(i) + (region.sign[k] > 0 ? 0 : 1));
      part.flux_factor.push_back(region.sign[k] *
                                 this->regions().permittivity[this->regions().inside[i]] /
                                 region.permittivity);
    }
    parts_.push_back(std::move(part));
  }
  if (std::all_of(parts_.begin(), parts_.end(),
                  [](const Part& part) { return part.green.processor() == Processor::gpu; }))
    move_to_device();
}

void DirectOperator::move_to_device() {
  std::vector<double> blocks(4 * panels().size());
  for (std::size_t k = 0; k < blocks.size(); k += 2) blocks[k] = 0.5;  // ½φ in both rows
  std::vector<cuda::bem::PairPlaces> places;
  for (const Part& part : parts_) {
    const ScreenedRegion& region = screened()[part.region];
    cuda::bem::PairPlaces of{region.panels, part.flux_factor, region.sign, {}, {}};
    for (double& factor : of.sigma) factor = -factor;
    for (const std::size_t row : part.row) of.row.push_back(static_cast<std::int32_t>(row));
    of.weight.assign(of.row.size(), 1.0);
    places.push_back(std::move(of));
  }
  set_on_device(blocks, places);
}

OperatorInfo DirectOperator::info() const {
  OperatorInfo info;
  info.name = "V, K";
  for (const Part& part : parts_) add(info, part.green.info());
  return info;
}

double DirectOperator::norm() const {
  double result = 0;
  for (const Part& part : parts_) {
    double flux = 0;
    for (const double factor : part.flux_factor) flux = std::max(flux, std::abs(factor));
    result = std::max(result, 1 + flux * part.green.norm_of_v());  // ‖K‖ counts as ½
  }
  return result;
}

void DirectOperator::diagonal_block(std::int64_t begin, std::int64_t end, double* block) const {
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
    const ScreenedRegion& region = screened()[part.region];
    const auto at = [&](std::int64_t panel) {
      return std::lower_bound(region.panels.begin(), region.panels.end(), panel) -
             region.panels.begin();
    };
    const std::int64_t low = at(first), high = at(last);
    if (low == high) continue;
    exact_block(panels(), single_layer, first, last, v.data(), region.kappa);
    exact_block(panels(), double_layer, first, last, k.data(), region.kappa);
    for (std::int64_t a = low; a < high; ++a)
      for (std::int64_t b = low; b < high; ++b) {
        const std::int64_t of_pair = (region.panels[a] - first) * m + region.panels[b] - first;
        const std::size_t column = 2 * static_cast<std::size_t>(region.panels[b]);
        if (double* to = entry(part.row[a], column))
          *to += region.sign[b] * k[of_pair] + (a == b ? 0.5 : 0);
        if (double* to = entry(part.row[a], column + 1)) *to -= part.flux_factor[b] * v[of_pair];
      }
  }
}

std::unique_ptr<ApproximateInverse> DirectOperator::approximate_inverse() const {
  return make_solvation_inverse(panels(), regions(), processor());
}

std::vector<double> DirectOperator::right_hand_side(std::span<const RegionCharges> charges) const {
  std::vector<double> b(size());
  for (const Part& part : parts_)
    for (std::size_t k = 0; k < charges[part.region].potential.size(); ++k)
      b[part.row[k]] = charges[part.region].potential[k];
  return b;
}

void DirectOperator::multiply(std::span<const double> x, std::span<double> y) const {
  for (const Part& part : parts_) {
    const ScreenedRegion& region = screened()[part.region];
    const std::size_t m = region.panels.size();
    std::vector<double> sources(2 * m), result(m);
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < m; ++k) {
      const std::size_t unknown = 2 * static_cast<std::size_t>(region.panels[k]);
      sources[k] = -part.flux_factor[k] * x[unknown + 1];
      sources[m + k] = region.sign[k] * x[unknown];
    }
    part.green.multiply(sources, result);
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < m; ++k)
      y[part.row[k]] = 0.5 * x[2 * static_cast<std::size_t>(region.panels[k])] + result[k];
  }
}

void DirectOperator::multiply_part(std::size_t p, const double* sources,
                                   const cuda::bem::PairPart& part) const {
  parts_[p].green.multiply_on_device(sources, part.results());
}

}  // namespace fmbem
