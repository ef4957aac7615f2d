#include "fmbem/problems/media_system.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// β of an interface between ε₁, behind its panels, and ε₂.
double contrast(double behind, double ahead) { return 2 * (behind - ahead) / (behind + ahead); }

bool lies_in(const Enclosure& part, const Enclosure& body) {
  for (int axis = 0; axis < 3; ++axis)
    if (part.low[axis] < body.low[axis] || part.high[axis] > body.high[axis]) return false;
  return true;
}

/// [parts], of panels and their images.
std::vector<std::vector<std::int32_t>> panels_of_parts(const Enclosures& enclosures) {
  std::vector<std::vector<std::int32_t>> result(enclosures.parts.size());
  for (std::size_t w = 0; w < enclosures.of_whole.size(); ++w)
    if (enclosures.of_whole[w] >= 0)
      result[enclosures.of_whole[w]].push_back(static_cast<std::int32_t>(w));
  return result;
}

}  // namespace

MediaSystem::MediaSystem(const SurfaceMesh& mesh, const Panels& panels,
                         std::span<const Conductor> conductors, std::span<const int> conductor_of,
                         const ConductorOptions& options)
    : panels_(panels),
      conductors_(conductors),
      conductor_of_(conductor_of),
      scale_to_m_(mesh.scale_to_m),
      area_(areas_of(panels)) {
  set_media(mesh, options);
  set_floating(conductors, options);
  const std::size_t n = panels.size();
  rows_.alpha.assign(n, 0.0);
  rows_.beta.assign(n, 0.0);
  rows_.gamma.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    if (is_interface(i)) {
      rows_.beta[i] = contrast(behind_[i], ahead_[i]);
      rows_.gamma[i] = 1;
    } else {
      rows_.alpha[i] = 1 / panels.extent;
    }
  }
  set_parts();
  set_applied(mesh, with_images(options.applied, panels));
}

void MediaSystem::set_media(const SurfaceMesh& mesh, const ConductorOptions& options) {
  std::vector<const Media*> of_group(mesh.groups.size(), nullptr);
  for (const Media& media : options.media) {
    for (const double permittivity : {media.behind, media.ahead})
      FMBEM_REQUIRE(permittivity > 0 && std::isfinite(permittivity),
                    "the relative permittivities beside \""
                        << media.group << "\" must be positive, not " << permittivity);
    bool found = false;
    for (std::size_t g = 0; g < mesh.groups.size(); ++g) {
      if (mesh.groups[g].name != media.group) continue;
      FMBEM_REQUIRE(!of_group[g],
                    "the media of the group \"" << media.group << "\" are given twice");
      of_group[g] = &media;
      found = true;
    }
    FMBEM_REQUIRE(found, "the mesh has no group \"" << media.group << "\", whose media are given");
  }
  behind_.reserve(panels_.size());
  ahead_.reserve(panels_.size());
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    const int group = mesh.group_of[panels_.input_index[i]];
    const Media* media = of_group[group];
    FMBEM_REQUIRE(media || !is_interface(i),
                  "the group \"" << mesh.groups[group].name
                                 << "\" is an interface, but the media on its sides are not given");
    behind_.push_back(media ? media->behind : options.permittivity);
    ahead_.push_back(media ? media->ahead : options.permittivity);
  }
}

void MediaSystem::set_floating(std::span<const Conductor> conductors,
                               const ConductorOptions& options) {
  floats_.assign(conductors.size(), false);
  for (const std::string& name : options.floating) {
    const auto conductor = std::find_if(conductors.begin(), conductors.end(),
                                        [&](const Conductor& c) { return c.name == name; });
    FMBEM_REQUIRE(conductor != conductors.end(),
                  "there is no conductor \"" << name << "\" to float");
    floats_[conductor - conductors.begin()] = true;
  }
  for (std::size_t i = 0; i < panels_.size(); ++i)
    FMBEM_REQUIRE(is_interface(i) || !floats_[conductor_of_[i]] || behind_[i] == ahead_[i],
                  "the conductor \"" << conductors[conductor_of_[i]].name
                                     << "\" floats between two media: solve for it at a potential, "
                                        "and take that which gives its charge");
}

void MediaSystem::set_parts() {
  const Enclosures enclosures = find_enclosures(panels_, conductor_of_);
  const std::size_t n_parts = enclosures.parts.size();
  grounded_.assign(floats_.size(), false);
  for (const Enclosure& part : enclosures.parts)
    if (part.grounded && !is_interface(part.first)) grounded_[conductor_of_[part.first]] = true;
  for (std::size_t c = 0; c < floats_.size(); ++c)
    FMBEM_REQUIRE(!floats_[c] || !grounded_[c],
                  "the conductor \"" << conductors_[c].name
                                     << "\" floats and touches a ground plane: it is at 0 V");
  // All components of a floating conductor are one part, as their potential is one.
  std::vector<std::int32_t> part_of(n_parts), of_conductor(floats_.size(), -1);
  for (std::size_t p = 0; p < n_parts; ++p) {
    const int conductor = conductor_of_[enclosures.parts[p].first];
    part_of[p] = static_cast<std::int32_t>(p);
    if (conductor < 0 || !floats_[conductor]) continue;
    if (of_conductor[conductor] < 0) of_conductor[conductor] = part_of[p];
    part_of[p] = of_conductor[conductor];
  }
  for (const std::int32_t enclosure : enclosures.of) rows_.part.push_back(part_of[enclosure]);

  // What rows of a part have in common: β of an interface, ε ahead of a conductor.
  std::vector<Range> common(n_parts);
  for (std::size_t i = 0; i < panels_.size(); ++i)
    common[rows_.part[i]].add(is_interface(i) ? rows_.beta[i] : ahead_[i]);
  add_floating_equations(of_conductor, common);
  add_gauss_equations(enclosures, part_of, common);
  if (rows_.equations.empty()) rows_.part.clear();
}

void MediaSystem::add_floating_equations(std::span<const std::int32_t> part_of_conductor,
                                         std::span<const Range> permittivity) {
  for (std::size_t c = 0; c < part_of_conductor.size(); ++c) {
    const std::int32_t p = part_of_conductor[c];
    if (p < 0) continue;
    const bool is_uniform = permittivity[p].is_one();
    rows_.equations.push_back({p});
    given_.push_back({static_cast<int>(c), is_uniform ? 1 / permittivity[p].least : 1});
    if (is_uniform) continue;
    rows_.weight.resize(panels_.size(), 1.0);
    for (std::size_t i = 0; i < panels_.size(); ++i)
      if (rows_.part[i] == p) rows_.weight[i] = ahead_[i];
  }
}

void MediaSystem::add_gauss_equations(const Enclosures& enclosures,
                                      std::span<const std::int32_t> part_of,
                                      std::span<const Range> common) {
  const auto n_parts = static_cast<std::int32_t>(enclosures.parts.size());
  const auto panels_of = panels_of_parts(enclosures);
  const Panels& whole = whole_of(panels_);
  const Vec3d shift = panels_.origin - whole.origin;
  for (std::int32_t body = 0; body < n_parts; ++body) {
    const Enclosure& enclosure = enclosures.parts[body];
    // Of a body on a ground plane the charge and that of its image add up to nothing anyway.
    if (!is_interface(enclosure.first) || !enclosure.closed || enclosure.grounded ||
        !common[body].is_one() || common[body].least == 0)
      continue;
    const double beta = std::copysign(1.0, enclosure.volume) * common[body].least,
                 own = 1 / (1 - beta / 2);
    ChargeEquation equation{body};
    // Of what touches the body from inside, or is in several media, its charge is not known.
    bool is_known = true;
    std::vector<double> inside(n_parts, -1);  // 0 or 1 of parts, as their components have it
    for (std::int32_t p = 0; p < n_parts && is_known; ++p) {
      if (p == body) continue;
      const std::int32_t part = part_of[p];
      const double winding =
          lies_in(enclosures.parts[p], enclosure)
              ? winding_number(whole, panels_of[body],
                               panels_.centroid(enclosures.parts[p].first) + shift)
              : 0;
      const double is_inside = winding > 0.5;
      const bool is_weighted = !rows_.weight.empty() && !is_interface(enclosures.parts[p].first) &&
                               floats_[conductor_of_[enclosures.parts[p].first]] &&
                               !common[part].is_one();
      is_known = std::abs(winding - is_inside) < 0.25 &&
                 (inside[part] < 0 || inside[part] == is_inside) && !(is_inside > 0 && is_weighted);
      if (inside[part] < 0 && is_inside > 0) equation.others.push_back({part, -beta * own});
      inside[part] = is_inside;
    }
    if (!is_known) continue;
    rows_.equations.push_back(std::move(equation));
    given_.push_back({-1, own});
  }
}

void MediaSystem::set_applied(const SurfaceMesh& mesh, const AppliedField& applied) {
  if (applied.empty()) return;
  const auto n = static_cast<std::int64_t>(panels_.size());
  applied_potential_.resize(n);
  applied_flux_.resize(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    const Triangle t = panels_.triangle(i);
    applied_potential_[i] = applied.potential(t.centroid + panels_.origin, mesh.scale_to_m);
    // Of a charge the mean flux is its solid angle, so that those out of closed surfaces are exact.
    applied_flux_[i] = -mesh.scale_to_m * dot(applied.uniform, t.normal);
    for (const PointCharge& q : applied.charges)
      applied_flux_[i] += q.charge / (epsilon_0 * scale_to_m_ * q.permittivity) *
                          triangle_double_layer(t, q.place - panels_.origin) / t.area;
  }
}

std::shared_ptr<const BoundaryOperator> MediaSystem::make_operator(const OperatorOptions& options) {
  op_ = std::make_shared<MixedOperator>(panels_, rows_, options);
  for (std::size_t i = 0; i < panels_.size(); ++i)
    if (!is_interface(i) && behind_[i] != ahead_[i])
      sheets_.push_back(static_cast<std::int32_t>(i));
  if (sheets_.empty()) return op_;
  OperatorOptions of_sheets = options;
  of_sheets.processor = op_->processor();
  PanelBlock block;  // the GPU has all rows
  if (op_->processor() == Processor::cpu) block.rows = sheets_;
  sheet_flux_ = make_boundary_operator(panels_, adjoint_double_layer, of_sheets, block);
  return op_;
}

std::vector<double> MediaSystem::right_hand_side(std::span<const double> given) const {
  for (std::size_t c = 0; c < grounded_.size(); ++c)
    FMBEM_REQUIRE(!grounded_[c] || given[c] == 0,
                  "the conductor \"" << conductors_[c].name
                                     << "\" touches a ground plane and is at " << given[c]
                                     << " V: put it to 0 V, or move it away");
  std::vector<double> b(panels_.size(), 0.0);
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double applied = applied_potential_.empty() ? 0 : applied_potential_[i];
    if (is_interface(i))
      b[i] = applied_flux_.empty() ? 0 : -rows_.beta[i] * applied_flux_[i];
    else
      b[i] = rows_.alpha[i] * ((floats_[conductor_of_[i]] ? 0 : given[conductor_of_[i]]) - applied);
  }
  op_->charge_equations().set_charges(
      [&](std::size_t e, double sum) {
        const auto& [conductor, factor] = given_[e];
        return factor * (conductor < 0 ? sum : given[conductor] / (epsilon_0 * scale_to_m_));
      },
      b.data());
  return b;
}

std::vector<double> MediaSystem::free_charge(std::span<const double> sigma) const {
  std::vector<double> result(sigma.begin(), sigma.end());
  for (std::size_t i = 0; i < result.size(); ++i)
    if (!is_interface(i)) result[i] *= 0.5 * (behind_[i] + ahead_[i]);
  if (!sheet_flux_) return result;
  std::vector<double> flux(sheet_flux_->rows());
  sheet_flux_->apply(sigma.data(), flux.data());
  const bool has_all = flux.size() == sigma.size();
  for (std::size_t k = 0; k < sheets_.size(); ++k) {
    const std::int32_t i = sheets_[k];
    const double applied = applied_flux_.empty() ? 0 : applied_flux_[i];
    result[i] += (behind_[i] - ahead_[i]) * (flux[has_all ? i : k] + applied);
  }
  return result;
}

void MediaSystem::find_potentials(std::span<const double> sigma,
                                  std::vector<double>& potential) const {
  if (std::none_of(floats_.begin(), floats_.end(), [](bool floats) { return floats; })) return;
  std::vector<std::size_t> panel_of(floats_.size());
  std::vector<Vec3d> places;
  for (std::size_t i = panels_.size(); i-- > 0;)
    if (!is_interface(i)) panel_of[conductor_of_[i]] = i;
  for (std::size_t c = 0; c < floats_.size(); ++c)
    if (floats_[c]) places.push_back(panels_.centroid(panel_of[c]) + panels_.origin);
  const Field field = evaluate_field(panels_, sigma, places, {.tolerance = 0});
  auto next = field.potential.begin();
  for (std::size_t c = 0; c < floats_.size(); ++c)
    if (floats_[c])
      potential[c] = *next++ + (applied_potential_.empty() ? 0 : applied_potential_[panel_of[c]]);
}

double MediaSystem::residual_weight(std::span<const double> free_charge) const {
  double squares = 0;
  for (std::size_t i = 0; i < free_charge.size(); ++i) {
    const double of_row =
        is_interface(i) ? 0.5 * (behind_[i] + ahead_[i]) : free_charge[i] / rows_.alpha[i];
    squares += of_row * of_row * area_[i] * area_[i];
  }
  return epsilon_0 * scale_to_m_ * std::sqrt(squares);
}

}  // namespace fmbem
