#pragma once

#include <vector>

#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// One mesh of several in the same unit, one after the other, with a group for each connected
/// component: named after its file, and numbered where the file has several. Tags count from 1.
/// What was found out about them (closed, orientable, repairs, notices) holds for all together;
/// contacts are those of the whole. Throws InputError where there is none, or units differ.
SurfaceMesh join_meshes(const std::vector<SurfaceMesh>& meshes);

}  // namespace fmbem
