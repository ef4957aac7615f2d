#pragma once

#include <string>
#include <vector>

#include "fmbem/meshes/write.hpp"

namespace fmbem {

/// VTK XML unstructured grid. Cell data: the fields, `group` and `element_tag`; point data:
/// `vertex_tag`; field data: `group_names`. Returns whether all of it was written.
bool write_vtu(const std::string& path, const SurfaceMesh& mesh,
               const std::vector<PanelField>& fields);

/// Gmsh's MSH 4.1 with the groups as physical surfaces and one view for each field.
/// Returns whether all of it was written.
bool write_msh(const std::string& path, const SurfaceMesh& mesh,
               const std::vector<PanelField>& fields);

}  // namespace fmbem
