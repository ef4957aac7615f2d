#pragma once

#include <vector>

#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/write_vtu.hpp"

namespace fmbem {

/// What fmbem-reader is asked for. It alone links Gmsh, OpenCASCADE, CGAL and VTK, so that no other
/// program loads them.
enum class ReaderTask { meshes, cell_data, element_data, write_msh, gmsh_version };

/// Has fmbem-reader write the mesh, as Gmsh's MSH 4.1 with the groups as physical surfaces and one
/// view for each field. Returns whether all of it was written; throws ResourceError where memory or
/// a limit of this process ends that.
bool write_msh(const OutputFile& file, const SurfaceMesh& mesh,
               const std::vector<PanelField>& fields, const std::vector<VertexField>& at_vertices);

}  // namespace fmbem
