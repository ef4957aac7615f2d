#pragma once

#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// The mesh with every triangle split into four, `times` times; children follow each other in the
/// order of their parents, tags are numbered afresh from 1. Throws InputError for times out of
/// 0 to 12 and for more triangles than can be numbered.
SurfaceMesh refine_uniformly(const SurfaceMesh& mesh, int times = 1);

}  // namespace fmbem
