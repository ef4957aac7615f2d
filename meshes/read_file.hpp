#pragma once

#include <string>

namespace fmbem {

/// The whole file. Throws InputError naming the file if it does not exist, is no regular file, is
/// empty or cannot be read.
std::string read_file(const std::string& file);

/// The same checks without reading it.
void check_readable(const std::string& file);

}  // namespace fmbem
