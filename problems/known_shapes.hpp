#pragma once

#include <array>
#include <string>
#include <vector>

#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

inline constexpr Vec3d along_x{1, 0, 0}, along_y{0, 1, 0}, along_z{0, 0, 1};

/// What meshes of known problems are put together from: triangles go to the last group.
void add_group(SurfaceMesh& mesh, const std::string& name);
/// Corners that other triangles have are theirs, too: refinement keeps what is shared.
void add_triangle(SurfaceMesh& mesh, std::array<Vec3d, 3> corners);
/// A parallelogram of two triangles, its normal along u × v.
void add_square(SurfaceMesh& mesh, Vec3d corner, Vec3d u, Vec3d v);
/// The square of a unit cube at whole coordinates, its normal outward: at the low end of an axis
/// (`step` −1) or at the high one (1).
void add_face(SurfaceMesh& mesh, const std::array<int, 3>& cube, int axis, int step);
/// Unit balls' surfaces of 8·4^times triangles each, every one a group; vertices are on the
/// spheres.
SurfaceMesh unit_spheres(const std::vector<Vec3d>& centres, int times);

}  // namespace fmbem
