#pragma once

#include <array>
#include <string>
#include <vector>

#include "fmbem/meshes/mesh.hpp"
#include "fmbem/meshes/output_file.hpp"
#include "fmbem/meshes/point_set.hpp"

namespace fmbem {

/// A quantity at points.
struct PointField {
  std::string name, unit;
  std::vector<double> values;  ///< [n points][components]
  int components = 1;          ///< 3 for a vector
};

/// The surfaces among which points lie.
struct Surroundings {
  std::vector<std::array<Vec3d, 2>> outline{};     ///< of a plane: where it cuts them
  std::vector<std::array<Vec3d, 2>> interface {};  ///< the same of borders between two media
  std::vector<std::array<Vec3d, 3>> surface{};     ///< of a box: their triangles
};
/// None for points on a line and scattered ones.
Surroundings surroundings(const SurfaceMesh& mesh, const PointSet& set);

/// Throws InputError if points cannot be written to this path: an ending other than .csv, .vtu,
/// .vtp and .vti, or a folder that is missing or not writable. Leaves nothing behind.
void check_points_path(const std::string& path);

/// Throws InputError for points that are no regular grid and a path that ends in .vti, and for a
/// box and one that ends in .vtp.
void check_points_fit(const std::string& path, const PointSet& set);

/// Writes points and fields, as the path's ending says, as a table (.csv: a header line, then a
/// line for each point, in the fewest digits that give the same numbers back, nan for none), as a
/// VTK XML unstructured grid (.vtu: the fields as point data; vertices, line segments, quadrangles
/// or hexahedra as cells), the same as polygonal data (.vtp: of all but boxes), or as a VTK XML
/// image (.vti: of planes and boxes). The surroundings are
/// field data of those of VTK, "outline [mm]" and "interface [mm]" with the ends of a segment in
/// each tuple and "surface [mm]" with a triangle's corners. Coordinates are in `unit`. The file
/// appears whole or not at all. Throws InputError for an unwritable path and ResourceError when the
/// disk is full.
void write_points(const std::string& path, const PointSet& set, const std::string& unit,
                  const std::vector<PointField>& fields, const Surroundings& around = {});

/// The same into a file that its owner commits.
void write_points(OutputFile& file, const PointSet& set, const std::string& unit,
                  const std::vector<PointField>& fields, const Surroundings& around = {});

enum class VtkFormat { vtu, vtp, vti };

/// Writes points to a path of any name. Returns whether all of it was written.
bool write_vtk_points(const std::string& path, VtkFormat format, const PointSet& set,
                      const std::string& unit, const std::vector<PointField>& fields,
                      const Surroundings& around);

}  // namespace fmbem
