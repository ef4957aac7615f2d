#pragma once

#include "fmbem/meshes/gmsh/read_gmsh.hpp"

namespace fmbem {

/// Drops pairs of triangles of one surface that have the same corners and opposite orientations,
/// and adds a notice. They enclose nothing, so the surface is as closed without them. Gmsh makes
/// them at the tip of a slender cone, around which there is no room for three triangles.
void drop_folds(ModelMesh& model);

}  // namespace fmbem
