#include "fmbem/meshes/write_vtu.hpp"

#include <cstdint>

#include "fmbem/meshes/vtu_writer.hpp"

namespace fmbem {

bool write_vtu(const std::string& path, const SurfaceMesh& mesh,
               const std::vector<PanelField>& fields) {
  std::vector<std::int64_t> connectivity;
  for (const auto& corners : mesh.triangles)
    connectivity.insert(connectivity.end(), corners.begin(), corners.end());
  const std::vector<std::int64_t> element_tags(mesh.triangle_tags.begin(),
                                               mesh.triangle_tags.end()),
      vertex_tags(mesh.vertex_tags.begin(), mesh.vertex_tags.end());
  const std::vector<std::int32_t> groups(mesh.group_of.begin(), mesh.group_of.end());
  constexpr std::uint8_t vtk_triangle = 5;
  std::vector<std::string> group_names;
  for (const Group& group : mesh.groups) group_names.push_back(group.name);

  VtuWriter vtu(path);
  vtu.text() << "<FieldData>\n";
  vtu.strings("group_names", group_names);
  vtu.text() << "</FieldData>\n";
  vtu.begin_piece(mesh.vertices, connectivity, 3, vtk_triangle);
  vtu.text() << "<PointData>\n";
  vtu.array("Int64", "vertex_tag", vertex_tags);
  vtu.text() << "</PointData>\n<CellData"
             << (fields.empty() ? "" : " Scalars=\"" + xml_escaped(fields[0].name) + "\"") << ">\n";
  for (const PanelField& field : fields) vtu.array("Float64", field.name, field.values);
  vtu.array("Int32", "group", groups);
  vtu.array("Int64", "element_tag", element_tags);
  vtu.text() << "</CellData>\n";
  return vtu.finish();
}

}  // namespace fmbem
