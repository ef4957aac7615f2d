#include "fmbem/problems/lossy_system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

Complex contrast(Complex behind, Complex ahead) {
  return 2.0 * (behind - ahead) / (behind + ahead);
}

/// [2][n], for products of both parts.
std::vector<double> parts_of(std::span<const Complex> values) {
  std::vector<double> result;
  for (const Complex value : values) result.push_back(value.real());
  for (const Complex value : values) result.push_back(value.imag());
  return result;
}

}  // namespace

Complex lossy_permittivity(double permittivity, double conductivity, double omega) {
  FMBEM_REQUIRE(omega > 0 && std::isfinite(omega),
                "an angular frequency must be positive, not " << omega);
  return {permittivity, -conductivity / (omega * epsilon_0)};
}

LossyField in_lossy_media(const AppliedField& applied, const SourceMedia& media) {
  LossyField result{applied, {.unit = applied.unit}};
  const auto split = [](const auto& sources, const std::vector<Complex>& permittivities,
                        auto strength, auto& real, auto& imaginary) {
    FMBEM_REQUIRE(sources.size() == permittivities.size(),
                  "there are " << sources.size() << " sources of a kind, but the media of "
                               << permittivities.size());
    real.clear();
    for (std::size_t k = 0; k < sources.size(); ++k) {
      FMBEM_REQUIRE(permittivities[k] != 0.0, "a source lies in a medium whose permittivity is 0");
      const Complex inverse = 1.0 / permittivities[k];
      for (auto* part : {&real, &imaginary}) {
        const double factor = part == &real ? inverse.real() : inverse.imag();
        part->push_back(sources[k]);
        part->back().permittivity = 1;
        part->back().*strength = factor * (sources[k].*strength);
      }
    }
  };
  split(applied.charges, media.charges, &PointCharge::charge, result.real.charges,
        result.imaginary.charges);
  split(applied.dipoles, media.dipoles, &PointDipole::moment, result.real.dipoles,
        result.imaginary.dipoles);
  split(applied.lines, media.lines, &LineCharge::charge, result.real.lines, result.imaginary.lines);
  return result;
}

LossySystem::LossySystem(const Panels& panels, LossyConditions conditions, LossyField applied,
                         double scale_to_m)
    : panels_(panels),
      given_(std::move(conditions)),
      applied_(std::move(applied)),
      scale_to_m_(scale_to_m),
      area_(areas_of(panels)) {
  check();
  set_rows();
  set_equations();
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    const Triangle t = panels_.triangle(i);
    const Vec3d x = t.centroid + panels_.origin;
    applied_potential_.emplace_back(applied_.real.potential(x, scale_to_m_),
                                    applied_.imaginary.potential(x, scale_to_m_));
    applied_flux_.emplace_back(applied_.real.mean_flux(t, panels_.origin, scale_to_m_),
                               applied_.imaginary.mean_flux(t, panels_.origin, scale_to_m_));
  }
}

void LossySystem::check() const {
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    for (const Complex permittivity : {given_.behind[i], given_.ahead[i]})
      FMBEM_REQUIRE(std::isfinite(std::abs(permittivity)) && permittivity.real() >= 0 &&
                        permittivity.imag() <= 0,
                    "the permittivity " << permittivity.real() << " + " << permittivity.imag()
                                        << "i at " << place(panels_.centroid(i) + panels_.origin)
                                        << " must have a real part that is not negative, and an "
                                           "imaginary part that is not positive");
    FMBEM_REQUIRE(given_.behind[i] + given_.ahead[i] != 0.0,
                  "there is no medium on either side of the panel at "
                      << place(panels_.centroid(i) + panels_.origin));
  }
}

void LossySystem::set_rows() {
  const std::size_t n = panels_.size();
  rows_.alpha.assign(n, 0.0);
  rows_.beta.assign(n, 0.0);
  rows_.gamma.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    if (given_.gives_flux(i)) {
      rows_.beta[i] = contrast(given_.behind[i], given_.ahead[i]);
      rows_.gamma[i] = 1;
    } else {
      rows_.alpha[i] = 1 / panels_.extent;
    }
  }
}

void LossySystem::set_equations() {
  enum { interface = -1, potential = -2, flux = -3 };
  std::vector<int> class_of;
  for (std::size_t i = 0; i < panels_.size(); ++i)
    class_of.push_back(is_interface(i)            ? interface
                       : given_.gives_flux(i)     ? flux
                       : given_.conductor[i] < 0  ? potential
                                                  : given_.conductor[i]);
  const Enclosures enclosures = find_enclosures(panels_, class_of);
  std::vector<std::int32_t> part_of(enclosures.parts.size());
  join_floating(enclosures, part_of);
  for (const std::int32_t enclosure : enclosures.of) rows_.part.push_back(part_of[enclosure]);
  add_gauss_equations(enclosures, part_of);
  if (rows_.equations.empty()) rows_.part.clear();
}

/// All components of a floating conductor are one part, as their potential is one.
void LossySystem::join_floating(const Enclosures& enclosures, std::vector<std::int32_t>& part_of) {
  grounded_.assign(given_.floats.size(), false);
  std::vector<std::int32_t> of_conductor(given_.floats.size(), -1);  // their first panels
  for (std::size_t p = 0; p < part_of.size(); ++p) {
    part_of[p] = static_cast<std::int32_t>(p);
    const std::int32_t first = enclosures.parts[p].first;
    const int conductor = given_.conductor[first];
    if (conductor < 0) continue;
    if (enclosures.parts[p].grounded) grounded_[conductor] = true;
    if (!given_.floats[conductor]) continue;
    FMBEM_REQUIRE(!grounded_[conductor],
                  "the conductor \"" << given_.names[conductor]
                                     << "\" floats and touches a ground plane: it is at 0 V");
    if (of_conductor[conductor] < 0) {
      of_conductor[conductor] = first;
      rows_.equations.push_back({part_of[p]});
      equations_.push_back({conductor, 1.0 / given_.ahead[first]});
    }
    part_of[p] = enclosures.of[of_conductor[conductor]];
  }
  for (std::size_t i = 0; i < panels_.size(); ++i)
    FMBEM_REQUIRE(!given_.is_floating(i) ||
                      (given_.behind[i] == given_.ahead[i] &&
                       given_.ahead[i] == given_.ahead[of_conductor[given_.conductor[i]]]),
                  "the conductor \"" << given_.names[given_.conductor[i]]
                                     << "\" floats in several media: solve for it at a potential, "
                                        "and take that which gives its charge");
}

void LossySystem::add_gauss_equations(const Enclosures& enclosures,
                                      std::span<const std::int32_t> part_of) {
  std::vector<char> has_one_contrast(enclosures.parts.size(), true);
  for (std::size_t i = 0; i < panels_.size(); ++i)
    if (rows_.beta[i] != rows_.beta[enclosures.parts[enclosures.of[i]].first])
      has_one_contrast[enclosures.of[i]] = false;
  const auto panels_of = panels_of_parts(enclosures);
  for (std::size_t body = 0; body < part_of.size(); ++body) {
    const Enclosure& enclosure = enclosures.parts[body];
    const Complex beta = std::copysign(1.0, enclosure.volume) * rows_.beta[enclosure.first],
                  own = 1.0 / (1.0 - beta / 2.0);
    // Of a body on a ground plane the charge and that of its image add up to nothing anyway.
    if (!is_interface(enclosure.first) || !enclosure.closed || enclosure.grounded ||
        !has_one_contrast[body] || beta == 0.0)
      continue;
    ComplexChargeEquation equation{static_cast<std::int32_t>(body)};
    const auto is_in_body = parts_inside(panels_, enclosures, equation.part, panels_of[body]);
    // Of what touches the body from inside the charge is not known.
    bool is_known = true;
    std::vector<int> inside(part_of.size(), -1);  // 0 or 1 of parts, as their components have it
    for (std::size_t p = 0; p < part_of.size() && is_known; ++p) {
      if (p == body) continue;
      int& part = inside[part_of[p]];
      const int is_inside = is_in_body[p].value_or(false);
      is_known = is_in_body[p] && (part < 0 || part == is_inside);
      if (part < 0 && is_inside == 1) equation.others.push_back({part_of[p], -beta * own});
      part = is_inside;
    }
    if (!is_known) continue;
    rows_.equations.push_back(std::move(equation));
    equations_.push_back({-1, own});
  }
}

std::shared_ptr<const ComplexOperator> LossySystem::make_operator(const OperatorOptions& options) {
  auto op = std::make_shared<ComplexOperator>(panels_, rows_, options);
  for (std::size_t i = 0; i < panels_.size(); ++i)
    if (!given_.gives_flux(i) && given_.behind[i] != given_.ahead[i])
      sheets_.push_back(static_cast<std::int32_t>(i));
  if (sheets_.empty()) return op;
  OperatorOptions of_sheets = options;
  of_sheets.processor = Processor::cpu;
  sheet_flux_ = make_boundary_operator(panels_, adjoint_double_layer, of_sheets, {.rows = sheets_});
  return op;
}

std::vector<double> LossySystem::right_hand_side(std::span<const Complex> given,
                                                 std::span<const Complex> charge) const {
  std::vector<Complex> b(panels_.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    const int conductor = given_.conductor[i];
    FMBEM_REQUIRE(conductor < 0 || !grounded_[conductor] || given[i] == 0.0,
                  "the conductor \"" << given_.names[conductor]
                                     << "\" touches a ground plane and is not at 0 V: put it to 0 "
                                        "V, or move it away");
    b[i] = given_.gives_flux(i) ? 2.0 * given[i] / (given_.behind[i] + given_.ahead[i]) -
                                      rows_.beta[i] * applied_flux_[i]
                                : rows_.alpha[i] * (given[i] - applied_potential_[i]);
  }
  set_charges(charge, b);
  return parts_of(b);
}

/// In the place of the means of rows, what equations say.
void LossySystem::set_charges(std::span<const Complex> charge, std::vector<Complex>& b) const {
  if (equations_.empty()) return;
  const std::int32_t parts = *std::max_element(rows_.part.begin(), rows_.part.end()) + 1;
  std::vector<Complex> sum(parts, 0.0), shift(parts, 0.0);
  std::vector<double> area(parts, 0.0);
  for (std::size_t i = 0; i < b.size(); ++i) {
    sum[rows_.part[i]] += area_[i] * b[i];
    area[rows_.part[i]] += area_[i];
  }
  for (std::size_t e = 0; e < equations_.size(); ++e) {
    const auto& [conductor, factor] = equations_[e];
    const std::int32_t p = rows_.equations[e].part;
    const Complex wanted = conductor < 0 ? sum[p] : charge[conductor] / (epsilon_0 * scale_to_m_);
    shift[p] = (factor * wanted - sum[p]) / area[p];
  }
  for (std::size_t i = 0; i < b.size(); ++i) b[i] += shift[rows_.part[i]];
}

std::vector<Complex> LossySystem::densities(std::span<const double> both) const {
  std::vector<Complex> sigma;
  for (std::size_t i = 0; i < panels_.size(); ++i)
    sigma.emplace_back(both[i], both[panels_.size() + i]);
  return sigma;
}

std::vector<Complex> LossySystem::free_charge(std::span<const Complex> sigma) const {
  std::vector<Complex> result(sigma.begin(), sigma.end());
  for (std::size_t i = 0; i < result.size(); ++i)
    if (!given_.gives_flux(i)) result[i] *= 0.5 * (given_.behind[i] + given_.ahead[i]);
  if (!sheet_flux_) return result;
  std::vector<double> flux(2 * sheets_.size());
  sheet_flux_->apply(parts_of(sigma).data(), flux.data(), {.vectors = 2});
  for (std::size_t k = 0; k < sheets_.size(); ++k) {
    const std::int32_t i = sheets_[k];
    result[i] += (given_.behind[i] - given_.ahead[i]) *
                 (Complex(flux[k], flux[sheets_.size() + k]) + applied_flux_[i]);
  }
  return result;
}

ComplexField LossySystem::field(std::span<const Complex> sigma, std::span<const Vec3d> points,
                                const FieldOptions& options) const {
  const std::size_t n = sigma.size();
  const std::vector<double> both = parts_of(sigma);
  const Field real = evaluate_field(panels_, std::span(both).first(n), points, options),
              imaginary = evaluate_field(panels_, std::span(both).subspan(n), points, options);
  ComplexField result;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Vec3d x = points[k];
    result.potential.emplace_back(
        real.potential[k] + applied_.real.potential(x, scale_to_m_),
        imaginary.potential[k] + applied_.imaginary.potential(x, scale_to_m_));
    const Vec3d e = real.e[k] / scale_to_m_ + applied_.real.field(x, scale_to_m_),
                i_e = imaginary.e[k] / scale_to_m_ + applied_.imaginary.field(x, scale_to_m_);
    result.e.push_back({{e.x, i_e.x}, {e.y, i_e.y}, {e.z, i_e.z}});
  }
  return result;
}

void LossySystem::find_potentials(std::span<const Complex> sigma,
                                  std::vector<Complex>& potential) const {
  std::vector<std::size_t> panel_of(given_.floats.size(), panels_.size());
  std::vector<std::size_t> floating;
  std::vector<Vec3d> places;
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    if (!given_.is_floating(i) || panel_of[given_.conductor[i]] < panels_.size()) continue;
    panel_of[given_.conductor[i]] = i;
    floating.push_back(given_.conductor[i]);
    places.push_back(panels_.centroid(i) + panels_.origin);
  }
  const ComplexField at = field(sigma, places, {.tolerance = 0});
  for (std::size_t k = 0; k < places.size(); ++k) potential[floating[k]] = at.potential[k];
}

}  // namespace fmbem
