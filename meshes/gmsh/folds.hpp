#pragma once

#include "fmbem/meshes/gmsh/read_gmsh.hpp"

namespace fmbem {

/// Drops pairs of triangles of one surface that have the same corners and opposite orientations,
/// and adds a notice. They enclose nothing: without them the surface is as closed as it was. Gmsh
/// makes them at the tip of a slender cone, around which fewer than three triangles find room.
void drop_folds(ModelMesh& model);

}  // namespace fmbem
