// The rows of MediaSystem, and what their equations say.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/tasks.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/media_system.hpp"

namespace fmbem {
namespace {

/// What hangs together with more walls is left to inverse shifts: every small system would have
/// all of them.
constexpr std::size_t most_walls = 100;

/// β between ε₁, behind the panels, and ε₂.
template <class T>
T contrast(T behind, T ahead) {
  return 2.0 * (behind - ahead) / (behind + ahead);
}

/// [n panels]: what is of one kind has one number. Interfaces without a contrast are of another one
/// than others, which they do not keep from being closed.
template <class T>
std::vector<int> classes_of(const BasicPanelConditions<T>& given) {
  enum { interface = -1, potential = -2, flux = -3, plain = -4, unfixed = -5 };
  const auto n = static_cast<std::int64_t>(given.kind.size());
  std::vector<int> result(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    if (!given.gives_flux(i))
      result[i] = given.conductor[i] >= 0 ? given.conductor[i] : potential;
    else if (given.is_unfixed(i))
      result[i] = unfixed - given.unfixed[i];
    else
      result[i] = !given.is_interface(i)              ? flux
                  : given.behind[i] == given.ahead[i] ? plain
                                                      : interface;
  }
  return result;
}

}  // namespace

template <class T>
std::vector<bool> float_between_media(const Panels& panels,
                                      const BasicPanelConditions<T>& conditions) {
  std::vector<bool> result(conditions.floats.size(), false);
  if (std::find(conditions.floats.begin(), conditions.floats.end(), true) ==
      conditions.floats.end())
    return result;
  std::vector<std::optional<T>> medium(result.size());
  std::vector<char> at_interface(panels.vertices.size(), false);
  for (std::size_t i = 0; i < panels.size(); ++i)
    if (conditions.is_interface(i) && conditions.behind[i] != conditions.ahead[i])
      for (const int v : panels.corners[i]) at_interface[v] = true;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (!conditions.is_floating(i)) continue;
    const int c = conditions.conductor[i];
    const T ahead = conditions.ahead[i];
    if (conditions.behind[i] != ahead) result[c] = true;
    for (const int v : panels.corners[i])
      if (at_interface[v]) result[c] = true;
    // The weights of charges in equations are real.
    if (BasicMediaSystem<T>::is_complex && medium[c].value_or(ahead) != ahead) result[c] = true;
    medium[c] = ahead;
  }
  return result;
}

template <class T>
BasicMediaSystem<T>::BasicMediaSystem(const Panels& panels, BasicPanelConditions<T> conditions,
                                      Applied applied, double scale_to_m,
                                      const OperatorOptions& options)
    : panels_(panels),
      given_(std::move(conditions)),
      applied_(std::move(applied)),
      scale_to_m_(scale_to_m),
      area_(areas_of(panels)) {
  check();
  set_rows();
  std::future<void> v;
  if constexpr (!is_complex)
    if (options.processor == Processor::gpu)
      v = start_beside(true, [&] {
        try {
          v_ = MixedOperator::make_v(panels_, *rows_, options);
        } catch (const ToleranceError&) {  // make_operator() makes it again, and throws
        }
      });
  set_parts();
  set_applied();
  if (v.valid()) v.get();
}

template <class T>
void BasicMediaSystem<T>::check() const {
  const std::vector<bool> refused = float_between_media(panels_, given_);
  for (std::size_t c = 0; c < refused.size(); ++c)
    FMBEM_REQUIRE(!refused[c], "the conductor \"" << given_.names[c]
                                                  << "\" floats between two media: solve for it "
                                                     "at a potential, and take that which gives "
                                                     "its charge, as ProblemSolver does");
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
double BasicMediaSystem<T>::size_of_a_conductor() const {
  const auto n = static_cast<std::int64_t>(panels_.size());
  const double surface =
      sum_of(n, [&](std::int64_t i) { return given_.gives_flux(i) ? 0 : (*area_)[i]; });
  const double conductors = std::max<double>(1, given_.names.size());
  return std::sqrt(surface / (std::numbers::pi * conductors));
}

template <class T>
void BasicMediaSystem<T>::set_rows() {
  const auto n = static_cast<std::int64_t>(panels_.size());
  resize_each(n, rows_->alpha, rows_->beta, rows_->gamma, rows_->part);
  const double size = size_of_a_conductor();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    if (given_.gives_flux(i)) {
      if (given_.has_admittance(i)) rows_->alpha[i] = given_.admittance[i] / mean_permittivity(i);
      rows_->beta[i] = contrast(given_.behind[i], given_.ahead[i]);
      rows_->gamma[i] = 1;
    } else {
      rows_->alpha[i] = 1 / size;
    }
  }
}

template <class T>
void BasicMediaSystem<T>::set_parts() {
  const Enclosures enclosures = find_enclosures(panels_, classes_of(given_));
  find_grounded(enclosures);
  std::vector<std::int32_t> part_of(enclosures.parts.size());
  join_parts(enclosures, part_of);
  const auto n = static_cast<std::int64_t>(panels_.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) rows_->part[i] = part_of[enclosures.of[i]];
  const std::vector<Common> common = common_of_parts(enclosures);
  add_floating_equations(common);
  add_gauss_equations(enclosures, part_of, common);
  for (const std::int32_t part : part_of_unfixed_) {
    rows_->equations.push_back({part});
    equations_.push_back({-1, 0});
  }
  add_gauss_shifts(enclosures);
  put_in_what_is_known();
  if (rows_->equations.empty() && rows_->shifts.empty()) rows_->part.clear();
}

template <class T>
auto BasicMediaSystem<T>::common_of_parts(const Enclosures& enclosures) const
    -> std::vector<Common> {
  const auto number_of = [&](std::int64_t i) {
    return given_.gives_flux(i) ? rows_->beta[i] : given_.ahead[i];
  };
  std::vector<Common> common;
  for (const Enclosure& enclosure : enclosures.parts)
    common.push_back({number_of(enclosure.first)});
  const auto n = static_cast<std::int64_t>(panels_.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    Common& of_part = common[rows_->part[i]];
    if (number_of(i) != of_part.value)
      std::atomic_ref(of_part.is_one).store(false, std::memory_order_relaxed);
  }
  return common;
}

template <class T>
void BasicMediaSystem<T>::add_gauss_shifts(const Enclosures& enclosures) {
  gauss_ = find_gauss_shifts<T>(panels_, enclosures, given_, rows_->beta, rows_->part);
  if (gauss_.empty()) return;
  rows_->part = gauss_.part;
  for (auto& equation : rows_->equations) {
    const auto others = std::exchange(equation.others, {});
    for (const auto& [old_part, factor] : others)
      for (const std::int32_t part : gauss_.made_of[old_part])
        equation.others.push_back({part, factor});
  }
  rows_->shifts = gauss_.rows;
  // Small systems have all walls of what hangs together as unknowns, and no images.
  bool is_for_small_systems = !panels_.images && gauss_.most_walls <= most_walls;
  const auto n = static_cast<std::int64_t>(panels_.size());
#pragma omp parallel for schedule(static) reduction(&& : is_for_small_systems)
  for (std::int64_t i = 0; i < n; ++i)  // nor walls whose rows have V as well
    is_for_small_systems =
        is_for_small_systems && (rows_->alpha[i] == T(0) || rows_->beta[i] == T(0));
  if (is_for_small_systems)
    rows_->stretched = gauss_.stretched;
  else
    rows_->inverse_shifts = gauss_.inverse_rows;
}

/// Charges of bodies inside of others follow from the right-hand side, but for conductors'; those
/// of interfaces without a contrast are what is given there.
template <class T>
void BasicMediaSystem<T>::put_in_what_is_known() {
  if (rows_->part.empty()) return;
  std::vector<KnownCharge<T>> known = gauss_.known;
  std::vector<char> is_plain(extremes_of<std::int32_t>(rows_->part).most + 1, true);
  const auto n = static_cast<std::int64_t>(panels_.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i)
    if (!is_plain_interface(i))
      std::atomic_ref(is_plain[rows_->part[i]]).store(false, std::memory_order_relaxed);
  for (std::size_t p = 0; p < is_plain.size(); ++p) {
    const auto part = static_cast<std::int32_t>(p);
    if (is_plain[p]) known.push_back({{part}, {{part, T(1)}}, {}});
  }
  for (std::size_t e = 0; e < equations_.size(); ++e) {
    if (equations_[e].conductor >= 0) continue;
    const std::int32_t part = rows_->equations[e].part;
    auto& charge = known.emplace_back();
    charge.parts = {part};
    charge.sums = {{part, equations_[e].factor}};
    for (const auto& other : rows_->equations[e].others)
      charge.charges.push_back({other.part, -other.factor});
  }
  known_shifts_ = put_in_known_charges<T>(known, *rows_);
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
    rows_->equations.push_back({p});
    equations_.push_back({static_cast<int>(c), is_uniform ? 1.0 / permittivity[p].value : 1.0});
    if constexpr (!is_complex) {
      if (is_uniform) continue;
      const auto n = static_cast<std::int64_t>(panels_.size());
      rows_->weight.resize(n, 1.0);
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < n; ++i)
        if (rows_->part[i] == p) rows_->weight[i] = given_.ahead[i];
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
    auto& equation = rows_->equations.emplace_back();
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
      rows_->equations.pop_back();
  }
}

template class BasicMediaSystem<double>;
template class BasicMediaSystem<Complex>;
template std::vector<bool> float_between_media(const Panels&, const PanelConditions&);
template std::vector<bool> float_between_media(const Panels&, const LossyConditions&);

}  // namespace fmbem
