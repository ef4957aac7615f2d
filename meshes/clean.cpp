#include "fmbem/meshes/clean.hpp"

#include <cmath>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/shape.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {

namespace {

const std::string lengths_to_use =
    ": lengths from 1e-30 to 1e30 can be computed with; scale it, and name the unit of its "
    "coordinates with --unit";

std::string element(const SurfaceMesh& mesh, std::size_t i) {
  return "in " + mesh.file + " the element " + std::to_string(mesh.triangle_tags[i]);
}

}  // namespace

void drop_unused_vertices(SurfaceMesh& mesh) {
  std::vector<int> number(mesh.vertices.size(), -1);
  for (const auto& t : mesh.triangles)
    for (int v : t) number[v] = 0;
  int n = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] < 0) continue;
    number[v] = n;
    mesh.vertices[n] = mesh.vertices[v];
    mesh.vertex_tags[n] = mesh.vertex_tags[v];
    ++n;
  }
  mesh.vertices.resize(n);
  mesh.vertex_tags.resize(n);
  for (auto& t : mesh.triangles)
    for (int& v : t) v = number[v];
}

void refuse_bad_coordinates(const SurfaceMesh& mesh) {
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    for (int v : mesh.triangles[i])
      for (int axis = 0; axis < 3; ++axis) {
        const double x = mesh.vertices[v][axis];
        if (std::abs(x) <= largest_length) continue;
        const std::string what = std::isnan(x)   ? "NaN"
                                 : std::isinf(x) ? "infinite"
                                                 : "larger than 1e30" + lengths_to_use;
        throw InputError(element(mesh, i) + " has the node " + std::to_string(mesh.vertex_tags[v]) +
                         ", of which a coordinate is " + what);
      }
  const Box box = bounding_box(mesh);
  const double diagonal = norm(box.max - box.min);
  // If all nodes are the same, their triangles have no area.
  if (diagonal > 0 && diagonal < smallest_length)
    throw InputError("the mesh in " + mesh.file + " is smaller than 1e-30" + lengths_to_use);
}

void refuse_flat_triangles(const SurfaceMesh& mesh) {
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const TriangleShape shape = triangle_shape(mesh, i);
    const auto refuse = [&](const std::string& what) {
      std::string sentence = element(mesh, i);
      sentence += " at " + place(mesh.vertices[mesh.triangles[i][0]]);
      throw InputError(sentence + what);
    };
    if (!(shape.smallest_height > 1e-12 * shape.longest_edge))
      refuse(" has zero area; remove it or mend the mesh");
    if (shape.smallest_height < smallest_length)
      refuse(" is less than 1e-30 high" + lengths_to_use);
  }
}

}  // namespace fmbem
