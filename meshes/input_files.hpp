#pragma once

#include <string>
#include <vector>

namespace fmbem {

/// The file with the other half of a surface of MSMS: .vert of .face and the other way round, in
/// capitals where that is the one that exists.
std::string other_half(const std::string& file);

/// The files that reading this one takes, itself first: the other half of a surface of MSMS, and
/// those that a .geo, or a script that it names, names literally in Merge, Include or
/// ShapeFromFile, as far as they exist.
std::vector<std::string> files_read_with(const std::string& file);

}  // namespace fmbem
