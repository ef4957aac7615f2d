#pragma once

#include <string>
#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/problems/units.hpp"

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

struct PointDipole {
  Vec3d place;              ///< in the mesh's coordinates
  Vec3d moment;             ///< C m
  double permittivity = 1;  ///< relative, of the medium that it lies in
};

/// A straight line with a charge that is spread evenly.
struct LineCharge {
  Vec3d from, to;           ///< in the mesh's coordinates
  double charge = 0;        ///< C, of all the line
  double permittivity = 1;  ///< relative, of the medium that it lies in
};

/// What there is without the surfaces: a uniform field and sources, those in their medium alone.
/// With conductivities for permittivities (`unit` is 1) charges are currents, A.
struct AppliedField {
  Vec3d uniform{};  ///< V/m
  Vec3d zero{};     ///< where the potential of the uniform field is 0, in the mesh's coordinates
  std::vector<PointCharge> charges{};
  std::vector<PointDipole> dipoles{};
  std::vector<LineCharge> lines{};
  double unit = epsilon_0;  ///< what a relative permittivity of 1 is, F/m

  bool empty() const {
    return charges.empty() && dipoles.empty() && lines.empty() && norm2(uniform) == 0;
  }
  /// φ in V and E in V/m at x, in the mesh's coordinates:
  /// φ = −E·(x − zero) + Σ q/(4πε |x − p|) + Σ m·(x − p)/(4πε |x − p|³)
  ///     + Σ q/(4πεl) ln((r₁ + r₂ + l)/(r₁ + r₂ − l)), r₁ and r₂ from a line's ends, l its length.
  double potential(Vec3d x, double scale_to_m) const;
  Vec3d field(Vec3d x, double scale_to_m) const;

  /// ∂ₙφ, V per unit of length, its mean over the panel, which lies at `origin`. Those of charges
  /// and dipoles are exact, by the solid angle and its gradient, so that Gauss's law holds on
  /// closed surfaces; a line's by a rule of degree 2.
  double mean_flux(const Triangle& panel, Vec3d origin, double scale_to_m) const;
};

}  // namespace fmbem
