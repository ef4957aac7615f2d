#include "fmbem/meshes/foreign/polygons.hpp"

#include <limits>
#include <numeric>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/split.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

bool is_vtk(const std::string& ending) {
  return ending == "vtk" || ending == "vtu" || ending == "vtp";
}
bool is_msms(const std::string& ending) { return ending == "vert" || ending == "face"; }

Polygons read_polygons(const std::string& file) {
  const std::string format = ending(file);
  return is_vtk(format)    ? read_with_vtk(file)
         : is_msms(format) ? read_msms(file)
                           : read_with_cgal(file);
}

std::vector<int> checked(const std::vector<std::size_t>& corners, std::size_t polygon,
                         const Polygons& polygons, const std::string& file) {
  FMBEM_REQUIRE(corners.size() == 3 || corners.size() == 4,
                "in " << file << " the polygon " << polygon + 1 << " has "
                      << counted(corners.size(), "corner")
                      << "; only triangles and quadrangles can be read");
  std::vector<int> result;
  for (const std::size_t corner : corners) {
    FMBEM_REQUIRE(corner < polygons.points.size(),
                  "in " << file << " the polygon " << polygon + 1 << " has a corner at a point "
                        << "that is not among its " << counted(polygons.points.size(), "point"));
    result.push_back(static_cast<int>(corner));
  }
  return result;
}

void add_notices(SurfaceMesh& mesh) {
  if (const std::size_t n = mesh.repairs.ignored_elements; n > 0)
    mesh.notices.push_back(counted(n, "volume element was", "volume elements were") + " ignored");
  if (const std::size_t n = mesh.repairs.curved_elements; n > 0)
    mesh.notices.push_back(counted(n, "element") + " of order 2 or higher " +
                           (n == 1 ? "was" : "were") + " read by the corners alone");
  if (const std::size_t n = mesh.repairs.split_quadrangles; n > 0)
    mesh.notices.push_back(counted(n, "quadrangle was", "quadrangles were") +
                           " split into two triangles" + (n == 1 ? "" : " each"));
}

}  // namespace

bool is_foreign(const std::string& e) {
  return e == "obj" || e == "off" || e == "ply" || is_vtk(e) || is_msms(e);
}

SurfaceMesh read_foreign(const std::string& file) {
  check_readable(file);
  return read_what_is_there(file, [&] { return mesh_of(read_polygons(file), file); });
}

SurfaceMesh mesh_of(const Polygons& polygons, const std::string& file) {
  FMBEM_REQUIRE(!polygons.corners.empty(),
                file << " has no surface elements"
                     << (polygons.repairs.ignored_elements > 0
                             ? ", only volume elements; write the boundary surface into it"
                             : ""));
  FMBEM_REQUIRE(polygons.points.size() < std::numeric_limits<int>::max(),
                file << " has more than 2^31 points");
  SurfaceMesh mesh;
  mesh.file = file;
  mesh.vertices = polygons.points;
  mesh.vertex_tags.resize(mesh.vertices.size());
  std::iota(mesh.vertex_tags.begin(), mesh.vertex_tags.end(), std::size_t{1});
  mesh.groups = polygons.groups;
  mesh.repairs = polygons.repairs;
  const auto add = [&](const std::array<int, 3>& corners, std::size_t polygon) {
    mesh.triangles.push_back(corners);
    mesh.triangle_tags.push_back(mesh.triangles.size());
    mesh.group_of.push_back(polygons.group_of.empty() ? -1 : polygons.group_of[polygon]);
  };
  for (std::size_t i = 0; i < polygons.corners.size(); ++i) {
    const std::vector<int> c = checked(polygons.corners[i], i, polygons, file);
    if (c.size() == 3) {
      add({c[0], c[1], c[2]}, i);
      continue;
    }
    const auto [first, second] = split_quadrangle(mesh.vertices, {c[0], c[1], c[2], c[3]});
    add(first, i);
    add(second, i);
    ++mesh.repairs.split_quadrangles;
  }
  add_notices(mesh);
  return mesh;
}

}  // namespace fmbem
