#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fmbem/meshes/mesh.hpp"
#include "fmbem/meshes/shape.hpp"

namespace fmbem {

struct GroupReport {
  std::string name;
  std::size_t panels = 0;
  double area = 0;  ///< in the file's unit, squared
  Box box{};        ///< zero without panels
};

/// Quality and topology of a surface mesh, lengths in the file's unit.
struct MeshReport {
  std::size_t panels = 0, vertices = 0, components = 0;
  double area = 0;
  std::optional<double> volume;        ///< Σ of what the components enclose; closed meshes only
  std::size_t open_edges = 0;          ///< edges of one triangle
  std::size_t non_manifold_edges = 0;  ///< edges of more than two triangles
  std::size_t flipped = 0;             ///< triangles that were turned round when the mesh was read
  std::size_t degenerate = 0;          ///< height below 1e-6 of the longest edge
  std::size_t duplicate_vertices = 0;  ///< vertices that were merged when the mesh was read
  double smallest_angle = 0;           ///< degrees
  double smallest_edge = 0, largest_edge = 0;
  Vec3d box_min, box_max;
  std::vector<GroupReport> groups;
};

MeshReport check_mesh(const SurfaceMesh& mesh);

}  // namespace fmbem
