#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "fmbem/meshes/mesh.hpp"
#include "fmbem/pictures/picture_options.hpp"

namespace fmbem {

/// Values of a result, such as those of "charge density [C/m^2], top at 1 V".
struct ResultArray {
  Quantity quantity;
  std::string name;            ///< charge density
  std::string unit;            ///< C/m^2; empty where the FMM alone made it
  std::string of;              ///< top at 1 V; may be empty
  int components = 1;          ///< 3 for a vector
  std::vector<double> values;  ///< [n][components], by triangle of a surface or else by point

  /// A potential on a molecule, as the unit says.
  bool is_of_molecule() const { return unit == "kT/e"; }
  /// The value at a place, of a vector its length.
  double magnitude(std::size_t i) const {
    if (components == 1) return values[i];
    return norm(Vec3d{values[3 * i], values[3 * i + 1], values[3 * i + 2]});
  }
};

/// What a file of results holds: a surface, or points in space, scattered or on a grid. A plane has
/// one layer.
struct Result {
  SurfaceMesh surface;             ///< vertices, triangles and groups; empty where there are points
  std::vector<Vec3d> points;       ///< of a grid x fastest, then y
  std::array<std::size_t, 3> n{};  ///< points of a grid in each direction; 0 where it is none
  std::vector<ResultArray> arrays;              ///< those of known units
  std::vector<std::array<Vec3d, 2>> outline;    ///< of surfaces, where a plane cuts them
  std::vector<std::array<Vec3d, 2>> interface;  ///< the same of borders between two media
  std::vector<std::array<Vec3d, 3>> walls;      ///< triangles of surfaces, of a box
  std::string length_unit;                      ///< empty where it is not known

  bool is_grid() const { return n[0] > 0; }
  bool is_scattered() const { return !points.empty() && !is_grid(); }
};

/// Reads what fmbem wrote (.vtu, .vtp, .vti); errors name the file `name`. Throws InputError for
/// what cannot be read, and for what is no surface, plane, box or cloud of points.
Result read_result(const std::string& path, const std::string& name);

/// The array that is asked for. Throws InputError, with what there is, where there is no such.
const ResultArray& find_array(const Result& result, const PictureOptions& options,
                              const std::string& name);

}  // namespace fmbem
