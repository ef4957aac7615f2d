#include "fmbem/problems/solvation/direct_operator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/bem/layer/fmm_operator.hpp"
#include "fmbem/fmm/base/touched.hpp"

namespace fmbem {

DirectOperator::DirectOperator(const Panels& panels, std::vector<ScreenedRegion> regions,
                               std::span<const int> inside, std::span<const int> outside,
                               const OperatorOptions& options)
    : PoissonBoltzmannOperator(panels, std::move(regions), inside, outside,
                               SolvationFormulation::direct, options) {
  std::size_t to_come = 0;
  for (const ScreenedRegion& region : screened()) to_come += region.panels.size();
  for (std::size_t r = 0; r < screened().size(); ++r) {
    const ScreenedRegion& region = screened()[r];
    const std::size_t m = region.panels.size();
    if (m == 0) continue;
    to_come -= m;
    PanelBlock block;
    if (m < panels.size())
      for (auto* part : {&block.rows, &block.columns})
        part->assign(region.panels.begin(), region.panels.end());
    parts_.push_back(
        {static_cast<int>(r), surfaces_of(static_cast<int>(r)),
         GreenOperator(panels, block, std::vector<GreenTerm>(1, GreenTerm{region.kappa}),
                       options_for(m, m), to_come)});
  }
  if (std::all_of(parts_.begin(), parts_.end(),
                  [](const Part& part) { return part.green.processor() == Processor::gpu; }))
    move_to_device();
}

std::vector<DirectOperator::OfSurface> DirectOperator::surfaces_of(int region) const {
  std::vector<OfSurface> result;
  for (const auto& [inside, outside] : surfaces().sides) {
    const double sign = inside == region ? 1 : outside == region ? -1 : 0;
    result.push_back({sign, sign * regions().permittivity[inside] / regions().permittivity[region],
                      static_cast<std::size_t>(sign > 0 ? 0 : 1)});
  }
  return result;
}

void DirectOperator::move_to_device() {
  std::vector<double> blocks;  // ½φ in both rows
  for (std::size_t s = 0; s < surfaces().size(); ++s) blocks.insert(blocks.end(), {0.5, 0, 0.5, 0});
  std::vector<cuda::bem::PairPlaces> places;
  for (const Part& part : parts_) {
    const std::span<const std::int32_t> panels = some(screened()[part.region].panels);
    places.push_back({panels, panels, {}, 1});
    for (const OfSurface& of : part.surfaces)
      places.back().factors.push_back({-of.flux_factor, of.sign, {1, 0}, static_cast<int>(of.row)});
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
    for (const OfSurface& of : part.surfaces) flux = std::max(flux, std::abs(of.flux_factor));
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
        const auto i = static_cast<std::size_t>(region.panels[a]),
                   j = static_cast<std::size_t>(region.panels[b]);
        const OfSurface& of_j = part.of(surfaces(), j);
        const std::size_t row = 2 * i + part.of(surfaces(), i).row;
        if (double* to = entry(row, 2 * j)) *to += of_j.sign * k[of_pair] + (a == b ? 0.5 : 0);
        if (double* to = entry(row, 2 * j + 1)) *to -= of_j.flux_factor * v[of_pair];
      }
  }
}

std::unique_ptr<ApproximateInverse> DirectOperator::approximate_inverse() const {
  return make_solvation_inverse(panels(), regions(), processor());
}

std::vector<double> DirectOperator::right_hand_side(std::span<const RegionCharges> charges) const {
  std::vector<double> b;
  resize_touched(b, size());
  for (const Part& part : parts_) {
    const LargeVector<std::int32_t>& panels = screened()[part.region].panels;
    const std::vector<double>& potential = charges[part.region].potential;
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < potential.size(); ++k) {
      const auto i = static_cast<std::size_t>(panels[k]);
      b[2 * i + part.of(surfaces(), i).row] = potential[k];
    }
  }
  return b;
}

void DirectOperator::multiply(std::span<const double> x, std::span<double> y) const {
  for (const Part& part : parts_) {
    const LargeVector<std::int32_t>& panels = screened()[part.region].panels;
    const std::size_t m = panels.size();
    std::vector<double> sources(2 * m), result(m);
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < m; ++k) {
      const auto i = static_cast<std::size_t>(panels[k]);
      const OfSurface& of = part.of(surfaces(), i);
      sources[k] = -of.flux_factor * x[2 * i + 1];
      sources[m + k] = of.sign * x[2 * i];
    }
    part.green.multiply(sources, result);
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < m; ++k) {
      const auto i = static_cast<std::size_t>(panels[k]);
      y[2 * i + part.of(surfaces(), i).row] = 0.5 * x[2 * i] + result[k];
    }
  }
}

void DirectOperator::multiply_part(std::size_t p, const double* sources,
                                   const cuda::bem::PairPart& part) const {
  parts_[p].green.multiply_on_device(sources, part.results());
}

}  // namespace fmbem
