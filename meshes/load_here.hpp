#pragma once

#include <string>
#include <vector>

#include "fmbem/meshes/load.hpp"

namespace fmbem {

/// load_mesh_levels() in the caller's process, which a file that Gmsh or OpenCASCADE cannot cope
/// with may crash. For fmbem-reader, and not installed. Starts Gmsh if it is not running yet, and
/// then ends it again.
std::vector<SurfaceMesh> load_mesh_levels_here(const std::string& file, const LoadOptions& asked,
                                               int coarsest);

}  // namespace fmbem
