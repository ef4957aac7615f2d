#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panel_block.hpp"
#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/geometry/symmetry.hpp"

namespace fmbem {

/// Panels before symmetry planes, together with their images: what has σ on the panels has the
/// potential of `densities(σ)` on all. Images have the reflected normals. A panel that lies in a
/// mirror plane is its own image, and counts twice.
struct PanelImages {
  SymmetryPlanes planes;
  Panels whole;  ///< panels and images, in a Morton order of their own; shares vertices in planes
  // Of each of the N panels of the whole:
  std::vector<std::int32_t> source;  ///< the panel that it is the image of
  std::vector<double> sign;          ///< of its potential over that one's
  std::vector<double> charge;        ///< of its density over that one's: sign, times how often
  /// [n panels][reflections]: the images of each panel in the whole, itself first; −1 where one
  /// falls together with one before it.
  std::vector<std::int32_t> image;
  std::size_t reflections = 1;

  std::int32_t itself(std::size_t panel) const { return image[panel * reflections]; }
  bool lies_in_plane(std::size_t panel) const { return charge[itself(panel)] != 1; }

  /// Whether the panel shares a vertex with an image in the planes (bits) of a reflection's number.
  bool touches(std::size_t panel, std::size_t planes_of_reflection) const;
  /// Those of some panels in the whole, ascending; none of none.
  std::vector<std::int32_t> images_of(std::span<const std::int32_t> chosen) const;

  /// [N]: densities, or values that go with the potential, from those of the panels.
  std::vector<double> densities(std::span<const double> of_panels) const;
  std::vector<double> potentials(std::span<const double> of_panels) const;
  /// [N]: what images have unchanged.
  template <class T>
  std::vector<T> copies(std::span<const T> of_panels) const {
    std::vector<T> result;
    result.reserve(source.size());
    for (const std::int32_t panel : source) result.push_back(of_panels[panel]);
    return result;
  }
};

/// Panels of what lies before symmetry planes, as make_panels(), with their `images`; on the CPU.
/// Vertices closer to a plane than contact_gap times the mesh's extent are put into it. Throws
/// InputError for surfaces that cross a plane or lie on both sides of it, and for panels in a
/// grounded one.
Panels make_panels(const SurfaceMesh& mesh, const SymmetryPlanes& planes, int max_leaf = 64);

/// Numbers of panels before planes, and of those in the whole, also where there are no planes.
struct PanelNumbers {
  explicit PanelNumbers(const Panels& panels) : of(panels.images.get()) {}
  std::int32_t source(std::int32_t w) const { return of ? of->source[w] : w; }
  std::int32_t itself(std::int32_t i) const { return of ? of->itself(i) : i; }
  bool is_opposite(std::int32_t w) const { return of && of->sign[w] < 0; }
  bool lies_in_plane(std::int32_t i) const { return of && of->lies_in_plane(i); }
  const PanelImages* of;
};

/// The planes before which panels lie.
inline SymmetryPlanes planes_of(const Panels& panels) {
  return panels.images ? panels.images->planes : SymmetryPlanes{};
}

/// Panels with their images, or those that have none: what fields come from.
inline const Panels& whole_of(const Panels& panels) {
  return panels.images ? panels.images->whole : panels;
}

}  // namespace fmbem
