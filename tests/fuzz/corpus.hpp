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

/// What molecules come as: the halves .vert and .face of MSMS's surfaces of the tetrahedron, and
/// PQR files with and without chains, by columns and with records around.
std::vector<File> molecules();
/// The valid other half of one of them, which has to lie beside it; its name is empty where the
/// file is whole.
File other_half(const std::string& name);

}  // namespace fmbem::fuzz
