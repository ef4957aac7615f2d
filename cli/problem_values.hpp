#pragma once

#include <string>

#include "cli/json_object.hpp"
#include "fmbem/problems/boundary_problem.hpp"

namespace fmbem::cli {

/// Regions of a problem's file, with their permittivities or conductivities.
void read_regions(const JsonObject& top, BoundaryProblem& problem);

/// A number, an expression or values of a file, whose path starts from a folder.
SurfaceData read_surface_data(const JsonObject& object, const char* key, const std::string& folder);

}  // namespace fmbem::cli
