#include "fmbem/problems/bodies.hpp"

#include <algorithm>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/enclosures.hpp"

namespace fmbem {
namespace {

/// Closed surfaces, and what is inside.
class Nesting {
 public:
  Nesting(const BodyPanels& given, std::span<const Vec3d> charges)
      : given_(given), charges_(charges) {
    std::vector<int> class_of;
    class_of.reserve(given.body_of.size());
    for (std::size_t i = 0; i < given.body_of.size(); ++i)
      class_of.push_back(2 * given.body_of[i] + given.is_interface[i]);
    enclosures_ = find_enclosures(given.panels, class_of);
    panels_of_.resize(enclosures_.parts.size());
    for (std::size_t i = 0; i < enclosures_.of.size(); ++i)
      panels_of_[enclosures_.of[i]].push_back(static_cast<std::int32_t>(i));
  }

  std::size_t parts() const { return enclosures_.parts.size(); }
  std::span<const std::int32_t> panels_of(std::size_t part) const { return panels_of_[part]; }
  bool is_closed(std::size_t part) const { return enclosures_.parts[part].closed; }
  int body_of(std::size_t part) const { return given_.body_of[enclosures_.parts[part].first]; }
  bool is_interface(std::size_t part) const {
    return given_.is_interface[enclosures_.parts[part].first] != 0;
  }

  /// Whether an odd number of a body's closed parts of a kind are around it.
  bool is_inside(std::size_t part, int body, bool of_interfaces) const {
    return is_inside(given_.panels.centroid(enclosures_.parts[part].first), part, body,
                     of_interfaces);
  }
  bool charge_is_inside(std::size_t charge, int body) const {
    return is_inside(charges_[charge] - given_.panels.origin, parts(), body, true);
  }

 private:
  bool is_inside(Vec3d x, std::size_t but, int body, bool of_interfaces) const {
    bool odd = false;
    for (std::size_t p = 0; p < parts(); ++p) {
      const Enclosure& around = enclosures_.parts[p];
      if (p == but || body_of(p) != body || is_interface(p) != of_interfaces || !around.closed)
        continue;
      bool within = true;
      for (int axis = 0; axis < 3; ++axis)
        within = within && x[axis] >= around.low[axis] && x[axis] <= around.high[axis];
      if (within && winding_number(given_.panels, panels_of_[p], x) > 0.5) odd = !odd;
    }
    return odd;
  }

  const BodyPanels& given_;
  std::span<const Vec3d> charges_;
  Enclosures enclosures_;
  std::vector<std::vector<std::int32_t>> panels_of_;  ///< [parts]
};

/// The media beside a body's border, from the least to the most.
struct MediaAround {
  double least = 0, most = 0;
  void add(double permittivity) {
    if (most == 0) least = most = permittivity;
    least = std::min(least, permittivity);
    most = std::max(most, permittivity);
  }
};

BodyExtent extent_of(const BodyPanels& given, const Nesting& nesting, const Body& body, int b,
                     std::size_t charges) {
  BodyExtent extent;
  std::vector<char> belongs(given.panels.size(), 0);
  bool is_open = false;
  MediaAround media;
  double area = 0;
  for (std::size_t p = 0; p < nesting.parts(); ++p) {
    const bool own = nesting.body_of(p) == b, buried = nesting.is_inside(p, b, true);
    if (!own && !buried) continue;
    for (const std::int32_t i : nesting.panels_of(p)) belongs[i] = 1;
    if (!own) continue;
    for (const std::int32_t i : nesting.panels_of(p)) {
      const Triangle t = given.panels.triangle(i);
      extent.centroid += t.area * t.centroid;
      area += t.area;
    }
    if (buried && !nesting.is_interface(p)) continue;
    const bool closed = nesting.is_closed(p),
               ahead = !nesting.is_inside(p, b, nesting.is_interface(p));
    is_open = is_open || !closed;
    for (const std::int32_t i : nesting.panels_of(p)) {
      if (!closed || ahead) media.add(given.ahead[i]);
      if (!closed || !ahead) media.add(given.behind[i]);
    }
    if (closed)
      extent.borders.push_back({{nesting.panels_of(p).begin(), nesting.panels_of(p).end()}, ahead});
  }
  FMBEM_REQUIRE(area > 0, "the body \"" << body.name << "\" has no panels");
  FMBEM_REQUIRE(media.least == media.most,
                "the body \"" << body.name << "\" borders on media of relative permittivities "
                              << media.least << " to " << media.most
                              << ", so that no force on it is defined: join it with what it "
                                 "touches, or leave it out");
  if (is_open) extent.borders.clear();
  extent.permittivity = media.most;
  extent.centroid = extent.centroid / area + given.panels.origin;
  for (std::size_t i = 0; i < belongs.size(); ++i)
    (belongs[i] ? extent.panels : extent.others).push_back(static_cast<std::int32_t>(i));
  for (std::size_t k = 0; k < charges; ++k)
    if (nesting.charge_is_inside(k, b)) extent.charges.push_back(static_cast<std::int32_t>(k));
  return extent;
}

}  // namespace

std::vector<BodyExtent> find_bodies(const BodyPanels& panels, std::span<const Body> bodies,
                                    std::span<const Vec3d> charges) {
  const Nesting nesting(panels, charges);
  std::vector<BodyExtent> extents;
  for (std::size_t b = 0; b < bodies.size(); ++b)
    extents.push_back(extent_of(panels, nesting, bodies[b], static_cast<int>(b), charges.size()));
  return extents;
}

}  // namespace fmbem
