#pragma once

#include <string>
#include <vector>

namespace fmbem::fuzz {

struct File {
  std::string name;  ///< of the variant, with the format's ending
  std::string bytes;
};

/// A valid file in every format and variant that is read, with the surface of the tetrahedron
/// between the unit vectors and the origin, or of the unit cube. Made by hand where the format is
/// simple, by Gmsh where it is not.
std::vector<File> corpus();

}  // namespace fmbem::fuzz
