#pragma once

#include <string>
#include <vector>

#include "fmbem/meshes/load.hpp"

namespace fmbem {

/// load_mesh_levels() in the process of the caller, whom a file may crash that Gmsh or OpenCASCADE
/// does not cope with: for fmbem-reader, and not installed. Starts Gmsh if it is not running yet,
/// and then ends it again.
std::vector<SurfaceMesh> load_mesh_levels_here(const std::string& file, const LoadOptions& asked,
                                               int coarsest);

/// read_cell_data() in the process of the caller.
std::vector<double> read_cell_data_here(const std::string& file, const std::string& array);

}  // namespace fmbem
