#pragma once

#include <array>
#include <optional>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

using Corners = std::array<Vec3d, 3>;

/// Whether the plane of one triangle has all of the other one on one side, more than `reach` away:
/// a cheap way to know that they are farther apart than that.
bool separated(const Corners& a, const Corners& b, double reach);

/// A point where an edge of one triangle runs through the inside of the other one, more than
/// `depth` away from the ends of that edge (measured across the other's plane) and from the other's
/// edges; nothing if there is none. Triangles that only touch, or lie in one plane, do not cross.
std::optional<Vec3d> crossing(const Corners& a, const Corners& b, double depth);

struct ClosestPoints {
  double distance;
  Vec3d place;  ///< between the closest points
};

/// The distance of two triangles that do not cross: the least one between a corner of one and the
/// inside of the other, and between edges. Exact to some 1e-15 of the corners' differences.
ClosestPoints gap(const Corners& a, const Corners& b);

/// The distance of a segment, whose ends differ, to a triangle; 0 where it runs through it.
double segment_to_triangle(Vec3d from, Vec3d to, const Corners& t);

}  // namespace fmbem
