#include "fmbem/problems/solvation/solute_regions.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include "fmbem/bem/geometry/enclosures.hpp"
#include "fmbem/fmm/base/chunks.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/enclosed_points.hpp"
#include "fmbem/problems/solvation/close_charges.hpp"

namespace fmbem {
namespace {

using SoluteKind = SoluteRegion::Kind;
/// Of each surface.
using PanelLists = GroupOrder;

/// Triangulations of neighbouring surfaces, as of a cavity behind a thin wall, may cross a little:
/// by so much of the smaller one's area at the most.
constexpr double most_across = 0.1;

void refuse_open_surfaces(const std::vector<std::string>& names, const Panels& panels,
                          const Enclosures& surfaces) {
  for (std::size_t s = 0; s < surfaces.parts.size(); ++s)
    FMBEM_REQUIRE(surfaces.parts[s].closed && surfaces.parts[s].volume > 0,
                  "the surface " << names[s] << " at "
                                 << place(panels.centroid(surfaces.parts[s].first) + panels.origin)
                                 << " is not closed: each edge must have two triangles, whose "
                                    "normals point outward; fmbem mesh-info tells what is open");
}

/// Meshes that know that they are closed are not searched once more.
Enclosures surfaces_of(const SurfaceMesh& mesh, const Panels& panels) {
  const bool is_closed = mesh.closed && mesh.orientable;
  LargeVector<int> class_of(panels.size());
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < panels.size(); ++i)
    class_of[i] = is_closed ? mesh.group_of[panels.input_index[i]] : 0;
  return is_closed ? enclosures_of_classes(panels, class_of) : find_enclosures(panels, class_of);
}

/// The part of a surface's area that is inside of a closed one, from a thousand panels at the most.
double share_inside(const Panels& panels, std::span<const std::int32_t> surface,
                    std::span<const std::int32_t> body) {
  const std::size_t step = std::max<std::size_t>(surface.size() / 1000, 1);
  std::vector<Vec3d> points;
  for (std::size_t at = 0; at < surface.size(); at += step)
    points.push_back(panels.centroid(surface[at]));
  const std::vector<char> is_inside = enclosed_points(panels, body, points);
  double inside = 0, all = 0;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const double area = panels.area(surface[k * step]);
    all += area;
    if (is_inside[k]) inside += area;
  }
  return inside / all;
}

/// Which surface lies in which. Refuses those that touch, or cross by more than a little, and tells
/// of the others that cross.
class Nesting {
 public:
  Nesting(const SurfaceMesh& mesh, const Panels& panels, const Enclosures& surfaces,
          const PanelLists& panels_of, SoluteRegions& result)
      : mesh_(mesh), panels_(panels), surfaces_(surfaces), panels_of_(panels_of), result_(result) {
    const std::size_t n = surfaces.parts.size();
    for (std::size_t body = 0; body < n; ++body)
      inside_.push_back(
          parts_inside(panels, surfaces, static_cast<std::int32_t>(body), panels_of_[body]));
    std::vector<int> surface_of(mesh.groups.size());
    for (std::size_t s = 0; s < n; ++s) surface_of[group_of(s)] = static_cast<int>(s);
    for (const Contact& contact : *mesh.contacts)
      if (contact.a != contact.b)
        settle(contact, surface_of[contact.a], surface_of[contact.b]);
      else
        result.notices.push_back("the surface " + result.surfaces[surface_of[contact.a]] +
                                 " crosses itself at " + place(contact.place) +
                                 ": energies are less accurate for it");
  }

  /// [surfaces]: the innermost surface around each, −1 for none.
  std::vector<int> parents() const {
    std::vector<int> parent(inside_.size(), -1);
    for (std::size_t body = 0; body < parent.size(); ++body)
      for (std::size_t s = 0; s < parent.size(); ++s)
        if (inside_[body][s].value_or(false) && (parent[s] < 0 || volume(body) < volume(parent[s])))
          parent[s] = static_cast<int>(body);
    return parent;
  }

 private:
  int group_of(std::size_t surface) const {
    return mesh_.group_of[panels_.input_index[surfaces_.parts[surface].first]];
  }
  double volume(std::size_t surface) const { return surfaces_.parts[surface].volume; }
  double area(std::size_t surface) const {
    double sum = 0;
    for (const std::int32_t i : panels_of_[surface]) sum += panels_.area(i);
    return sum;
  }

  void settle(const Contact& contact, int a, int b) {
    const auto [small, large] = volume(a) < volume(b) ? std::pair(a, b) : std::pair(b, a);
    const std::string both = "the surfaces " + result_.surfaces[large] + " and " +
                             result_.surfaces[small] +
                             (contact.cross ? " cross at " : " touch at ") + place(contact.place);
    FMBEM_REQUIRE(contact.cross, both << ": surfaces must lie in each other or apart");
    const double within = share_inside(panels_, panels_of_[small], panels_of_[large]);
    const double of_large =
        share_inside(panels_, panels_of_[large], panels_of_[small]) * area(large) / area(small);
    const double across = std::max(std::min(within, 1 - within), of_large);
    std::ostringstream share;
    share << std::setprecision(2) << 100 * across << " % of the area of "
          << result_.surfaces[small];
    FMBEM_REQUIRE(across <= most_across,
                  both << ", by " << share.str() << ": surfaces must lie in each other or apart");
    inside_[large][small] = within > 0.5;
    inside_[small][large] = false;
    result_.notices.push_back(both + ", by " + share.str() + ": energies are less accurate for it");
  }

  const SurfaceMesh& mesh_;
  const Panels& panels_;
  const Enclosures& surfaces_;
  const PanelLists& panels_of_;
  SoluteRegions& result_;
  std::vector<std::vector<std::optional<bool>>> inside_;  // [surfaces][of these]
};

/// [points]: the innermost surface around each, −1 for none.
std::vector<int> surfaces_around(const Panels& panels, const Enclosures& surfaces,
                                 const PanelLists& panels_of, std::span<const Vec3d> points) {
  const auto n = static_cast<std::int64_t>(points.size());
  std::vector<int> result(points.size(), -1);
  for (std::size_t s = 0; s < surfaces.parts.size(); ++s) {
    const Enclosure& part = surfaces.parts[s];
    const std::vector<std::int32_t> close = numbers_where(n, [&](std::int64_t i) {
      const int innermost = result[i];
      return (innermost < 0 || surfaces.parts[innermost].volume > part.volume) &&
             part.bounds.contains(points[i] - panels.origin);
    });
    std::vector<Vec3d> places;
    for (const std::int32_t i : close) places.push_back(points[i] - panels.origin);
    const std::vector<char> is_inside = enclosed_points(panels, panels_of[s], places);
    for (std::size_t k = 0; k < close.size(); ++k)
      if (is_inside[k]) result[close[k]] = static_cast<int>(s);
  }
  return result;
}

/// What the regions are, from outside in; they are numbered by the surface around them, plus 1.
class Kinds {
 public:
  Kinds(SoluteRegions& found, const Molecule& molecule) : found_(found), molecule_(molecule) {
    for (const int surface : found_.regions[0].inner) set(surface, 0, SoluteKind::solvent);
  }

 private:
  /// The kind of what a surface encloses; `around` is the region around it, and `beyond` the kind
  /// of what is around that.
  void set(int surface, int around, SoluteKind beyond) {
    SoluteRegion& region = found_.regions[surface + 1];
    const SoluteKind outside = found_.regions[around].kind;
    const bool holds_solute = std::any_of(region.inner.begin(), region.inner.end(), [&](int s) {
      return !found_.regions[s + 1].atoms.empty();
    });
    if (!region.atoms.empty()) {
      refuse_atoms_on_both_sides(surface, around);
      region.kind = SoluteKind::solute;
    } else if (outside == SoluteKind::solute) {
      const bool has_layer = !region.inner.empty() && !holds_solute;
      region.kind = has_layer ? SoluteKind::solvent_no_ions : SoluteKind::solvent;
    } else if (outside == SoluteKind::solvent) {
      FMBEM_REQUIRE(holds_solute, "there is no atom inside of the surface "
                                      << found_.surfaces[surface]
                                      << ": leave it out, or give the molecule's own");
      region.kind = SoluteKind::solvent_no_ions;
    } else {
      FMBEM_REQUIRE(beyond == SoluteKind::solute && !holds_solute,
                    "the surface " << found_.surfaces[surface]
                                   << " has no atom on either side and lies in a layer without "
                                      "ions: leave it out");
      region.kind = SoluteKind::solvent;
    }
    for (const int inner : region.inner) set(inner, surface + 1, outside);
  }

  void refuse_atoms_on_both_sides(int surface, int around) const {
    const std::vector<std::int32_t>& outer = found_.regions[around].atoms;
    if (outer.empty()) return;
    const Atom& in = molecule_.atoms[found_.regions[surface + 1].atoms[0]];
    const Atom& out = molecule_.atoms[outer[0]];
    throw InputError("the surface " + found_.surfaces[surface] +
                     " has atoms on both of its sides, such as " + in.title() + " (line " +
                     std::to_string(in.line) + ") in it and " + out.title() + " (line " +
                     std::to_string(out.line) + ") around it: a cavity holds none");
  }

  SoluteRegions& found_;
  const Molecule& molecule_;
};

/// Regions with their surfaces and panels, and the regions on both sides of panels.
void set_regions(const Enclosures& surfaces, const PanelLists& panels_of,
                 const std::vector<int>& parent, SoluteRegions& result) {
  result.regions.resize(parent.size() + 1);
  const auto add = [&](SoluteRegion& region, std::size_t surface) {
    LargeVector<std::int32_t>& all = region.panels;
    if (all.empty()) {
      all = copied(panels_of[surface]);
      return;
    }
    const auto before = static_cast<std::ptrdiff_t>(all.size());
    all.insert(all.end(), panels_of[surface].begin(), panels_of[surface].end());
    std::inplace_merge(all.begin(), all.begin() + before, all.end());
  };
  for (std::size_t s = 0; s < parent.size(); ++s) {
    SoluteRegion &inside = result.regions[s + 1], &outside = result.regions[parent[s] + 1];
    inside.outer = static_cast<int>(s);
    outside.inner.push_back(static_cast<int>(s));
    add(inside, s);
    add(outside, s);
  }
  const std::size_t n = surfaces.of.size();
  result.inside.resize(n);
  result.outside.resize(n);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    result.inside[i] = surfaces.of[i] + 1;
    result.outside[i] = parent[surfaces.of[i]] + 1;
  }
}

void refuse_atoms_outside(const Molecule& molecule, const std::vector<std::int32_t>& atoms) {
  if (atoms.empty()) return;
  const Atom& atom = molecule.atoms[atoms[0]];
  throw InputError(
      molecule.file + ", line " + std::to_string(atom.line) + ": the atom " + atom.title() +
      " at " + place(atom.place) + " is outside of all surfaces" +
      (atoms.size() == 1 ? "" : ", as are " + std::to_string(atoms.size() - 1) + " of the others") +
      ": surfaces and atoms must be of one molecule, in angstrom");
}

}  // namespace

SoluteRegions find_solute_regions(const SurfaceMesh& mesh, const Panels& panels,
                                  const Molecule& molecule) {
  const Enclosures surfaces = surfaces_of(mesh, panels);
  SoluteRegions result;
  for (const Enclosure& part : surfaces.parts)
    result.surfaces.push_back(
        mesh.groups[mesh.group_of[static_cast<std::size_t>(panels.input_index[part.first])]].name);
  refuse_open_surfaces(result.surfaces, panels, surfaces);

  const PanelLists panels_of = panels_of_parts(surfaces);
  const std::vector<int> parent = Nesting(mesh, panels, surfaces, panels_of, result).parents();
  set_regions(surfaces, panels_of, parent, result);
  std::vector<Vec3d> places;
  for (const Atom& atom : molecule.atoms) places.push_back(atom.place);
  const std::vector<int> surface_of = surfaces_around(panels, surfaces, panels_of, places);
  for (std::size_t a = 0; a < surface_of.size(); ++a)
    result.regions[surface_of[a] + 1].atoms.push_back(static_cast<std::int32_t>(a));
  refuse_atoms_outside(molecule, result.regions[0].atoms);
  Kinds(result, molecule);
  for (std::string& sentence : notices_of_close_charges(panels, molecule))
    result.notices.push_back(std::move(sentence));
  return result;
}

std::vector<int> regions_of_points(const Panels& panels, const SoluteRegions& regions,
                                   std::span<const Vec3d> points) {
  const Enclosures surfaces = find_enclosures(panels, std::vector<int>(panels.size(), 0));
  FMBEM_REQUIRE(surfaces.parts.size() + 1 == regions.regions.size(),
                "these regions are not those of these panels");
  for (const Vec3d& x : points)
    FMBEM_REQUIRE(std::isfinite(norm2(x)), "the point " << place(x) << " is not finite");
  std::vector<int> result = surfaces_around(panels, surfaces, panels_of_parts(surfaces), points);
  for (int& region : result) ++region;
  return result;
}

}  // namespace fmbem
