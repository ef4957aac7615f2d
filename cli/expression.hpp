#pragma once

#include <memory>
#include <string>

#include "fmbem/problems/boundary_problem.hpp"

namespace fmbem::cli {

/// An expression in x, y, z, nx, ny, nz with pi and eps0, as muParser has them. `where` is what
/// errors call it. Throws InputError, here for what does not parse, and at a panel where it has no
/// finite value.
SurfaceData expression(const std::string& text, const std::string& where);

/// Of muParser.
std::string expression_library_version();

}  // namespace fmbem::cli
