#pragma once

#include <string>
#include <vector>

#include "fmbem/meshes/point_set.hpp"

namespace fmbem {

/// A quantity at points.
struct PointField {
  std::string name, unit;
  std::vector<double> values;  ///< [n points][components]
  int components = 1;          ///< 3 for a vector
};

/// Throws InputError if points cannot be written to this path: an ending other than .csv and .vtu,
/// or a folder that is missing or not writable. Leaves nothing behind.
void check_points_path(const std::string& path);

/// Writes points and fields, as the path's ending says. A table (.csv) has a header line, then a
/// line for each point, with the fewest digits that give the same numbers back, and nan for none. A
/// VTK XML unstructured grid (.vtu) has the fields as point data, and vertices, line segments or
/// quadrangles as cells. Coordinates are in `unit`. The file appears whole or not at all. Throws
/// InputError for an unwritable path and ResourceError when the disk is full.
void write_points(const std::string& path, const PointSet& set, const std::string& unit,
                  const std::vector<PointField>& fields);

}  // namespace fmbem
