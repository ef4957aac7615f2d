#pragma once

#include <cstdint>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// A VTK XML unstructured grid (VTK file formats, "UnstructuredGrid") of one piece: little endian,
/// arrays inline in base64. Between the calls belong the sections that hold other arrays, such as
/// <PointData>, as text.
class VtuWriter {
 public:
  explicit VtuWriter(const std::string& path);

  /// Starts the piece with its points and with cells of one type and `corners` points each, as
  /// many as the connectivity has.
  void begin_piece(std::span<const Vec3d> points, const std::vector<std::int64_t>& connectivity,
                   std::size_t corners, std::uint8_t vtk_type);

  template <class T>
  void array(const char* type, const std::string& name, const std::vector<T>& values,
             int components = 1) {
    write_array(type, name,
                {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)},
                components);
  }

  /// VTK's string arrays: characters with a zero behind each string.
  void strings(const std::string& name, const std::vector<std::string>& values);

  std::ofstream& text() { return out_; }

  /// Ends piece and file. Returns whether all of it was written.
  bool finish();

 private:
  void write_array(const char* type, const std::string& name, std::span<const char> bytes,
                   int components);

  std::ofstream out_;
};

/// Text as an attribute's value.
std::string xml_escaped(const std::string& text);

}  // namespace fmbem
