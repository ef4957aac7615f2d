#include "fmbem/bem/layer/charge_equations.hpp"

#include <algorithm>
#include <utility>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

bool has_changes(const MixedRows& rows) { return !rows.equations.empty() || !rows.shifts.empty(); }

PartShift shift_of(const ChargeEquation& equation) {
  PartShift shift{equation.part, {{equation.part, 1, 0, -1}}};
  for (const auto& [part, factor] : equation.others) shift.terms.push_back({part, factor, 0, 0});
  return shift;
}

}  // namespace

ChargeEquations::ChargeEquations(const Panels& panels, const std::shared_ptr<const MixedRows>& rows)
    : ChargeEquations(has_changes(*rows) ? areas_of(panels) : nullptr, rows) {}

ChargeEquations::ChargeEquations(Areas area, std::shared_ptr<const MixedRows> rows)
    : rows_(std::move(rows)), changed_(rows_->shifts), area_(std::move(area)) {
  for (const ChargeEquation& equation : rows_->equations) changed_.push_back(shift_of(equation));
  if (changed_.empty()) return;
  const std::size_t n = area_->size();
  const std::vector<double>& weight = rows_->weight;
  FMBEM_REQUIRE(part().size() == n, "charge equations need the part of each of the "
                                        << n << " panels, not of " << part().size());
  FMBEM_REQUIRE(weight.empty() || weight.size() == n,
                "there are " << weight.size() << " weights of charges for " << n << " panels");
  const auto bounds = extremes_of(part());
  FMBEM_REQUIRE(bounds.least >= 0, "parts of panels are counted from 0, not from " << bounds.least);
  part_area_.resize(bounds.most + 1);
  part_area_ = sums(area_->data(), nullptr);
  check_parts();
  charge_weight_.resize(weight.size());
  const auto weights = static_cast<std::int64_t>(weight.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < weights; ++i) charge_weight_[i] = (*area_)[i] * weight[i];

  std::vector<char> in_flux(part_area_.size(), false);
  for (const PartShift& shift : changed_)
    for (const PartShift::Term& term : shift.terms)
      if (term.flux != 0) in_flux[term.part] = true;
  if (std::find(in_flux.begin(), in_flux.end(), true) == in_flux.end()) return;
  for (const std::int32_t part : part()) needs_flux_.push_back(in_flux[part]);
}

void ChargeEquations::check_parts() const {
  const auto parts = static_cast<std::int32_t>(part_area_.size());
  const auto check = [&](std::int32_t part) {
    FMBEM_REQUIRE(part >= 0 && part < parts,
                  "a charge equation is of part " << part << ", and there are " << parts);
  };
  std::vector<char> is_changed(parts, false);
  for (const PartShift& shift : changed_) {
    check(shift.part);
    for (const PartShift::Term& term : shift.terms) check(term.part);
    FMBEM_REQUIRE(!std::exchange(is_changed[shift.part], true),
                  "part " << shift.part << " has two charge equations");
    FMBEM_REQUIRE(part_area_[shift.part] > 0,
                  "part " << shift.part << " of a charge equation has no panel");
  }
}

std::vector<double> ChargeEquations::sums(const double* values, const double* weights) const {
  return sums_of_groups<double>(
      static_cast<std::int64_t>(part().size()), static_cast<std::int64_t>(part_area_.size()),
      [&](std::int64_t i) { return rows_->part[i]; },
      [&](std::int64_t i) { return weights ? weights[i] * values[i] : values[i]; });
}

void ChargeEquations::change_rows(const double* x, const double* fluxes, double* y) const {
  if (empty()) return;
  const std::vector<double> charge = sums(x, charge_weight().data()), row = sums(y, area_->data());
  std::vector<double> shift(part_area_.size(), 0.0);
  for (const auto& [part, terms] : changed_) {
    double sum = 0;
    for (const PartShift::Term& term : terms)
      sum += term.charge * charge[term.part] + term.row * row[term.part] +
             (fluxes ? term.flux * fluxes[term.part] : 0);
    shift[part] = sum / part_area_[part];
  }
  const std::span<const std::int32_t> part_of = part();
  const auto n = static_cast<std::int64_t>(part_of.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) y[i] += shift[part_of[i]];
}

std::vector<double> ChargeEquations::change_rows_transposed(double* x, double* y) const {
  if (empty()) return {};
  const std::vector<double> sum = sums(x, nullptr);
  const std::size_t parts = part_area_.size();
  std::vector<double> charge(parts, 0.0), flux(parts, 0.0), row(parts, 0.0);
  for (const auto& [part, terms] : changed_) {
    const double mean = sum[part] / part_area_[part];
    for (const PartShift::Term& term : terms) {
      charge[term.part] += term.charge * mean;
      flux[term.part] += term.flux * mean;
      row[term.part] += term.row * mean;
    }
  }
  const std::span<const double> weight = charge_weight(), areas = area();
  const std::span<const std::int32_t> part_of = part();
  const auto n = static_cast<std::int64_t>(part_of.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] += weight[i] * charge[part_of[i]];
    x[i] += areas[i] * row[part_of[i]];
  }
  if (needs_flux_.empty()) flux.clear();
  return flux;
}

}  // namespace fmbem
