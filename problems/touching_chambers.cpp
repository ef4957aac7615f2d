#include "fmbem/problems/touching_chambers.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/fmm/tree/unions.hpp"
#include "fmbem/problems/chambers.hpp"

namespace fmbem {
namespace {

template <class T>
class Finder {
 public:
  Finder(const Panels& panels, const Enclosures& enclosures,
         const BasicPanelConditions<T>& conditions, std::span<const T> beta,
         std::span<const std::int32_t> part)
      : panels_(panels),
        whole_(whole_of(panels)),
        enclosures_(enclosures),
        given_(conditions),
        beta_(beta),
        part_(part),
        images_(panels) {}

  TouchingChambers<T> find() {
    choose_panels();
    if (chosen_.empty()) return {};
    found_ = find_chambers(whole_, chosen_);
    merge_chambers();
    look_at_walls();
    find_inside();
    TouchingChambers<T> result;
    result.chambers = std::move(chambers_);
    set_walls(result);
    set_surroundings(result);
    return result;
  }

 private:
  bool is_interface_row(std::int32_t i) const {
    return given_.gives_flux(i) && !given_.is_unfixed(i);
  }

  /// All of the whole that hangs together with an interface that has no charge equation of its own.
  void choose_panels() {
    const auto n = static_cast<std::int32_t>(panels_.size());
    // Interfaces with a contrast are of other classes than all else.
    std::vector<char> is_asked(enclosures_.parts.size(), false);
#pragma omp parallel for schedule(static)
    for (std::int32_t i = 0; i < n; ++i) {
      const std::int32_t e = enclosures_.of[i];
      if (!given_.is_interface(i) || beta_[i] == T(0)) continue;
      if (!enclosures_.parts[e].closed || beta_[i] != beta_[enclosures_.parts[e].first])
        std::atomic_ref(is_asked[e]).store(true, std::memory_order_relaxed);
    }
    if (std::find(is_asked.begin(), is_asked.end(), true) == is_asked.end()) return;
    Unions vertices(whole_.vertices.size());
    for (const auto& corners : whole_.corners) {
      vertices.join(corners[0], corners[1]);
      vertices.join(corners[0], corners[2]);
    }
    std::vector<char> is_chosen(whole_.vertices.size(), false);
    for (std::int32_t i = 0; i < n; ++i)
      if (is_asked[enclosures_.of[i]])
        is_chosen[vertices.root(whole_.corners[images_.itself(i)][0])] = true;
    for (std::int32_t w = 0; w < static_cast<std::int32_t>(whole_.size()); ++w) {
      const std::int32_t root = vertices.root(whole_.corners[w][0]);
      if (!is_chosen[root]) continue;
      chosen_.push_back(w);
      complex_.push_back(root);
    }
  }

  /// Chambers that an interface without a contrast divides are one.
  void merge_chambers() {
    Unions merged(found_.all.size());
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      const std::int32_t i = images_.source(chosen_[k]);
      if (given_.is_interface(i) && beta_[i] == T(0)) merged.join(found_.of[k][0], found_.of[k][1]);
    }
    for (auto& sides : found_.of)
      for (std::int32_t& side : sides) side = merged.root(side);
    chambers_.resize(found_.all.size());
    is_outside_.assign(found_.all.size(), false);
    for (std::size_t c = 0; c < found_.all.size(); ++c) {
      if (found_.all[c].volume > 0 && found_.all[c].is_clear) continue;
      const std::int32_t root = merged.root(static_cast<std::int32_t>(c));
      chambers_[root].is_known = false;
      if (found_.all[c].volume < 0 && found_.all[c].is_clear) is_outside_[root] = true;
    }
  }

  void look_at_walls() {
    bounds_.assign(chambers_.size(), CoordinateBounds::of_nothing());
    std::vector<T> permittivity(chambers_.size());
    std::vector<char> is_set(chambers_.size(), false), is_one(chambers_.size(), true);
    for (TouchingChamber& chamber : chambers_) chamber.is_metal = true;
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      const std::int32_t w = chosen_[k], i = images_.source(w);
      for (int side = 0; side < 2; ++side) {
        const std::int32_t c = found_.of[k][side];
        const T epsilon = side == 0 ? given_.behind[i] : given_.ahead[i];
        if (!is_set[c]) permittivity[c] = epsilon;
        is_set[c] = true;
        is_one[c] = is_one[c] && permittivity[c] == epsilon;
        TouchingChamber& chamber = chambers_[c];
        if (given_.gives_flux(i) || given_.conductor[i] < 0) chamber.is_metal = false;
        if (images_.is_opposite(w) || images_.lies_in_plane(i) || given_.is_floating(i) ||
            given_.is_unfixed(i))
          chamber.is_known = false;
        for (int corner = 0; corner < 3; ++corner) {
          const Vec3d x = whole_.vertex(w, corner);
          bounds_[c].add(x);
        }
      }
    }
    for (std::size_t c = 0; c < chambers_.size(); ++c)
      if (!is_one[c] && !chambers_[c].is_metal) chambers_[c].is_known = false;
  }

  /// Which parts lie in which chambers, by the solid angle of the walls at one of their panels.
  void find_inside() {
    const Vec3d shift = panels_.origin - whole_.origin;
    std::vector<char> is_chosen(whole_.size(), false);
    for (const std::int32_t w : chosen_) is_chosen[w] = true;
    // [parts]: whether charges in equations have weights
    std::map<std::pair<std::int32_t, std::int32_t>, bool> is_inside;
    for (const Enclosure& enclosure : enclosures_.parts) {
      const std::int32_t i = enclosure.first;
      if (is_chosen[images_.itself(i)]) continue;
      const Vec3d x = panels_.centroid(i) + shift;
      std::vector<std::int32_t> around;
      for (std::size_t c = 0; c < chambers_.size(); ++c)
        if (chambers_[c].is_known && bounds_[c].contains(x))
          around.push_back(static_cast<std::int32_t>(c));
      if (around.empty()) continue;
      const std::vector<double> winding = windings(x);
      for (const std::int32_t c : around) {
        const bool inside = winding[c] > 0.5;
        // Of what floats in several media the charge in equations is another.
        const bool is_clear =
            std::abs(winding[c] - inside) < 0.25 && !(inside && has_media(enclosures_.of[i], i));
        const auto found = is_inside.emplace(std::pair(c, part_[i]), inside).first;
        if (!is_clear || found->second != inside) chambers_[c].is_known = false;
      }
    }
    for (const auto& [where, inside] : is_inside)
      if (inside) {
        chambers_[where.first].inside.push_back(where.second);
        chambers_[where.first].is_metal = false;
      }
  }

  /// Whether an enclosure floats in several media.
  bool has_media(std::int32_t enclosure, std::int32_t first) const {
    if (!given_.is_floating(first)) return false;
    for (std::size_t i = 0; i < panels_.size(); ++i)
      if (enclosures_.of[i] == enclosure && given_.ahead[i] != given_.ahead[first]) return true;
    return false;
  }

  /// [chambers]: how often their walls wind round a point.
  std::vector<double> windings(Vec3d x) const {
    std::vector<double> result(chambers_.size(), 0.0);
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      const double angle = triangle_double_layer(whole_.triangle(chosen_[k]), x);
      result[found_.of[k][0]] -= angle;
      result[found_.of[k][1]] += angle;
    }
    return result;
  }

  void set_walls(TouchingChambers<T>& result) const {
    result.wall_of.assign(panels_.size(), -1);
    std::map<std::tuple<int, int, int, bool, double, double>, std::int32_t> number;
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      const std::int32_t i = images_.source(chosen_[k]);
      if (images_.itself(i) != chosen_[k] || given_.is_floating(i) || given_.is_unfixed(i))
        continue;
      const auto known = [&](std::int32_t c) { return result.chambers[c].is_known ? c : -1; };
      const std::int32_t behind = known(found_.of[k][0]), ahead = known(found_.of[k][1]);
      const auto [at, is_new] =
          number.emplace(std::tuple(part_[i], behind, ahead, given_.has_admittance(i),
                                    std::real(beta_[i]), std::imag(beta_[i])),
                         static_cast<std::int32_t>(result.walls.size()));
      if (is_new)
        result.walls.push_back({part_[i], complex_[k], behind, ahead, given_.gives_flux(i),
                                given_.has_admittance(i), given_.behind[i], given_.ahead[i],
                                beta_[i], 0});
      result.wall_of[i] = at->second;
      result.walls[at->second].area += panels_.area(i);
    }
  }

  void set_surroundings(TouchingChambers<T>& result) const {
    std::map<std::int32_t, char> is_clear;
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      const std::int32_t i = images_.source(chosen_[k]);
      char& clear = is_clear.try_emplace(complex_[k], true).first->second;
      clear = clear && given_.is_interface(i) && !images_.is_opposite(chosen_[k]) &&
              !images_.lies_in_plane(i);
      for (int side = 0; side < 2; ++side) {
        const std::int32_t c = found_.of[k][side];
        if (result.chambers[c].is_known) continue;
        const T epsilon = side == 0 ? given_.behind[i] : given_.ahead[i];
        const T around = result.surroundings.try_emplace(complex_[k], epsilon).first->second;
        clear = clear && is_outside_[c] && around == epsilon;
      }
    }
    for (const auto& [complex, clear] : is_clear)
      if (!clear) result.surroundings.erase(complex);
  }

  const Panels& panels_;
  const Panels& whole_;
  const Enclosures& enclosures_;
  const BasicPanelConditions<T>& given_;
  std::span<const T> beta_;
  std::span<const std::int32_t> part_;
  PanelNumbers images_;
  std::vector<std::int32_t> chosen_, complex_;  ///< panels of the whole, and what hangs together
  Chambers found_;
  std::vector<TouchingChamber> chambers_;
  std::vector<char> is_outside_;  ///< [chambers]: of those that are not known
  std::vector<CoordinateBounds> bounds_;
};

}  // namespace

template <class T>
TouchingChambers<T> find_touching_chambers(const Panels& panels, const Enclosures& enclosures,
                                           const BasicPanelConditions<T>& conditions,
                                           std::span<const T> beta,
                                           std::span<const std::int32_t> part) {
  return Finder<T>(panels, enclosures, conditions, beta, part).find();
}

template TouchingChambers<double> find_touching_chambers(const Panels&, const Enclosures&,
                                                         const PanelConditions&,
                                                         std::span<const double>,
                                                         std::span<const std::int32_t>);
template TouchingChambers<std::complex<double>> find_touching_chambers(
    const Panels&, const Enclosures&, const LossyConditions&, std::span<const std::complex<double>>,
    std::span<const std::int32_t>);

}  // namespace fmbem
