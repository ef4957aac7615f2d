#pragma once

#include "fmbem/bem/geometry/symmetry.hpp"
#include "fmbem/meshes/write_points.hpp"

namespace fmbem {

/// surroundings() of a mesh and of the ground planes before which it lies, as far as the points
/// reach.
Surroundings surroundings(const SurfaceMesh& mesh, const SymmetryPlanes& planes,
                          const PointSet& set);

}  // namespace fmbem
