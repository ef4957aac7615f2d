#pragma once

#include <string>

namespace fmbem {

/// Refuses files that Gmsh would read as a smaller mesh or crash on: missing, empty or, in the
/// formats whose end can be told (.msh, .stl, .step, .brep), truncated. Needs a GmshSession. Throws
/// InputError.
void precheck(const std::string& file);

}  // namespace fmbem
