#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iterator>
#include <new>
#include <optional>
#include <sstream>

#include <gmsh.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/clean.hpp"
#include "fmbem/meshes/contact.hpp"
#include "fmbem/meshes/foreign/polygons.hpp"
#include "fmbem/meshes/gmsh/curvature.hpp"
#include "fmbem/meshes/gmsh/folds.hpp"
#include "fmbem/meshes/gmsh/geometry.hpp"
#include "fmbem/meshes/gmsh/gmsh_geometry.hpp"
#include "fmbem/meshes/gmsh/gmsh_session.hpp"
#include "fmbem/meshes/gmsh/precheck.hpp"
#include "fmbem/meshes/gmsh/read_gmsh.hpp"
#include "fmbem/meshes/load_here.hpp"
#include "fmbem/meshes/read_file.hpp"
#include "fmbem/meshes/reading_limit.hpp"
#include "fmbem/meshes/refine.hpp"
#include "fmbem/meshes/shape.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/topology.hpp"
#include "fmbem/meshes/units.hpp"

namespace fmbem {
namespace {

/// OpenCASCADE converts to no unit below a micrometre, and geometry that a script merges is not
/// scaled here.
void refuse_small_unit(const std::string& script, const std::string& unit) {
  for (const std::string& text : texts_of_script(script))
    for (const char* format : {".step", ".stp", ".iges", ".igs", ".STEP", ".STP", ".IGES", ".IGS"})
      FMBEM_REQUIRE(text.find(format) == text.npos,
                    script << " merges a CAD file, which cannot be converted to " << unit
                           << " there: use --unit um or a larger one");
}

/// Geometry that carries a unit is converted from it; so is what a script imports. IGES comes in
/// mm, as Gmsh 4.8 cannot set OpenCASCADE's unit before a STEP file was read.
void set_unit(const std::string& file, const std::string& unit) {
  const std::string format = ending(file);
  if (format == "iges" || format == "igs")
    return gmsh::option::setNumber("Geometry.OCCScaling", 1e-3 / metres_in(unit));
  const CadUnit cad = cad_unit(unit);
  gmsh::option::setString("Geometry.OCCTargetUnit", cad.target);
  if (format == "geo" && cad.scaling != 1) refuse_small_unit(file, unit);
}

/// The options with the unit that a file is meshed in: of STEP in a smaller unit than OpenCASCADE
/// knows that is µm, as parts lose their names where Gmsh scales them.
LoadOptions in_work_unit(const std::string& file, LoadOptions options) {
  const std::string format = ending(file);
  const double scaling = cad_unit(*options.unit).scaling;
  if ((format != "step" && format != "stp") || scaling == 1) return options;
  if (options.mesh_size) options.mesh_size = options.mesh_size->value / scaling;
  options.unit = "um";
  return options;
}

void convert(SurfaceMesh& mesh, const std::string& unit) {
  const double factor = mesh.scale_to_m / metres_in(unit);
  for (Vec3d& x : mesh.vertices) x = factor * x;
  for (SizeLimit& limit : mesh.sizes) {
    limit.size *= factor;
    limit.place = factor * limit.place;
  }
  if (mesh.contacts)
    for (Contact& contact : *mesh.contacts) {
      contact.place = factor * contact.place;
      contact.distance *= factor;
    }
  mesh.unit = unit;
  mesh.scale_to_m = metres_in(unit);
}

/// How many of Gmsh's warnings become notices: the first few.
void add_warnings(const GmshSession& gmsh, std::vector<std::string>& notices) {
  constexpr std::size_t most = 3;
  const std::vector<std::string> warnings = gmsh.warnings();
  for (std::size_t i = 0; i < warnings.size() && i < most; ++i)
    notices.push_back("Gmsh warns: " + warnings[i]);
  if (warnings.size() > most)
    notices.push_back("Gmsh gave " + counted(warnings.size() - most, "more warning"));
}

/// What Gmsh made of a file.
struct Source {
  ModelMesh model;
  bool is_geometry = false;      // and the mesh Gmsh's own
  std::vector<SizeLimit> sizes;  // [n triangles], of such a mesh
};

/// Reads a file into Gmsh's model.
void merge(GmshSession& gmsh, const std::string& file, const LoadOptions& options) {
  const std::string what = "cannot read " + file;
  check_numbers(file, options.numbers);
  std::ostringstream set, forget;
  set << std::setprecision(17);
  for (const auto& [name, value] : options.numbers) {
    set << name << " = " << value << ";\n";
    forget << "Delete " << name << ";\n";
  }
  if (!options.numbers.empty()) gmsh.interpret(what, set.str());
  try {
    gmsh.run(what, [&] {
      set_unit(file, *options.unit);
      // The corners of facets are merged below, by the length of their edges; Gmsh would merge by
      // the size of the box.
      if (ending(file) == "stl") gmsh::option::setNumber("Geometry.Tolerance", 1e-15);
      // A script may mesh, for as long as it likes.
      std::optional<ReadingLimit> limit;
      if (ending(file) != "geo") limit.emplace(file);
      gmsh::merge(file);
    });
  } catch (const InputError& e) {
    if (std::string(e.what()).find("OpenCASCADE target unit") == std::string::npos) throw;
    throw InputError(what +
                     ": Gmsh cannot convert the unit of an IGES file that a .geo merges; "
                     "merge it as STEP, or read it by itself");
  }
  if (!options.numbers.empty()) gmsh.interpret(what, forget.str());
}

/// Sizes have an effect on geometry only.
void refuse_sizes(const std::string& file, const LoadOptions& options) {
  FMBEM_REQUIRE(!options.mesh_size, file << " holds a mesh already; a mesh size is for geometry, "
                                            "refine the mesh instead");
  FMBEM_REQUIRE(options.grade == 1, file << " holds a mesh already, which cannot be graded");
}

Source read_with_other_libraries(const std::string& file, const LoadOptions& options) {
  refuse_sizes(file, options);
  check_numbers(file, options.numbers);
  const ReadingLimit limit(file);
  Source source;
  source.model.mesh = read_foreign(file);
  source.model.surface_of.assign(source.model.mesh.triangles.size(), 0);  // a single one
  return source;
}

Source read_with_gmsh(GmshSession& gmsh, const std::string& file, const LoadOptions& options) {
  precheck(file);
  merge(gmsh, file, options);
  std::vector<int> types;
  gmsh.run("cannot read " + file, [&] { gmsh::model::mesh::getElementTypes(types); });
  Source source;
  source.is_geometry = types.empty();
  std::vector<std::string> notices;
  if (source.is_geometry) {
    const SizeLimits limits = mesh_geometry(gmsh, file, options, notices);
    source.model = read_model(gmsh, file);
    drop_folds(source.model);
    const auto& [mesh, surface_of, solid_of] = source.model;
    std::vector<double> curvature;
    if (!limits.uniform())
      curvature = curvatures(gmsh, mesh, surface_of, sample_curvature(gmsh, file));
    source.sizes = sizes_of_triangles(mesh, surface_of, curvature, limits);
  } else {
    refuse_sizes(file, options);
    source.model = read_model(gmsh, file);
  }
  std::vector<std::string>& all = source.model.mesh.notices;
  all.insert(all.begin(), notices.begin(), notices.end());
  add_warnings(gmsh, all);
  return source;
}

/// A geometry that fixes its own subdivision does not heed the size that was asked for, and Gmsh
/// does not always on surfaces that are few sizes large.
void notice_larger_edges(SurfaceMesh& mesh, const LoadOptions& options) {
  if (!options.mesh_size) return;
  double longest = 0;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i)
    longest = std::max(longest, triangle_shape(mesh, i).longest_edge);
  const double size = options.mesh_size->value;
  if (longest > 2 * size)
    mesh.notices.push_back("edges of up to " + decimal(longest) + " " + mesh.unit +
                           " are longer than twice the mesh size " + decimal(size) + " " +
                           mesh.unit +
                           ": the geometry fixes its own subdivision, or Gmsh's mesh of it is "
                           "coarser there");
}

/// Groups may touch if one conductor has both. That is not known here: problems/ decides.
void notice_contacts(SurfaceMesh& mesh) {
  std::vector<Contact> own;
  std::copy_if(mesh.contacts->begin(), mesh.contacts->end(), std::back_inserter(own),
               [](const Contact& contact) { return contact.a == contact.b; });
  if (own.empty()) return;
  const std::string more =
      own.size() == 1 ? "" : ", and so does that of " + counted(own.size() - 1, "more group");
  mesh.notices.push_back("the surface of \"" + mesh.groups[own[0].a].name +
                         "\" crosses itself at " + place(own[0].place) + more);
}

/// What a triangle belongs to, as a message names it: its group, or else of a geometry its solid or
/// surface.
std::string part_of(const ModelMesh& model, bool is_geometry, int triangle) {
  const SurfaceMesh& mesh = model.mesh;
  if (!mesh.groups.empty()) return '"' + mesh.groups[mesh.group_of[triangle]].name + '"';
  if (!is_geometry) return "";
  const int surface = model.surface_of[triangle];
  const auto solid = model.solid_of.find(surface);
  return solid == model.solid_of.end() ? "the surface " + std::to_string(surface)
                                       : "the solid " + std::to_string(solid->second);
}

/// Checks, merges and orients the mesh of a file; places are changed with it.
void clean(ModelMesh& model, bool is_geometry, const LoadOptions& options, MeshPlaces* places) {
  SurfaceMesh& mesh = model.mesh;
  drop_unused_vertices(mesh);
  refuse_bad_coordinates(mesh);
  merge_duplicate_vertices(
      mesh, ending(mesh.file) == "stl" ? MergeDistance::local_edge : MergeDistance::box);
  refuse_flat_triangles(mesh);
  notice_larger_edges(mesh, options);
  {
    const EdgeTable edges(mesh);
    refuse_coincident_triangles(
        mesh, edges, [&](int triangle) { return part_of(model, is_geometry, triangle); });
    const std::vector<std::array<int, 3>> before = mesh.triangles;
    orient(mesh, edges);
    for (std::size_t i = 0; places && i < before.size(); ++i)
      if (before[i] != mesh.triangles[i]) turn_round(*places, i);
  }
  if (mesh.groups.empty()) name_components(model);
}

}  // namespace

std::vector<SurfaceMesh> load_mesh_levels_here(const std::string& file, const LoadOptions& asked,
                                               int coarsest) try {
  const LoadOptions in_unit = in_meshs_unit(file, asked), options = in_work_unit(file, in_unit);
  FMBEM_REQUIRE(coarsest >= 0 && coarsest <= options.refine,
                "the coarsest level must be 0 to " << options.refine << ", not " << coarsest);
  std::optional<GmshSession> gmsh;
  if (!is_foreign(ending(file))) gmsh.emplace();
  Source source =
      gmsh ? read_with_gmsh(*gmsh, file, options) : read_with_other_libraries(file, options);
  SurfaceMesh& mesh = source.model.mesh;
  mesh.unit = *options.unit;
  mesh.scale_to_m = metres_in(mesh.unit);
  std::optional<GmshGeometry> geometry;  // to be refined on
  MeshPlaces places;
  if (source.is_geometry && options.refine > 0) {
    geometry.emplace(*gmsh, file);
    places = find_places(*gmsh, *geometry, mesh, source.model.surface_of);
  }
  clean(source.model, source.is_geometry, options, geometry ? &places : nullptr);
  mesh.sizes = smallest_sizes(source.sizes, mesh.group_of);
  std::vector<SurfaceMesh> levels;
  for (int level = 0; level <= options.refine; ++level) {
    if (level > 0)
      mesh = geometry ? refine_on_geometry(mesh, places, *geometry) : refine_uniformly(mesh);
    // Splitting a mesh leaves its surface as it is; new vertices on a geometry change it.
    if (geometry ? level >= coarsest : level == 0) mesh.contacts = find_contacts(mesh);
    if (level >= coarsest && level < options.refine) levels.push_back(mesh);
  }
  levels.push_back(std::move(mesh));
  for (SurfaceMesh& level : levels) {
    if (level.unit != *in_unit.unit) convert(level, *in_unit.unit);
    if (options.tells_crossings) notice_contacts(level);
  }
  return levels;
} catch (const std::bad_alloc&) {
  throw ResourceError("not enough memory to read the mesh " + file);
}

std::vector<double> read_cell_data_here(const std::string& file, const std::string& array) {
  check_readable(file);
  const std::string format = ending(file);
  FMBEM_REQUIRE(format == "vtu" || format == "vtk" || format == "vtp",
                "cell data are read from .vtu, .vtk and .vtp, not from " << file);
  const ReadingLimit limit(file);
  return read_cell_data_with_vtk(file, array);
}

}  // namespace fmbem
