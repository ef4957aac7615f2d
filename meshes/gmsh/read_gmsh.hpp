#pragma once

#include <map>
#include <string>
#include <vector>

#include "fmbem/meshes/gmsh/gmsh_session.hpp"
#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

struct ModelMesh {
  SurfaceMesh mesh;
  std::vector<int> surface_of;    ///< [n triangles], tag of the surface of Gmsh's model
  std::map<int, int> solid_of{};  ///< by tags of surfaces: the volume that they bound, if any
};

/// The surface elements of Gmsh's current model, by ascending element tag, unchanged: vertices may
/// be duplicate or unused, triangles degenerate. Quadrangles are split, elements of higher order
/// are read by their corners, others are counted. group_of is −1 throughout where nothing has a
/// name (`owners.hpp`). Throws InputError for a model without surface elements and for an element
/// in two groups.
ModelMesh read_model(GmshSession& gmsh, const std::string& file);

/// Makes groups of the connected components of a mesh without groups, those of a solid's surfaces
/// one group.
void name_components(ModelMesh& model);

}  // namespace fmbem
