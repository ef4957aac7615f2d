#pragma once

#include <array>
#include <vector>

#include "fmbem/meshes/mesh.hpp"
#include "fmbem/meshes/point_set.hpp"

namespace fmbem {

/// Where a mesh cuts the parallelogram of a corner and two edges: a segment for each triangle that
/// reaches through its plane, clipped at its edges. A triangle that lies in the plane has none; of
/// one that touches the plane from behind (the side that u × v points away from) the edge counts.
std::vector<std::array<Vec3d, 2>> outline_on_plane(const SurfaceMesh& mesh, Vec3d corner, Vec3d u,
                                                   Vec3d v);

/// The same on a plane of points.
std::vector<std::array<Vec3d, 2>> outline_on_plane(const SurfaceMesh& mesh, const PointSet& plane);

}  // namespace fmbem
