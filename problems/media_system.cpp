#include "fmbem/problems/media_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// |β| of interfaces whose fluxes follow from their rows.
constexpr double least_contrast = 1;

}  // namespace

template <class T>
void BasicMediaSystem<T>::set_applied() {
  if (applied_.empty()) return;
  const auto n = static_cast<std::int64_t>(panels_.size());
  applied_potential_.resize(n);
  applied_flux_.resize(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    const Triangle t = panels_.triangle(i);
    applied_potential_[i] = applied_.potential(t.centroid + panels_.origin, scale_to_m_);
    applied_flux_[i] = applied_.mean_flux(t, panels_.origin, scale_to_m_);
  }
}

template <class T>
auto BasicMediaSystem<T>::make_operator(const OperatorOptions& options)
    -> std::shared_ptr<const Operator> {
  if constexpr (is_complex)
    op_ = std::make_shared<Operator>(panels_, rows_, options);
  else
    op_ = std::make_shared<Operator>(panels_, rows_, options, std::exchange(v_, std::nullopt));
  const auto n = static_cast<std::int64_t>(panels_.size());
  sheets_ = numbers_where(n, [&](std::int64_t i) { return has_two_sides(i); });
  asked_panels_ =
      numbers_where(n, [&](std::int64_t i) { return has_two_sides(i) || is_plain_interface(i); });
  if (asked_panels_.empty()) return op_;
  std::vector<char> has_flux(n, false);
  if (const auto flux = op_->flux_operator(); flux.op)
    for (std::size_t k = 0; k < flux.op->rows(); ++k) has_flux[panel_of(flux.rows, k)] = true;
  std::erase_if(asked_panels_, [&](std::int32_t i) { return has_flux[i]; });
  if (asked_panels_.empty()) return op_;
  OperatorOptions of_asked = options;
  of_asked.processor = op_->processor();
  // What V reaches for the solve, K' need not reach for what is printed of it.
  of_asked.tolerance = std::max(options.tolerance, least_tolerance(Trace::normal).of_operator);
  asked_flux_ =
      make_boundary_operator(panels_, adjoint_double_layer, of_asked, {.rows = asked_panels_});
  return op_;
}

template <class T>
std::vector<double> BasicMediaSystem<T>::right_hand_side(const BasicPanelData<T>& data) const {
  const auto n = static_cast<std::int64_t>(panels_.size());
  std::vector<T> b(n);
  std::int64_t wrong = n;  // the first panel of a grounded conductor that is not at 0 V
#pragma omp parallel for schedule(static) reduction(min : wrong)
  for (std::int64_t i = 0; i < n; ++i) {
    const T potential = data.applied ? applied_potential(i) : T(0);
    if (!given_.gives_flux(i)) {
      const int conductor = given_.conductor[i];
      if (conductor >= 0 && grounded_[conductor] && data.given[i] != T(0))
        wrong = std::min(wrong, i);
      b[i] = rows_->alpha[i] * (data.given[i] - potential);
      continue;
    }
    b[i] = data.given[i] / mean_permittivity(i) - rows_->alpha[i] * potential;
    if (data.applied) b[i] -= rows_->beta[i] * applied_flux(i);
  }
  FMBEM_REQUIRE(wrong == n, "the conductor \"" << given_.names[given_.conductor[wrong]]
                                               << "\" touches a ground plane and is at "
                                               << data.given[wrong]
                                               << " V: put it to 0 V, or move it away");
  set_charges(
      *rows_, *area_,
      [&](std::size_t e, T sum) {
        const auto& [conductor, factor] = equations_[e];
        return factor *
               (conductor < 0 ? sum : data.charge[conductor] / (applied_.unit * scale_to_m_));
      },
      b.data(), known_shifts_);
  if constexpr (is_complex)
    return numbers_of(std::span<const T>(b));
  else
    return b;
}

template <class T>
std::vector<T> BasicMediaSystem<T>::mean_flux(std::span<const T> sigma, bool applied,
                                              std::span<const T> given) const {
  std::vector<T> result(sigma.size(), T(std::numeric_limits<double>::quiet_NaN()));
  const auto add = [&](const BoundaryOperator& op, std::span<const std::int32_t> rows) {
    const std::vector<T> flux = applied_to(op, sigma);
    const auto n = static_cast<std::int64_t>(flux.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t k = 0; k < n; ++k) result[panel_of(rows, k)] = flux[k];
  };
  if (const auto flux = op_->flux_operator(); flux.op) add(*flux.op, flux.rows);
  if (asked_flux_) {
    const bool has_all = asked_flux_->rows() == sigma.size();
    add(*asked_flux_, has_all ? std::span<const std::int32_t>() : asked_panels_);
  }
  correct_fluxes(sigma, applied, given, result);
  if (applied && !applied_flux_.empty()) {
    const auto n = static_cast<std::int64_t>(result.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < n; ++i) result[i] += applied_flux_[i];
  }
  return result;
}

/// Where rows give fluxes K'σ is what they say, to all digits of σ, so that what flows through an
/// interface does not depend on ε times the errors of a product; without much contrast it would
/// depend on the residual over β. Of surfaces that touch it is corrected such that Gauss's law
/// holds in the chambers between them.
template <class T>
void BasicMediaSystem<T>::correct_fluxes(std::span<const T> sigma, bool applied,
                                         std::span<const T> given, std::vector<T>& flux) const {
  const auto n = static_cast<std::int64_t>(flux.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    if (!given_.gives_flux(i) || given_.has_admittance(i) || rows_->beta[i] == T(0)) continue;
    if (gauss_.empty() && std::abs(rows_->beta[i]) < least_contrast) continue;
    const T row = given.empty() ? T(0) : given[i] / mean_permittivity(i);
    flux[i] = (row - sigma[i]) / rows_->beta[i] - (applied ? applied_flux(i) : T(0));
  }
  if (gauss_.empty()) return;
  const std::int64_t parts = extremes_of<std::int32_t>(gauss_.part).most + 1;
  std::vector<T> charge(parts, T(0)), sum(parts, T(0)), shift(parts, T(0));
  std::vector<double> part_area(parts, 0.0);
  for (std::size_t i = 0; i < flux.size(); ++i) {
    const std::int32_t p = gauss_.part[i];
    const double area = (*area_)[i];
    charge[p] += area * sigma[i];
    sum[p] += area * flux[i];
    part_area[p] += area;
  }
  for (const BasicPartShift<T>& change : gauss_.flux)
    for (const typename BasicPartShift<T>::Term& term : change.terms) {
      shift[change.part] += term.charge * charge[term.part];
      if (term.flux != T(0)) shift[change.part] += term.flux * sum[term.part];
    }
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) flux[i] += shift[gauss_.part[i]] / part_area[gauss_.part[i]];
}

template <class T>
std::vector<T> BasicMediaSystem<T>::free_charge(std::span<const T> sigma, bool applied,
                                                std::span<const T> given) const {
  const auto n = static_cast<std::int64_t>(sigma.size());
  std::vector<T> result(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i)
    result[i] = given_.gives_flux(i) ? sigma[i] : mean_permittivity(i) * sigma[i];
  if (sheets_.empty()) return result;
  const std::vector<T> flux = mean_flux(sigma, applied, given);
  for (const std::int32_t i : sheets_) {
    const T behind = permittivity_behind(i), ahead = permittivity_ahead(i);
    result[i] = 0.5 * (behind + ahead) * sigma[i] + (behind - ahead) * flux[i];
  }
  return result;
}

template <class T>
LayerField<T> BasicMediaSystem<T>::field(std::span<const T> sigma, std::span<const Vec3d> points,
                                         const FieldOptions& options, bool applied) const {
  LayerField<T> field = layer_field(panels_, sigma, points, options);
  for (std::size_t k = 0; k < points.size(); ++k) {
    field.e[k] = field.e[k] / T(scale_to_m_);
    if (!applied || applied_.empty()) continue;
    field.potential[k] += applied_.potential(points[k], scale_to_m_);
    field.e[k] += applied_.field(points[k], scale_to_m_);
  }
  return field;
}

template <class T>
void BasicMediaSystem<T>::find_potentials(std::span<const T> sigma, bool applied,
                                          std::vector<T>& potential) const {
  const std::size_t n = given_.floats.size();
  if (std::find(given_.floats.begin(), given_.floats.end(), true) == given_.floats.end()) return;
  std::vector<std::size_t> panel(n);
  std::vector<Vec3d> places;
  for (std::size_t i = panels_.size(); i-- > 0;)
    if (given_.conductor[i] >= 0) panel[given_.conductor[i]] = i;
  for (std::size_t c = 0; c < n; ++c)
    if (given_.floats[c]) places.push_back(panels_.centroid(panel[c]) + panels_.origin);
  if (places.empty()) return;
  const LayerField<T> at = field(sigma, places, {.tolerance = 0}, applied);
  auto next = at.potential.begin();
  for (std::size_t c = 0; c < n; ++c)
    if (given_.floats[c]) potential[c] = *next++;
}

template <class T>
double BasicMediaSystem<T>::residual_weight(std::span<const T> free_charge) const {
  const LargeVector<double>& area = *area_;
  const double squares = sum_of(static_cast<std::int64_t>(free_charge.size()), [&](std::int64_t i) {
    const double of_row =
        std::abs(given_.gives_flux(i) ? mean_permittivity(i) : free_charge[i] / rows_->alpha[i]);
    return of_row * of_row * area[i] * area[i];
  });
  return applied_.unit * scale_to_m_ * std::sqrt(squares);
}

// Members that are defined here; media_rows.cpp has the others.
template class BasicMediaSystem<double>;
template class BasicMediaSystem<Complex>;

}  // namespace fmbem
