#include "fmbem/meshes/join.hpp"

#include <filesystem>
#include <numeric>
#include <string>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/contact.hpp"
#include "fmbem/meshes/topology.hpp"

namespace fmbem {
namespace {

/// The number counts from 1.
void add(SurfaceMesh& all, const SurfaceMesh& mesh, int number) {
  const int first = static_cast<int>(all.vertices.size());
  all.vertices.insert(all.vertices.end(), mesh.vertices.begin(), mesh.vertices.end());
  const Components components = connected_components(mesh);
  const int first_group = static_cast<int>(all.groups.size());
  const std::string stem = std::filesystem::path(mesh.file).stem().string();
  for (int k = 0; k < components.n; ++k) {
    const std::string name =
        components.n == 1 ? stem : stem + ", component " + std::to_string(k + 1);
    all.groups.push_back({unused_name(all.groups, name, number), 0, true});
  }
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto& [a, b, c] = mesh.triangles[i];
    all.triangles.push_back({first + a, first + b, first + c});
    all.group_of.push_back(first_group + components.of[i]);
  }
  all.file += (all.file.empty() ? "" : ", ") + mesh.file;
  all.closed = all.closed && mesh.closed;
  all.orientable = all.orientable && mesh.orientable;
  all.repairs.merged_vertices += mesh.repairs.merged_vertices;
  all.repairs.flipped_triangles += mesh.repairs.flipped_triangles;
  all.repairs.split_quadrangles += mesh.repairs.split_quadrangles;
  all.repairs.curved_elements += mesh.repairs.curved_elements;
  all.repairs.ignored_elements += mesh.repairs.ignored_elements;
  const std::string whose = stem + ": ";
  for (const std::string& notice : mesh.notices) all.notices.push_back(whose + notice);
}

}  // namespace

SurfaceMesh join_meshes(const std::vector<SurfaceMesh>& meshes) {
  FMBEM_REQUIRE(!meshes.empty(), "there is no surface to join");
  SurfaceMesh all;
  all.unit = meshes[0].unit;
  all.scale_to_m = meshes[0].scale_to_m;
  all.closed = true;
  int number = 0;
  for (const SurfaceMesh& mesh : meshes) {
    FMBEM_REQUIRE(mesh.unit == all.unit, mesh.file << " is in " << mesh.unit << ", but "
                                                   << meshes[0].file << " in " << all.unit);
    add(all, mesh, ++number);
  }
  all.vertex_tags.resize(all.vertices.size());
  std::iota(all.vertex_tags.begin(), all.vertex_tags.end(), std::size_t{1});
  all.triangle_tags.resize(all.triangles.size());
  std::iota(all.triangle_tags.begin(), all.triangle_tags.end(), std::size_t{1});
  all.contacts = find_contacts(all);
  return all;
}

}  // namespace fmbem
