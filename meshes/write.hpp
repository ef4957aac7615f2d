#pragma once

#include <string>
#include <vector>

#include "fmbem/meshes/mesh.hpp"
#include "fmbem/meshes/write_vtu.hpp"

namespace fmbem {

/// Throws InputError if a mesh with fields cannot be written to this path: an ending other than
/// .vtu and .msh, or a folder that is missing or not writable. Leaves nothing behind.
void check_output_path(const std::string& path);

/// Writes the mesh with its fields of panels and at vertices as a .vtu (VTK XML unstructured grid,
/// with the cell data `group` and `element_tag` and the point data `vertex_tag`) or as a .msh (Gmsh
/// 4.1, with one post-processing view for each field), as the path's ending says. A field of panels
/// and one at vertices may have the same name: in a .msh, whose views are known by name alone, the
/// latter has ", at vertices" behind it. Coordinates stay in the file's unit; order and tags are
/// the mesh's. The file appears whole or not at all. Throws InputError for an unwritable path and
/// ResourceError when the disk is full.
void write_mesh(const std::string& path, const SurfaceMesh& mesh,
                const std::vector<PanelField>& fields,
                const std::vector<VertexField>& at_vertices = {});

}  // namespace fmbem
