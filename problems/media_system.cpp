#include "fmbem/problems/media_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

/// β between ε₁, behind the panels, and ε₂.
template <class T>
T contrast(T behind, T ahead) {
  return 2.0 * (behind - ahead) / (behind + ahead);
}

/// [n panels]: what is of one kind has one number.
template <class T>
std::vector<int> classes_of(const BasicPanelConditions<T>& given) {
  enum { interface = -1, potential = -2, flux = -3, unfixed = -4 };
  std::vector<int> result;
  result.reserve(given.kind.size());
  for (std::size_t i = 0; i < given.kind.size(); ++i) {
    if (!given.gives_flux(i))
      result.push_back(given.conductor[i] >= 0 ? given.conductor[i] : potential);
    else if (given.is_unfixed(i))
      result.push_back(unfixed - given.unfixed[i]);
    else
      result.push_back(given.is_interface(i) ? interface : flux);
  }
  return result;
}

}  // namespace

template <class T>
std::vector<bool> float_between_media(const BasicPanelConditions<T>& conditions) {
  std::vector<bool> result(conditions.floats.size(), false);
  std::vector<std::optional<T>> medium(result.size());
  for (std::size_t i = 0; i < conditions.kind.size(); ++i) {
    if (!conditions.is_floating(i)) continue;
    const int c = conditions.conductor[i];
    const T ahead = conditions.ahead[i];
    if (conditions.behind[i] != ahead) result[c] = true;
    // The weights of charges in equations are real.
    if (BasicMediaSystem<T>::is_complex && medium[c].value_or(ahead) != ahead) result[c] = true;
    medium[c] = ahead;
  }
  return result;
}

template <class T>
BasicMediaSystem<T>::BasicMediaSystem(const Panels& panels, BasicPanelConditions<T> conditions,
                                      Applied applied, double scale_to_m)
    : panels_(panels),
      given_(std::move(conditions)),
      applied_(std::move(applied)),
      scale_to_m_(scale_to_m),
      area_(areas_of(panels)) {
  check();
  set_rows();
  set_parts();
  set_applied();
}

template <class T>
void BasicMediaSystem<T>::check() const {
  const std::vector<bool> refused = float_between_media(given_);
  for (std::size_t c = 0; c < refused.size(); ++c)
    FMBEM_REQUIRE(!refused[c], "the conductor \"" << given_.names[c]
                                                  << "\" floats between two media: solve for it "
                                                     "at a potential, and take that which gives "
                                                     "its charge");
  if constexpr (is_complex)
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const std::string where = place(panels_.centroid(i) + panels_.origin);
      for (const T permittivity : {given_.behind[i], given_.ahead[i]})
        FMBEM_REQUIRE(std::isfinite(std::abs(permittivity)) && permittivity.real() >= 0 &&
                          permittivity.imag() <= 0,
                      "the permittivity " << permittivity.real() << " + " << permittivity.imag()
                                          << "i at " << where
                                          << " must have a real part that is not negative, and an "
                                             "imaginary part that is not positive");
      FMBEM_REQUIRE(given_.behind[i] + given_.ahead[i] != T(0),
                    "there is no medium on either side of the panel at " << where);
    }
}

template <class T>
void BasicMediaSystem<T>::set_rows() {
  const std::size_t n = panels_.size();
  rows_.alpha.assign(n, T(0));
  rows_.beta.assign(n, T(0));
  rows_.gamma.assign(n, T(0));
  for (std::size_t i = 0; i < n; ++i) {
    if (given_.gives_flux(i)) {
      if (given_.has_admittance(i)) rows_.alpha[i] = given_.admittance[i] / mean_permittivity(i);
      rows_.beta[i] = contrast(given_.behind[i], given_.ahead[i]);
      rows_.gamma[i] = 1;
    } else {
      rows_.alpha[i] = 1 / panels_.extent;
    }
  }
}

template <class T>
void BasicMediaSystem<T>::set_parts() {
  const Enclosures enclosures = find_enclosures(panels_, classes_of(given_));
  find_grounded(enclosures);
  std::vector<std::int32_t> part_of(enclosures.parts.size());
  join_parts(enclosures, part_of);
  for (const std::int32_t enclosure : enclosures.of) rows_.part.push_back(part_of[enclosure]);

  // What rows of a part have in common: β of an interface, ε ahead of a conductor.
  std::vector<Common> common(enclosures.parts.size());
  for (std::size_t i = 0; i < panels_.size(); ++i)
    common[rows_.part[i]].add(given_.gives_flux(i) ? rows_.beta[i] : given_.ahead[i]);
  add_floating_equations(common);
  add_gauss_equations(enclosures, part_of, common);
  for (const std::int32_t part : part_of_unfixed_) {
    rows_.equations.push_back({part});
    equations_.push_back({-1, 0});
  }
  if (rows_.equations.empty()) rows_.part.clear();
}

template <class T>
void BasicMediaSystem<T>::find_grounded(const Enclosures& enclosures) {
  grounded_.assign(given_.floats.size(), false);
  for (const Enclosure& part : enclosures.parts) {
    const int conductor = given_.conductor[part.first];
    if (!part.grounded || conductor < 0) continue;
    FMBEM_REQUIRE(!given_.floats[conductor],
                  "the conductor \"" << given_.names[conductor]
                                     << "\" floats and touches a ground plane: it is at 0 V");
    grounded_[conductor] = true;
  }
}

/// All components of a floating conductor are one part, as their potential is one, and all Neumann
/// surfaces of a domain, as their charges add up to 0.
template <class T>
void BasicMediaSystem<T>::join_parts(const Enclosures& enclosures,
                                     std::vector<std::int32_t>& part_of) {
  part_of_conductor_.assign(given_.floats.size(), -1);
  if (!given_.unfixed.empty()) {
    const auto most = std::max_element(given_.unfixed.begin(), given_.unfixed.end());
    part_of_unfixed_.assign(*most + 1, -1);
  }
  for (std::size_t p = 0; p < part_of.size(); ++p) {
    const std::int32_t panel = enclosures.parts[p].first;
    part_of[p] = static_cast<std::int32_t>(p);
    std::int32_t* joined = nullptr;
    if (given_.is_floating(panel))
      joined = &part_of_conductor_[given_.conductor[panel]];
    else if (given_.is_unfixed(panel))
      joined = &part_of_unfixed_[given_.unfixed[panel]];
    if (!joined) continue;
    if (*joined < 0) *joined = part_of[p];
    part_of[p] = *joined;
  }
}

template <class T>
void BasicMediaSystem<T>::add_floating_equations(std::span<const Common> permittivity) {
  for (std::size_t c = 0; c < part_of_conductor_.size(); ++c) {
    const std::int32_t p = part_of_conductor_[c];
    if (p < 0) continue;
    const bool is_uniform = permittivity[p].is_one;
    rows_.equations.push_back({p});
    equations_.push_back({static_cast<int>(c), is_uniform ? 1.0 / permittivity[p].value : 1.0});
    if constexpr (!is_complex) {
      if (is_uniform) continue;
      rows_.weight.resize(panels_.size(), 1.0);
      for (std::size_t i = 0; i < panels_.size(); ++i)
        if (rows_.part[i] == p) rows_.weight[i] = given_.ahead[i];
    }
  }
}

template <class T>
void BasicMediaSystem<T>::add_gauss_equations(const Enclosures& enclosures,
                                              std::span<const std::int32_t> part_of,
                                              std::span<const Common> common) {
  const auto n_parts = static_cast<std::int32_t>(enclosures.parts.size());
  const auto panels_of = panels_of_parts(enclosures);
  for (std::int32_t body = 0; body < n_parts; ++body) {
    const Enclosure& enclosure = enclosures.parts[body];
    // Of a body on a ground plane the charge and that of its image add up to nothing anyway.
    if (!given_.is_interface(enclosure.first) || !enclosure.closed || enclosure.grounded ||
        !common[body].is_one || common[body].value == T(0))
      continue;
    const T beta = std::copysign(1.0, enclosure.volume) * common[body].value,
            own = 1.0 / (1.0 - beta / 2.0);
    auto& equation = rows_.equations.emplace_back();
    equation.part = body;
    // Of what touches the body from inside, or is in several media, its charge is not known.
    bool is_known = true;
    const auto is_in_body = parts_inside(panels_, enclosures, body, panels_of[body]);
    std::vector<double> inside(n_parts, -1);  // 0 or 1 of parts, as their components have it
    for (std::int32_t p = 0; p < n_parts && is_known; ++p) {
      if (p == body) continue;
      const std::int32_t part = part_of[p], first = enclosures.parts[p].first;
      const double is_inside = is_in_body[p].value_or(false);
      const bool is_weighted = given_.is_floating(first) && !common[part].is_one;
      is_known = is_in_body[p] && (inside[part] < 0 || inside[part] == is_inside) &&
                 !(is_inside > 0 && is_weighted);
      if (inside[part] < 0 && is_inside > 0) equation.others.push_back({part, -beta * own});
      inside[part] = is_inside;
    }
    if (is_known)
      equations_.push_back({-1, own});
    else
      rows_.equations.pop_back();
  }
}

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
  op_ = std::make_shared<Operator>(panels_, rows_, options);
  for (std::size_t i = 0; i < panels_.size(); ++i)
    if (!given_.gives_flux(i) && given_.behind[i] != given_.ahead[i])
      sheets_.push_back(static_cast<std::int32_t>(i));
  if (sheets_.empty()) return op_;
  OperatorOptions of_sheets = options;
  of_sheets.processor = op_->processor();
  PanelBlock block;  // the GPU has all rows
  if (op_->processor() == Processor::cpu) block.rows = sheets_;
  sheet_flux_ = make_boundary_operator(panels_, adjoint_double_layer, of_sheets, block);
  return op_;
}

template <class T>
std::vector<double> BasicMediaSystem<T>::right_hand_side(const BasicPanelData<T>& data) const {
  std::vector<T> b(panels_.size(), T(0));
  for (std::size_t i = 0; i < b.size(); ++i) {
    const T potential = data.applied ? applied_potential(i) : T(0);
    if (!given_.gives_flux(i)) {
      const int conductor = given_.conductor[i];
      FMBEM_REQUIRE(conductor < 0 || !grounded_[conductor] || data.given[i] == T(0),
                    "the conductor \"" << given_.names[conductor]
                                       << "\" touches a ground plane and is at " << data.given[i]
                                       << " V: put it to 0 V, or move it away");
      b[i] = rows_.alpha[i] * (data.given[i] - potential);
      continue;
    }
    b[i] = data.given[i] / mean_permittivity(i) - rows_.alpha[i] * potential;
    if (data.applied) b[i] -= rows_.beta[i] * applied_flux(i);
  }
  set_charges(data, b);
  return numbers_of(std::span<const T>(b));
}

/// In the place of the means of rows, what equations say.
template <class T>
void BasicMediaSystem<T>::set_charges(const BasicPanelData<T>& data, std::vector<T>& b) const {
  if (equations_.empty()) return;
  const std::int32_t parts = *std::max_element(rows_.part.begin(), rows_.part.end()) + 1;
  std::vector<T> sum(parts, T(0)), shift(parts, T(0));
  std::vector<double> area(parts, 0.0);
  for (std::size_t i = 0; i < b.size(); ++i) {
    sum[rows_.part[i]] += area_[i] * b[i];
    area[rows_.part[i]] += area_[i];
  }
  for (std::size_t e = 0; e < equations_.size(); ++e) {
    const auto& [conductor, factor] = equations_[e];
    const std::int32_t p = rows_.equations[e].part;
    const T wanted =
        conductor < 0 ? sum[p] : data.charge[conductor] / (applied_.unit * scale_to_m_);
    shift[p] = (factor * wanted - sum[p]) / area[p];
  }
  for (std::size_t i = 0; i < b.size(); ++i) b[i] += shift[rows_.part[i]];
}

template <class T>
std::vector<T> BasicMediaSystem<T>::mean_flux(std::span<const T> sigma, bool applied) const {
  std::vector<T> result(sigma.size(), T(std::numeric_limits<double>::quiet_NaN()));
  const auto add = [&](const BoundaryOperator& op, std::span<const std::int32_t> rows) {
    const std::vector<T> flux = applied_to(op, sigma);
    for (std::size_t k = 0; k < flux.size(); ++k) result[panel_of(rows, k)] = flux[k];
  };
  if (const auto flux = op_->flux_operator(); flux.op) add(*flux.op, flux.rows);
  if (sheet_flux_) {
    const bool has_all = sheet_flux_->rows() == sigma.size();
    add(*sheet_flux_, has_all ? std::span<const std::int32_t>() : sheets_);
  }
  if (applied && !applied_flux_.empty())
    for (std::size_t i = 0; i < result.size(); ++i) result[i] += applied_flux_[i];
  return result;
}

template <class T>
std::vector<T> BasicMediaSystem<T>::free_charge(std::span<const T> sigma, bool applied) const {
  std::vector<T> result(sigma.begin(), sigma.end());
  for (std::size_t i = 0; i < result.size(); ++i)
    if (!given_.gives_flux(i)) result[i] *= mean_permittivity(i);
  if (!sheet_flux_) return result;
  const std::vector<T> flux = applied_to(*sheet_flux_, sigma);
  const bool has_all = flux.size() == sigma.size();
  for (std::size_t k = 0; k < sheets_.size(); ++k) {
    const std::int32_t i = sheets_[k];
    result[i] += (given_.behind[i] - given_.ahead[i]) *
                 (flux[has_all ? i : k] + (applied ? applied_flux(i) : T(0)));
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
  double squares = 0;
  for (std::size_t i = 0; i < free_charge.size(); ++i) {
    const double of_row =
        std::abs(given_.gives_flux(i) ? mean_permittivity(i) : free_charge[i] / rows_.alpha[i]);
    squares += of_row * of_row * area_[i] * area_[i];
  }
  return applied_.unit * scale_to_m_ * std::sqrt(squares);
}

template class BasicMediaSystem<double>;
template class BasicMediaSystem<Complex>;
template std::vector<bool> float_between_media(const PanelConditions&);
template std::vector<bool> float_between_media(const LossyConditions&);

}  // namespace fmbem
