#pragma once

#include <string>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// What a file of points holds.
struct PointFile {
  std::vector<Vec3d> points;
  std::vector<double> charges;  ///< as many as points, or none
};

/// Reads lines `x y z` or `x y z q`, all of one kind, with fields separated by blanks or commas.
/// What follows a # is a comment. Throws InputError that names file and line.
PointFile read_xyz_file(const std::string& file);

}  // namespace fmbem
