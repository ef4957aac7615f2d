#pragma once

#include <string>
#include <vector>

#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// One value per panel, in the order of the mesh's triangles.
struct PanelField {
  std::string name;  ///< with the unit, such as "charge density [C/m^2], conductor top at 1 V"
  std::vector<double> values;  ///< [n panels]
};

/// One value per vertex, in the order of the mesh's vertices.
struct VertexField {
  std::string name;            ///< with the unit
  std::vector<double> values;  ///< [n vertices]
};

/// VTK XML unstructured grid. Cell data: the fields, of which the first is the Scalars that viewers
/// show, `group` and `element_tag`; point data: the fields at vertices and `vertex_tag`; field
/// data: for each group an array of its name that holds its number in `group`. Returns whether all
/// of it was written.
bool write_vtu(const std::string& path, const SurfaceMesh& mesh,
               const std::vector<PanelField>& fields,
               const std::vector<VertexField>& at_vertices = {});

}  // namespace fmbem
