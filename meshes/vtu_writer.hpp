#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// A named array of a VTK file: its values as they lie in memory, which it does not own. Of a name
/// the file has what is printable(), and a number behind it where another array of points, cells or
/// the whole has it already.
struct VtkArray {
  std::string name;
  const char* type;  ///< VTK's name of it, such as Float64
  int components = 1;
  std::span<const char> bytes;
  std::size_t value_bytes = 1;  ///< of one value
};

inline const char* vtk_type(double) { return "Float64"; }
inline const char* vtk_type(std::int32_t) { return "Int32"; }
inline const char* vtk_type(std::int64_t) { return "Int64"; }
inline const char* vtk_type(std::uint8_t) { return "UInt8"; }

/// `values` has to outlive the array.
template <class T>
VtkArray vtk_array(const std::string& name, const std::vector<T>& values, int components = 1) {
  return {name,
          vtk_type(T{}),
          components,
          {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)},
          sizeof(T)};
}

/// The parts of an unstructured grid of VTK: points, cells of one type, and arrays.
struct VtuGrid {
  std::span<const Vec3d> points;
  VtkArray connectivity;  ///< [n_cells][corners], integers
  std::size_t n_cells, corners;
  std::uint8_t cell_type;  ///< VTK's number of it
  /// The first array with one component is the Scalars that viewers show, the first with three is
  /// the Vectors.
  std::vector<VtkArray> point_data{}, cell_data{};
  std::vector<VtkArray> field_data{};  ///< of the whole, not of points or cells
  /// Whether viewers are to colour by point_data or by cell_data; the other names no Scalars.
  bool shows_cells = false;
};

/// Writes a VTK XML unstructured grid of one piece (.vtu), little endian, with arrays appended in
/// binary and compressed. Returns whether all of it was written. Throws ResourceError if memory
/// runs out. Two files of the same grid are the same, byte for byte.
bool write_vtu_grid(const std::string& path, const VtuGrid& grid);

/// The same as VTK XML polygonal data (.vtp), of points, line segments or polygons.
bool write_vtp_grid(const std::string& path, const VtuGrid& grid);

/// What an image of VTK consists of: points of a regular grid, x fastest, and arrays of them.
struct VtiGrid {
  Vec3d origin;
  std::array<Vec3d, 3> steps;    ///< from a point to the next in each direction, at right angles
  std::array<std::size_t, 3> n;  ///< points in each direction, at least 2 in two of them
  std::vector<VtkArray> point_data{}, field_data{};  ///< as of VtuGrid
};

/// The same of a VTK XML image (.vti), which gives the steps' directions since VTK 9.0.
bool write_vti_grid(const std::string& path, const VtiGrid& grid);

/// Text as an attribute's value: what is printable() of it.
std::string xml_escaped(const std::string& text);

}  // namespace fmbem
