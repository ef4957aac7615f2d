#pragma once

#include <string>

namespace fmbem {

/// Checks the structure of a .msh file: every section complete, counts as announced, every
/// element's nodes known. Gmsh itself reads past the end of a truncated file, or crashes. Formats 2
/// and 4.1 are parsed, ASCII and binary; of any other only the markers of the sections are checked.
/// Needs a GmshSession. Throws InputError. Cost: one pass over the file, which is held in memory.
void precheck_msh(const std::string& file);

}  // namespace fmbem
