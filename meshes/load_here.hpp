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

/// read_cell_data() in the process of the caller.
std::vector<double> read_cell_data_here(const std::string& file, const std::string& array);

/// read_element_data() in the process of the caller.
std::vector<ElementData> read_element_data_here(const std::string& file);

/// gmsh_version() in the process of the caller.
std::string gmsh_version_here();

}  // namespace fmbem
