#pragma once

#include <string>
#include <vector>

#include "fmbem/meshes/gmsh/gmsh_session.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/meshes/size_limits.hpp"

namespace fmbem {

/// Meshes the surfaces of Gmsh's current model, which holds geometry and no mesh; and meshes again
/// where the first mesh shows that conductors, their faces or gaps between them need smaller sizes.
/// Gives what limits sizes; adds notices. Throws InputError if there is nothing to mesh, if Gmsh
/// fails, or if the mesh would have more than 50 million triangles once it is refined.
SizeLimits mesh_geometry(GmshSession& gmsh, const std::string& file, const LoadOptions& options,
                         std::vector<std::string>& notices);

}  // namespace fmbem
