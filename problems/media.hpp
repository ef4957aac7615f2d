#pragma once

#include <string>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// Relative permittivities of what lies behind a group's panels and ahead of them, where their
/// normals point: inside and outside of a closed body.
struct Media {
  std::string group;
  double behind = 1, ahead = 1;
};

struct PointCharge {
  Vec3d place;              ///< in the mesh's coordinates
  double charge = 0;        ///< C
  double permittivity = 1;  ///< relative, of the medium that it lies in
};

/// What there is without the surfaces: a uniform field and point charges, those in their medium
/// alone.
struct AppliedField {
  Vec3d uniform{};  ///< V/m
  Vec3d zero{};     ///< where the potential of the uniform field is 0, in the mesh's coordinates
  std::vector<PointCharge> charges{};

  bool empty() const { return charges.empty() && norm2(uniform) == 0; }
  /// φ in V and E in V/m at x, in the mesh's coordinates:
  /// φ = −E·(x − zero) + Σ q/(4πε₀ε_r |x − p|).
  double potential(Vec3d x, double scale_to_m) const;
  Vec3d field(Vec3d x, double scale_to_m) const;
};

/// What is applied to panels before symmetry planes, with the images of its charges; a uniform
/// field is 0 V in a ground plane. Throws InputError for charges in a plane or behind it and for
/// uniform fields along a ground plane or across a mirror.
AppliedField with_images(const AppliedField& applied, const Panels& panels);

}  // namespace fmbem
