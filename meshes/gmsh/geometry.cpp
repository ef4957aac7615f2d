#include "fmbem/meshes/gmsh/geometry.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <gmsh.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/meshes/clean.hpp"
#include "fmbem/meshes/gmsh/curvature.hpp"
#include "fmbem/meshes/gmsh/read_gmsh.hpp"
#include "fmbem/meshes/reading_limit.hpp"
#include "fmbem/meshes/shape.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

constexpr double most_triangles = 50e6;  // of a mesh by Gmsh, which takes some 20 GB for it
constexpr double default_fraction = 1. / 40;
constexpr double coarse_per_turn = 6;  // of the first mesh, which shows what sizes are needed
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

/// What the file and the options say of the largest size.
LargestSize largest_size(GmshSession& gmsh, const std::string& file, const LoadOptions& options,
                         std::vector<std::string>& notices) {
  double diagonal = 0, files_size = 0, smallest = 0;
  gmsh.run("cannot mesh " + file, [&] {
    diagonal = norm(box_sides(-1, -1));
    gmsh::option::getNumber("Mesh.MeshSizeMax", files_size);
    gmsh::option::getNumber("Mesh.MeshSizeMin", smallest);
  });
  FMBEM_REQUIRE(diagonal > 0 && std::isfinite(diagonal) && diagonal < 1e20,
                "the geometry of " << file << " has no extent that can be meshed");
  LargestSize largest{default_fraction * diagonal, SizeReason::box, options.grade};
  if (options.mesh_size) {
    largest = {options.mesh_size->value, SizeReason::option, options.grade};
    FMBEM_REQUIRE(largest.size <= diagonal,
                  "the mesh size "
                      << decimal(largest.size) << " " << *options.unit << " is larger than " << file
                      << ", whose bounding box has a diagonal of " << decimal(diagonal) << " "
                      << *options.unit << "; give a smaller one");
  }
  if (files_size < largest.size) {
    largest.size = files_size;
    largest.reason = SizeReason::file;
  } else if (files_size < gmsh_no_limit && !options.mesh_size) {
    notices.push_back("Mesh.MeshSizeMax = " + decimal(files_size) + " in " + file +
                      " was lowered to a fortieth of the bounding box's diagonal, " +
                      decimal(largest.size) + "; give a mesh size to have another");
  }
  FMBEM_REQUIRE(smallest <= largest.size,
                "Mesh.MeshSizeMin = " << decimal(smallest) << " in " << file
                                      << " is above the mesh size " << decimal(largest.size));
  return largest;
}

void refuse_many(const std::string& file, double triangles, double size,
                 const LoadOptions& options) {
  const double n = std::ldexp(triangles, 2 * options.refine);
  FMBEM_REQUIRE(n < most_triangles, "with the mesh size "
                                        << decimal(std::ldexp(size, -options.refine)) << " "
                                        << *options.unit << " the mesh of " << file
                                        << " would have about " << decimal(n)
                                        << " triangles; at most " << decimal(most_triangles)
                                        << " are made, choose a larger size or refine less");
}

/// The faces that a point, a curve or a surface belongs to.
class FacesOf {
 public:
  FacesOf() {
    for (const auto& [dim, curve] : entities(1)) {
      std::vector<int> up, down;
      gmsh::model::getAdjacencies(1, curve, up, down);
      faces_[{1, curve}] = up;
      for (const int point : down)
        faces_[{0, point}].insert(faces_[{0, point}].end(), up.begin(), up.end());
    }
    for (const auto& [dim, surface] : entities(2)) faces_[{2, surface}] = {surface};
  }
  /// Gmsh calls this from several threads.
  const std::vector<int>& operator()(int dim, int tag) const {
    static const std::vector<int> none;
    const auto found = faces_.find({dim, tag});
    return found == faces_.end() ? none : found->second;
  }

 private:
  std::map<std::pair<int, int>, std::vector<int>> faces_;
};

void refuse_missing_faces(GmshSession& gmsh, const std::string& file) {
  for (const auto& [dim, tag] : entities(2)) {
    std::vector<int> types;
    gmsh.run("cannot mesh " + file,
             [&, surface = tag] { gmsh::model::mesh::getElementTypes(types, 2, surface); });
    FMBEM_REQUIRE(!types.empty(), "Gmsh could not mesh the surface " << tag << " of " << file
                                                                     << "; try another mesh size");
  }
}

/// Meshes all faces into about so many triangles, and allows forty times what that takes: at the
/// tip of a slender cone, around which there is no room for three triangles, Gmsh never ends. A
/// script may take as long as it likes, as it is not known here what it asks for.
void mesh_faces(GmshSession& gmsh, const std::string& file, double triangles,
                const GmshSession::Size& size = {}) {
  constexpr double seconds = 60, a_face = 0.1, a_triangle = 1e-3;
  std::optional<ReadingLimit> limit;
  if (ending(file) != "geo")
    limit.emplace(seconds + a_face * double(entities(2).size()) + a_triangle * triangles);
  gmsh.mesh_surfaces("cannot mesh " + file, size);
  refuse_missing_faces(gmsh, file);
}

/// Whether an edge of the mesh is clearly longer than its size; Gmsh's are up to 1.4 times as
/// long, but on spheres that are few sizes large.
bool is_too_coarse(const ModelMesh& coarse, const SizeLimits& limits) {
  constexpr double too_long = 1.5;
  const SurfaceMesh& mesh = coarse.mesh;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const double length = triangle_shape(mesh, i).longest_edge;
    for (const int v : mesh.triangles[i])
      if (length > too_long * limits.at(coarse.surface_of[i], mesh.vertices[v])) return true;
  }
  return false;
}

/// A mesh that shows which sizes are needed: coarse, but fine enough for curvature. `triangles`:
/// how many the largest size makes.
SizeLimits survey(GmshSession& gmsh, const std::string& file, const LargestSize& largest,
                  double triangles, const SizeRules& rules, ModelMesh& coarse) {
  const std::map<int, SurfaceCurvature> curvature_of = sample_curvature(gmsh, file);
  std::vector<CurvedPoint> points;
  for (const auto& [surface, curvature] : curvature_of)
    points.insert(points.end(), curvature.samples.begin(), curvature.samples.end());
  const FacesOf faces_of;
  mesh_faces(gmsh, file, triangles, [&](int dim, int tag, Vec3d) {
    double size = largest.size;
    for (const int face : faces_of(dim, tag)) {
      const auto curved = curvature_of.find(face);
      if (rules.per_turn > 0 && curved != curvature_of.end())
        size = std::min(size, 2 * std::acos(-1.) / coarse_per_turn / curved->second.typical);
    }
    return size;
  });
  coarse = read_model(gmsh, file);
  const std::vector<double> curvature =
      curvatures(gmsh, coarse.mesh, coarse.surface_of, curvature_of);
  drop_unused_vertices(coarse.mesh);
  merge_duplicate_vertices(coarse.mesh, MergeDistance::box);
  if (coarse.mesh.groups.empty()) name_components(coarse);
  return {coarse.mesh, coarse.surface_of, curvature, points, largest, rules};
}

/// Meshes twice: coarsely, to see which sizes conductors, their faces and gaps need, and then with
/// those.
SizeLimits mesh_by_rules(GmshSession& gmsh, const std::string& file, const LoadOptions& options,
                         const LargestSize& largest, double triangles) {
  ModelMesh coarse;
  SizeLimits limits = survey(gmsh, file, largest, triangles,
                             options.mesh_size ? SizeRules::none() : SizeRules{}, coarse);
  if (!is_too_coarse(coarse, limits)) return limits;
  triangles = limits.estimated_triangles(coarse.mesh, coarse.surface_of);
  refuse_many(file, triangles, limits.least(), options);
  gmsh.forget_warnings();
  const FacesOf faces_of;
  gmsh.run("cannot mesh " + file, [] {
    gmsh::model::mesh::clear();
    gmsh::option::setNumber("Mesh.MeshSizeExtendFromBoundary", 0);  // sizes are known inside
  });
  mesh_faces(gmsh, file, triangles, [&](int dim, int tag, Vec3d x) {
    double size = largest.size;
    for (const int face : faces_of(dim, tag)) size = std::min(size, limits.at(face, x));
    return size;
  });
  return limits;
}

}  // namespace

SizeLimits mesh_geometry(GmshSession& gmsh, const std::string& file, const LoadOptions& options,
                         std::vector<std::string>& notices) {
  const std::string what = "cannot mesh " + file;
  double area = 0;
  std::size_t n_surfaces = 0;
  gmsh.run(what, [&] {
    n_surfaces = entities(2).size();
    if (n_surfaces > 0) area = estimated_area();
  });
  FMBEM_REQUIRE(n_surfaces > 0, file << " has no surface elements and no surfaces to mesh");
  const LargestSize largest = largest_size(gmsh, file, options, notices);
  const double triangles = area / (std::sqrt(3.) / 4 * largest.size * largest.size);
  refuse_many(file, triangles, largest.size, options);
  gmsh.run(what, [&] { gmsh::option::setNumber("Mesh.MeshSizeMax", largest.size); });
  if (!options.mesh_size || options.grade < 1)
    return mesh_by_rules(gmsh, file, options, largest, triangles);
  mesh_faces(gmsh, file, triangles);
  return SizeLimits(largest);
}

}  // namespace fmbem
