#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// A named set of triangles: a Gmsh physical surface or volume, a part of a CAD assembly, or else a
/// solid or a connected component.
struct Group {
  std::string name;
  int tag = 0;        ///< tag of the physical surface, 0 where there is none
  bool named = true;  ///< by the file
};

/// The name, with that number behind it if another group has it already: groups are chosen by name.
inline std::string unused_name(const std::vector<Group>& groups, std::string name, int number) {
  const auto is_taken = [&](const Group& group) { return group.name == name; };
  while (std::any_of(groups.begin(), groups.end(), is_taken))
    name += " (" + std::to_string(number) + ")";
  return name;
}

/// What reading a mesh changed in it.
struct MeshRepairs {
  std::size_t merged_vertices = 0;    ///< duplicates that were merged into another vertex
  std::size_t flipped_triangles = 0;  ///< triangles whose orientation was reversed
  std::size_t split_quadrangles = 0;  ///< quadrangles that became two triangles each
  std::size_t curved_elements = 0;    ///< elements of order 2 that were read by their corners
  std::size_t ignored_elements = 0;   ///< elements that are no surface elements (volumes)
};

/// A place where two groups touch or cross, or one crosses itself; there may be many such places.
struct Contact {
  int a, b;         ///< indices of the groups, a ≤ b
  bool cross;       ///< an edge of one runs through a triangle of the other; else they touch
  Vec3d place;      ///< in the file's unit
  double distance;  ///< between the two there, in the file's unit; 0 of a crossing
};

/// Why the mesh of a geometry is as fine as it is somewhere.
enum class SizeReason {
  option,     ///< the mesh size that was asked for
  file,       ///< the geometry's own sizes or subdivision, or what Gmsh made
  box,        ///< a part of the whole geometry's extent
  extent,     ///< a part of the conductor's extent
  curvature,  ///< edges along a full turn
  width,      ///< edges across a face
  gap,        ///< the distance to another conductor
  least,      ///< widths and gaps ask for less, which default sizes do not follow
  neighbour,  ///< sizes grow slowly from where they have to be small
  edge,       ///< graded towards a sharp edge
};
const char* name(SizeReason reason);

struct SizeLimit {
  SizeReason reason = SizeReason::box;
  double size = 0;  ///< that was asked for before refinement, in the mesh's unit; the least
  Vec3d place;      ///< where
  int group = 0;
  std::size_t triangles = 0;  ///< of the group, for this reason, before refinement
};

/// A triangulated surface. Normals n = (v1−v0)×(v2−v0)/|…| point away from the bounded set that
/// a closed component encloses by itself; open components keep the file's orientation, made
/// consistent. Every vertex belongs to a triangle.
struct SurfaceMesh {
  std::vector<Vec3d> vertices;                ///< [n_vertices], in the file's unit
  std::vector<std::array<int, 3>> triangles;  ///< [n], in the input's order
  std::vector<int> group_of;                  ///< [n], index into groups
  std::vector<Group> groups;
  std::vector<std::size_t> vertex_tags;    ///< [n_vertices], unique
  std::vector<std::size_t> triangle_tags;  ///< [n], unique
  std::string file;                        ///< where it was read from
  std::string unit = "m";                  ///< unit of the coordinates
  double scale_to_m = 1.0;                 ///< metres in one unit
  bool closed = false;                     ///< no triangle has an edge of its own
  bool orientable = true;  ///< no Möbius strip and no edge with more than two triangles
  MeshRepairs repairs;
  std::vector<std::string> notices;  ///< one sentence each
  std::vector<SizeLimit> sizes;      ///< by group and reason, where a geometry was meshed
  /// The result of find_contacts(), once it has been called, as load_mesh() does before refinement.
  /// Whoever moves vertices or changes groups afterwards has to reset it.
  std::optional<std::vector<Contact>> contacts;
};

/// Area of triangle i.
double triangle_area(const SurfaceMesh& mesh, std::size_t i);

}  // namespace fmbem
