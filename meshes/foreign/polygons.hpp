#pragma once

#include <string>
#include <vector>

#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// The content of files of other programs: points, and polygons between them.
struct Polygons {
  std::vector<Vec3d> points;
  std::vector<std::vector<std::size_t>> corners;  ///< [n polygons]
  std::vector<int> group_of;                      ///< [n polygons]; empty where there are no groups
  std::vector<Group> groups;
  MeshRepairs repairs;
};

/// Whether files of this ending are read by another library than Gmsh.
bool is_foreign(const std::string& ending);

/// Reads .obj, .off and .ply with CGAL, .vtk, .vtu and .vtp with VTK, and pairs of .vert and .face,
/// as they are: quadrangles are split, points may be duplicate or unused. Throws InputError.
SurfaceMesh read_foreign(const std::string& file);

/// Triangles and quadrangles as a mesh. Throws InputError for polygons of more corners and for
/// corners that are no points.
SurfaceMesh mesh_of(const Polygons& polygons, const std::string& file);

/// One reader for each library; they throw InputError if fmbem was built without it.
Polygons read_with_cgal(const std::string& file);
Polygons read_with_vtk(const std::string& file);
/// Vertices and triangles as MSMS writes them, from either of the two files: of a vertex
/// x, y and z, of a triangle the numbers of its vertices, from 1, each in a line that more may
/// follow; a header of # and, behind that, of four counts. Throws InputError naming file and line.
Polygons read_msms(const std::string& file);
/// As read_cell_data() has it.
std::vector<double> read_cell_data_with_vtk(const std::string& file, const std::string& array);

}  // namespace fmbem
