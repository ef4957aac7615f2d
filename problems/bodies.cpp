#include "fmbem/problems/bodies.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include "fmbem/bem/geometry/enclosures.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// Closed surfaces, and what is inside.
class Nesting {
 public:
  Nesting(const BodyPanels& given, std::size_t bodies, std::span<const Vec3d> charges)
      : given_(given), charges_(charges), parts_of_(bodies) {
    std::vector<int> class_of;
    class_of.reserve(given.body_of.size());
    for (std::size_t i = 0; i < given.body_of.size(); ++i)
      class_of.push_back(2 * given.body_of[i] + given.is_interface[i]);
    enclosures_ = find_enclosures(given.panels, class_of);
    panels_of_.resize(enclosures_.parts.size());
    for (std::size_t i = 0; i < enclosures_.of.size(); ++i)
      panels_of_[enclosures_.of[i]].push_back(static_cast<std::int32_t>(i));
    for (std::size_t p = 0; p < parts(); ++p) {
      const int body = given.body_of[enclosures_.parts[p].first];
      if (body >= 0) parts_of_[body].push_back(static_cast<std::int32_t>(p));
    }
  }

  std::size_t parts() const { return enclosures_.parts.size(); }
  std::span<const std::int32_t> parts_of(int body) const { return parts_of_[body]; }
  std::span<const std::int32_t> panels_of(std::size_t part) const { return panels_of_[part]; }
  bool is_closed(std::size_t part) const { return enclosures_.parts[part].closed; }
  bool is_interface(std::size_t part) const {
    return given_.is_interface[enclosures_.parts[part].first] != 0;
  }

  /// Whether an odd number of a body's other closed parts of a kind are around a part.
  bool is_inside(std::int32_t part, int body, bool of_interfaces) const {
    return is_inside(given_.panels.centroid(enclosures_.parts[part].first), part, body,
                     of_interfaces);
  }
  /// In the material of a dielectric body.
  bool charge_is_inside(std::size_t charge, int body) const {
    return is_inside(charges_[charge] - given_.panels.origin, -1, body, true);
  }

 private:
  bool is_inside(Vec3d x, std::int32_t but, int body, bool of_interfaces) const {
    bool odd = false;
    for (const std::int32_t p : parts_of_[body]) {
      const Enclosure& around = enclosures_.parts[p];
      if (p == but || is_interface(p) != of_interfaces || !around.closed) continue;
      if (around.bounds.contains(x) && winding_number(given_.panels, panels_of_[p], x) > 0.5)
        odd = !odd;
    }
    return odd;
  }

  const BodyPanels& given_;
  std::span<const Vec3d> charges_;
  Enclosures enclosures_;
  std::vector<std::vector<std::int32_t>> panels_of_, parts_of_;  ///< [parts], [bodies]
};

/// Media, from the least to the most.
struct MediaRange {
  double least = 0, most = 0;
  void add(double permittivity) {
    if (most == 0) least = most = permittivity;
    least = std::min(least, permittivity);
    most = std::max(most, permittivity);
  }
  bool is_one() const { return least == most; }
  std::string text() const {
    std::ostringstream out;
    out << least;
    if (!is_one()) out << " to " << most;
    return out.str();
  }
};

/// The media beside a body's border: all of them, and of these what is around the body, and what it
/// encloses without its being part of the body.
struct MediaAround {
  MediaRange all, outside, enclosed;
  bool encloses_by_interfaces = false;

  void add(double permittivity, bool is_enclosed) {
    all.add(permittivity);
    (is_enclosed ? enclosed : outside).add(permittivity);
  }
  /// No stress is defined around several media.
  void check(const std::string& body) const {
    if (all.is_one()) return;
    const bool encloses_another = outside.is_one() && outside.most > 0 && enclosed.most > 0;
    std::ostringstream sentence;
    sentence << "no force on the body \"" << body << "\" is defined, as it ";
    if (!encloses_another)
      sentence << "borders on media of relative permittivities " << all.text()
               << ": join it with what it touches, or leave it out";
    else
      sentence << "has a medium of relative permittivity " << outside.text()
               << " around it and encloses one of " << enclosed.text() << ": "
               << (encloses_by_interfaces ? "give it its outer surface alone, so that what is "
                                            "inside belongs to it, or leave it out"
                                          : "leave it out");
    throw InputError(sentence.str());
  }
};

/// Takes the body's own parts, and what is around them.
void add_own(const BodyPanels& given, const Nesting& nesting, const Body& body, int b,
             BodyExtent& extent) {
  bool is_open = false;
  MediaAround media;
  double area = 0;
  for (const std::int32_t p : nesting.parts_of(b)) {
    const std::span<const std::int32_t> panels = nesting.panels_of(p);
    for (const std::int32_t i : panels) {
      const Triangle t = given.panels.triangle(i);
      extent.centroid += t.area * t.centroid;
      area += t.area;
    }
    if (!nesting.is_interface(p) && nesting.is_inside(p, b, true)) continue;
    const bool closed = nesting.is_closed(p), is_interface = nesting.is_interface(p),
               ahead = !closed || !nesting.is_inside(p, b, is_interface);
    bool has_other = false;  // a shell that conducts has fields on its other side, too
    for (const std::int32_t i : panels) {
      const double around = ahead ? given.ahead[i] : given.behind[i],
                   other = ahead ? given.behind[i] : given.ahead[i];
      media.add(around, closed && !ahead);
      media.encloses_by_interfaces |= closed && !ahead && is_interface;
      if (other == 0 || (closed && (is_interface || around == 0))) continue;
      media.add(other, closed);
      has_other = true;
    }
    is_open = is_open || !closed;
    extent.borders.push_back({{panels.begin(), panels.end()}, ahead});
    if (has_other) extent.borders.push_back({{panels.begin(), panels.end()}, !ahead});
  }
  FMBEM_REQUIRE(area > 0, "the body \"" << body.name << "\" has no panels");
  media.check(body.name);
  if (is_open) extent.borders.clear();
  extent.permittivity = media.all.most;
  extent.centroid = extent.centroid / area + given.panels.origin;
}

/// Takes what lies in the body's material.
void add_enclosed(const Nesting& nesting, int b, std::size_t charges, BodyExtent& extent) {
  std::vector<std::int32_t> parts(nesting.parts_of(b).begin(), nesting.parts_of(b).end());
  const auto own = static_cast<std::ptrdiff_t>(parts.size());
  const bool is_dielectric = std::any_of(parts.begin(), parts.end(), [&](std::int32_t p) {
    return nesting.is_interface(p) && nesting.is_closed(p);
  });
  for (std::size_t p = 0; p < nesting.parts() && is_dielectric; ++p) {
    const auto part = static_cast<std::int32_t>(p);
    if (!std::binary_search(parts.begin(), parts.begin() + own, part) &&
        nesting.is_inside(part, b, true))
      parts.push_back(part);
  }
  for (const std::int32_t p : parts)
    extent.panels.insert(extent.panels.end(), nesting.panels_of(p).begin(),
                         nesting.panels_of(p).end());
  std::sort(extent.panels.begin(), extent.panels.end());
  for (std::size_t k = 0; k < charges && is_dielectric; ++k)
    if (nesting.charge_is_inside(k, b)) extent.charges.push_back(static_cast<std::int32_t>(k));
}

}  // namespace

std::vector<BodyExtent> find_bodies(const BodyPanels& panels, std::span<const Body> bodies,
                                    std::span<const Vec3d> charges) {
  const Nesting nesting(panels, bodies.size(), charges);
  std::vector<BodyExtent> extents(bodies.size());
  for (std::size_t k = 0; k < bodies.size(); ++k) {
    const int b = static_cast<int>(k);
    add_own(panels, nesting, bodies[k], b, extents[k]);
    add_enclosed(nesting, b, charges.size(), extents[k]);
  }
  return extents;
}

}  // namespace fmbem
