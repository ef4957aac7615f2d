#pragma once

#include <string>
#include <vector>

#include "cli/report.hpp"
#include "fmbem/problems/forces.hpp"

namespace fmbem::cli {

/// Force and torque on each body, with those by Maxwell's stress as a check, a line each.
std::string forces_text(const Forces& forces);

/// "bodies", a list of objects, and "force_on_charges_N".
Json forces_json(const Forces& forces);

}  // namespace fmbem::cli
