#include <algorithm>
#include <cmath>
#include <iterator>
#include <new>

#include <gmsh.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/clean.hpp"
#include "fmbem/meshes/contact.hpp"
#include "fmbem/meshes/foreign/polygons.hpp"
#include "fmbem/meshes/gmsh/geometry.hpp"
#include "fmbem/meshes/gmsh/gmsh_session.hpp"
#include "fmbem/meshes/gmsh/precheck.hpp"
#include "fmbem/meshes/gmsh/read_gmsh.hpp"
#include "fmbem/meshes/load_here.hpp"
#include "fmbem/meshes/reading_limit.hpp"
#include "fmbem/meshes/refine.hpp"
#include "fmbem/meshes/shape.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/topology.hpp"
#include "fmbem/meshes/units.hpp"

namespace fmbem {
namespace {

bool is_iges(const std::string& file) {
  const std::string e = ending(file);
  return e == "iges" || e == "igs";
}

bool carries_its_unit(const std::string& file) {
  const std::string e = ending(file);
  return e == "step" || e == "stp" || is_iges(file);
}

void check_options(const std::string& file, const LoadOptions& options) {
  if (options.mesh_size)
    FMBEM_REQUIRE(std::isfinite(*options.mesh_size) && *options.mesh_size > 0,
                  "the mesh size must be a positive number, not " << *options.mesh_size);
  FMBEM_REQUIRE(options.refine >= 0 && options.refine <= 12,
                "a mesh can be refined 0 to 12 times, not " << options.refine);
  if (!options.unit) return;
  metres_in(*options.unit);
  FMBEM_REQUIRE(
      *options.unit == "m" || !carries_its_unit(file),
      file << " carries its own unit and is read in m; leave the unit " << *options.unit << " out");
}

/// What stays of Gmsh's warnings in the notices: the first few.
void add_warnings(const GmshSession& gmsh, std::vector<std::string>& notices) {
  constexpr std::size_t most = 3;
  const std::vector<std::string> warnings = gmsh.warnings();
  for (std::size_t i = 0; i < warnings.size() && i < most; ++i)
    notices.push_back("Gmsh warns: " + warnings[i]);
  if (warnings.size() > most)
    notices.push_back("Gmsh gave " + counted(warnings.size() - most, "more warning"));
}

/// The mesh as the file has it; `refine` becomes how many times it is still to be refined.
SurfaceMesh read(const std::string& file, const LoadOptions& options, int& refine) {
  const auto refuse_mesh_size = [&] {
    FMBEM_REQUIRE(!options.mesh_size, file << " holds a mesh already; a mesh size is for geometry, "
                                              "refine the mesh instead");
  };
  if (is_foreign(ending(file))) {
    refuse_mesh_size();
    const ReadingLimit limit(file);
    return read_foreign(file);
  }
  GmshSession gmsh;
  precheck(file);
  gmsh.run("cannot read " + file, [&] {
    // Gmsh 4.8 cannot set the unit of IGES, which OpenCASCADE then reads in mm.
    if (is_iges(file))
      gmsh::option::setNumber("Geometry.OCCScaling", 1e-3);
    else
      gmsh::option::setString("Geometry.OCCTargetUnit", "M");
    // Facets' corners are merged below, by the length of their edges; Gmsh knows the box only.
    if (ending(file) == "stl") gmsh::option::setNumber("Geometry.Tolerance", 1e-15);
    // A script may mesh, for as long as it likes.
    std::optional<ReadingLimit> limit;
    if (ending(file) != "geo") limit.emplace(file);
    gmsh::merge(file);
  });
  std::vector<int> types;
  gmsh.run("cannot read " + file, [&] { gmsh::model::mesh::getElementTypes(types); });
  std::vector<std::string> notices;
  if (types.empty()) {
    mesh_geometry(gmsh, file, options, notices);
    refine = 0;
  } else {
    refuse_mesh_size();
  }
  SurfaceMesh mesh = read_model(gmsh, file);
  mesh.notices.insert(mesh.notices.begin(), notices.begin(), notices.end());
  add_warnings(gmsh, mesh.notices);
  return mesh;
}

/// A geometry can fix its own subdivision, and then it does not heed the size that was asked for.
void notice_larger_edges(SurfaceMesh& mesh, const LoadOptions& options) {
  if (!options.mesh_size) return;
  double longest = 0;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    longest = std::max(longest, triangle_shape(mesh, i).longest_edge);
  const double asked = std::ldexp(*options.mesh_size, -options.refine);
  if (longest > 2 * asked)
    mesh.notices.push_back("edges of up to " + decimal(longest) +
                           " are longer than the mesh size " + decimal(asked) +
                           ", because the geometry fixes its own subdivision");
}

void name_components(SurfaceMesh& mesh) {
  Components components = connected_components(mesh);
  mesh.group_of = std::move(components.of);
  for (int c = 1; c <= components.n; ++c)
    mesh.groups.push_back({"component " + std::to_string(c), 0});
}

/// Groups may touch where one conductor has both, which is not known here: problems/ decides.
void look_for_contacts(SurfaceMesh& mesh) {
  mesh.contacts = find_contacts(mesh);
  std::vector<Contact> own;
  std::copy_if(mesh.contacts->begin(), mesh.contacts->end(), std::back_inserter(own),
               [](const Contact& contact) { return contact.a == contact.b; });
  if (own.empty()) return;
  const std::string more =
      own.size() == 1 ? "" : ", and so does that of " + counted(own.size() - 1, "more group");
  mesh.notices.push_back("the surface of \"" + mesh.groups[own[0].a].name +
                         "\" crosses itself at " + place(own[0].place) + more);
}

}  // namespace

SurfaceMesh load_mesh_here(const std::string& file, const LoadOptions& options) try {
  check_options(file, options);
  int refine = options.refine;
  SurfaceMesh mesh = read(file, options, refine);
  mesh.unit = options.unit.value_or("m");
  mesh.scale_to_m = metres_in(mesh.unit);
  drop_unused_vertices(mesh);
  refuse_bad_coordinates(mesh);
  merge_duplicate_vertices(mesh,
                           ending(file) == "stl" ? MergeDistance::local_edge : MergeDistance::box);
  refuse_zero_area(mesh);
  notice_larger_edges(mesh, options);
  {
    const EdgeTable edges(mesh);
    refuse_coincident_triangles(mesh, edges);
    orient(mesh, edges);
  }
  if (mesh.groups.empty()) name_components(mesh);
  look_for_contacts(mesh);
  return refine > 0 ? refine_uniformly(mesh, refine) : mesh;
} catch (const std::bad_alloc&) {
  throw ResourceError("not enough memory to read the mesh " + file);
}

}  // namespace fmbem
