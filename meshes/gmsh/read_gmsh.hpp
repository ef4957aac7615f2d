#pragma once

#include <string>
#include <vector>

#include "fmbem/meshes/gmsh/gmsh_session.hpp"
#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

struct ModelMesh {
  SurfaceMesh mesh;
  std::vector<int> surface_of;  ///< [n triangles], tag of the surface of Gmsh's model
};

/// The surface elements of Gmsh's current model, by ascending element tag, as they are: vertices
/// may be duplicate or unused, triangles degenerate. Quadrangles are split, elements of higher
/// order read by their corners, others counted; group_of is −1 throughout where there is no
/// physical surface. Throws InputError for a model without surface elements and for an element in
/// two groups.
ModelMesh read_model(GmshSession& gmsh, const std::string& file);

}  // namespace fmbem
