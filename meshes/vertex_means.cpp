#include "fmbem/meshes/vertex_means.hpp"

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

std::vector<double> vertex_means(const SurfaceMesh& mesh, std::span<const double> values) {
  FMBEM_REQUIRE(values.size() == mesh.triangles.size(), "there are "
                                                            << values.size() << " values for "
                                                            << mesh.triangles.size() << " panels");
  std::vector<double> mean(mesh.vertices.size()), area(mean.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double of_panel = triangle_area(mesh, i);
    for (const int v : mesh.triangles[i]) {
      mean[v] += of_panel * values[i];
      area[v] += of_panel;
    }
  }
  for (std::size_t v = 0; v < mean.size(); ++v)
    if (area[v] > 0) mean[v] /= area[v];
  return mean;
}

std::vector<VertexField> vertex_means(const SurfaceMesh& mesh,
                                      const std::vector<PanelField>& fields) {
  std::vector<VertexField> result;
  for (const PanelField& field : fields)
    result.push_back({field.name, vertex_means(mesh, field.values)});
  return result;
}

}  // namespace fmbem
