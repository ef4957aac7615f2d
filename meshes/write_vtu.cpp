#include "fmbem/meshes/write_vtu.hpp"

#include <cstdint>

#include "fmbem/meshes/vtu_writer.hpp"

namespace fmbem {

bool write_vtu(const std::string& path, const SurfaceMesh& mesh,
               const std::vector<PanelField>& fields, const std::vector<VertexField>& at_vertices) {
  const std::vector<std::int64_t> element_tags(mesh.triangle_tags.begin(),
                                               mesh.triangle_tags.end()),
      vertex_tags(mesh.vertex_tags.begin(), mesh.vertex_tags.end());
  std::vector<std::vector<std::int32_t>> group_numbers;
  for (std::size_t g = 0; g < mesh.groups.size(); ++g)
    group_numbers.push_back({static_cast<std::int32_t>(g)});
  constexpr std::uint8_t vtk_triangle = 5;
  const std::span<const char> triangles{reinterpret_cast<const char*>(mesh.triangles.data()),
                                        mesh.triangles.size() * sizeof mesh.triangles[0]};

  VtuGrid grid{.points = mesh.vertices,
               .connectivity = {"connectivity", vtk_type(std::int32_t{}), 1, triangles},
               .n_cells = mesh.triangles.size(),
               .corners = 3,
               .cell_type = vtk_triangle,
               .shows_cells = true};
  for (std::size_t g = 0; g < mesh.groups.size(); ++g)
    grid.field_data.push_back(vtk_array(mesh.groups[g].name, group_numbers[g]));
  for (const VertexField& field : at_vertices)
    grid.point_data.push_back(vtk_array(field.name, field.values));
  grid.point_data.push_back(vtk_array("vertex_tag", vertex_tags));
  for (const PanelField& field : fields)
    grid.cell_data.push_back(vtk_array(field.name, field.values));
  grid.cell_data.push_back(vtk_array("group", mesh.group_of));
  grid.cell_data.push_back(vtk_array("element_tag", element_tags));
  return write_vtu_grid(path, grid);
}

}  // namespace fmbem
