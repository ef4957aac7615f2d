#include "fmbem/meshes/gmsh/geometry.hpp"

#include <algorithm>
#include <cmath>

#include <gmsh.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

constexpr double most_triangles = 50e6;  // of a mesh by Gmsh, some 20 GB in its hands
constexpr double default_fraction = 1. / 40;
constexpr double gmsh_no_limit = 1e22;

gmsh::vectorpair entities(int dim) {
  gmsh::vectorpair found;
  gmsh::model::getEntities(found, dim);
  return found;
}

/// The sides of the bounding box of an entity; of the whole model for dimension −1.
Vec3d box_sides(int dim, int tag) {
  Vec3d lo, hi;
  gmsh::model::getBoundingBox(dim, tag, lo.x, lo.y, lo.z, hi.x, hi.y, hi.z);
  return hi - lo;
}

/// Half the surface of the boxes around the surfaces: exact for a flat face along the axes, 5 % off
/// for a sphere, and never below a third for a flat face.
double estimated_area() {
  double area = 0;
  for (const auto& [dim, tag] : entities(2)) {
    const Vec3d side = box_sides(dim, tag);
    area += side.x * side.y + side.y * side.z + side.z * side.x;
  }
  return area;
}

}  // namespace

void mesh_geometry(GmshSession& gmsh, const std::string& file, const LoadOptions& options,
                   std::vector<std::string>& notices) {
  double diagonal = 0, area = 0, files_size = 0, smallest = 0;
  std::size_t n_surfaces = 0;
  gmsh.run("cannot mesh " + file, [&] {
    n_surfaces = entities(2).size();
    if (n_surfaces == 0) return;
    diagonal = norm(box_sides(-1, -1));
    area = estimated_area();
    gmsh::option::getNumber("Mesh.MeshSizeMax", files_size);
    gmsh::option::getNumber("Mesh.MeshSizeMin", smallest);
  });
  FMBEM_REQUIRE(n_surfaces > 0, file << " has no surface elements and no surfaces to mesh");
  FMBEM_REQUIRE(diagonal > 0 && std::isfinite(diagonal) && diagonal < 1e20,
                "the geometry of " << file << " has no extent that can be meshed");

  double size = options.mesh_size.value_or(default_fraction * diagonal);
  if (files_size < size) {
    size = files_size;
  } else if (files_size < gmsh_no_limit && !options.mesh_size) {
    notices.push_back("Mesh.MeshSizeMax = " + decimal(files_size) + " in " + file +
                      " was lowered to a fortieth of the bounding box's diagonal, " +
                      decimal(size) + "; give a mesh size to have another");
  }
  FMBEM_REQUIRE(smallest <= size, "Mesh.MeshSizeMin = " << decimal(smallest) << " in " << file
                                                        << " is above the mesh size "
                                                        << decimal(size));
  const double fine_size = std::ldexp(size, -options.refine);
  const double estimate = area / (std::sqrt(3.) / 4 * fine_size * fine_size);
  FMBEM_REQUIRE(estimate < most_triangles, "with the mesh size "
                                               << decimal(fine_size) << " the mesh of " << file
                                               << " would have about " << decimal(estimate)
                                               << " triangles; at most " << decimal(most_triangles)
                                               << " are made, choose a larger size or refine less");
  gmsh.run("cannot mesh " + file, [&] {
    gmsh::option::setNumber("Mesh.MeshSizeMax", size);
    gmsh::model::mesh::generate(2);
  });
  for (const auto& [dim, tag] : entities(2)) {
    std::vector<int> types;
    gmsh.run("cannot mesh " + file, [&] { gmsh::model::mesh::getElementTypes(types, 2, tag); });
    FMBEM_REQUIRE(!types.empty(), "Gmsh could not mesh the surface " << tag << " of " << file
                                                                     << "; try another mesh size");
  }
}

}  // namespace fmbem
