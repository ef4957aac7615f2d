#pragma once

#include "fmbem/meshes/write_vtu.hpp"

namespace fmbem {

/// Gmsh's MSH 4.1 with the groups as physical surfaces and one view for each field, in the process
/// of the caller. Views of fields at vertices have ", at vertices" behind their names. In names of
/// groups and views ' stands for ", and a space for what ends a line; names are cut where MSH has
/// no longer ones, and numbered where they are the same then. Errors name the file as `shown`.
/// Returns whether all of it was written.
bool write_msh_here(const std::string& path, const std::string& shown, const SurfaceMesh& mesh,
                    const std::vector<PanelField>& fields,
                    const std::vector<VertexField>& at_vertices);

}  // namespace fmbem
