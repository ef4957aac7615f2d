#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// What forces act on as one.
struct Body {
  std::string name;
  std::optional<Vec3d> about{};  ///< of the torque, in the mesh's coordinates; else its centroid
};

/// Panels as forces need them, all [n panels] in the order of Panels.
struct BodyPanels {
  const Panels& panels;
  std::span<const int> body_of;           ///< −1 of those that no body consists of
  std::span<const char> is_interface;     ///< between dielectrics, else of a conductor
  std::span<const double> behind, ahead;  ///< relative permittivities, 0 in metal
};

/// Where a closed body ends: its panels, and on which of their sides what is around it lies.
struct BodyBorder {
  std::vector<std::int32_t> panels;
  bool ahead = true;
};

/// What a body is, beside the panels that it consists of.
///
/// What lies in the material of a dielectric body moves with it and belongs to it: panels and
/// charges with an odd number of its closed interfaces around them. (In a conductor's cavity things
/// are on their own.) Where its closed surfaces have an odd number of others of their kind around
/// them, they are those of cavities, and what is around the body lies behind them. Conductors in
/// its own material are not on its border.
struct BodyExtent {
  std::vector<std::int32_t> panels;   ///< ascending: all that belong to it
  std::vector<std::int32_t> charges;  ///< of the places that were given
  std::vector<BodyBorder> borders;    ///< closed parts, of shells both sides; none if one is open
  double permittivity = 1;            ///< relative, of the medium around it
  Vec3d centroid;                     ///< of its own panels' areas, in the mesh's coordinates
};

/// [bodies]. Throws InputError for a body without panels and one that borders on several media,
/// around which no stress is defined. O(n) and, for each closed interface, its panels times the
/// parts and charges within its bounds.
std::vector<BodyExtent> find_bodies(const BodyPanels& panels, std::span<const Body> bodies,
                                    std::span<const Vec3d> charges);

}  // namespace fmbem
