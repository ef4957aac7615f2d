#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// What potentials do at a plane: they are 0 on a grounded one, so that they are odd across it, and
/// have no normal derivative on a mirror, across which they are even.
enum class PlaneKind { ground, mirror };
const char* name(PlaneKind kind);

struct SymmetryPlane {
  PlaneKind kind = PlaneKind::ground;
  double offset = 0;  ///< coordinate along its axis, in the mesh's unit
};

/// A product of reflections in planes, and the sign of a charge's image.
struct Reflection {
  std::array<bool, 3> across{};  ///< x, y, z
  Vec3d offset{};
  double sign = 1;

  bool is_identity() const { return !across[0] && !across[1] && !across[2]; }
  bool turns_over() const { return (across[0] + across[1] + across[2]) % 2 == 1; }
  Vec3d point(Vec3d x) const {
    for (int axis = 0; axis < 3; ++axis)
      if (across[axis]) x[axis] = 2 * offset[axis] - x[axis];
    return x;
  }
  Vec3d vector(Vec3d v) const {
    for (int axis = 0; axis < 3; ++axis)
      if (across[axis]) v[axis] = -v[axis];
    return v;
  }
};

/// Planes x, y and z = offset; all surfaces are on one side of each. With k of them the potential
/// is that of 2^k images: φ(x) = Σ_m s_m ∫ G(x, R_m y) σ(y) dS_y, R_m the products of reflections
/// and s_m their signs.
struct SymmetryPlanes {
  std::array<std::optional<SymmetryPlane>, 3> at{};  ///< by axis

  bool empty() const { return !at[0] && !at[1] && !at[2]; }
  /// Axes that have a plane. Bit k of a reflection's number is the plane of axes()[k].
  std::vector<int> axes() const;
  /// All 2^k, the identity first. Throws InputError for offsets that are not finite.
  std::vector<Reflection> reflections() const;
};

}  // namespace fmbem
