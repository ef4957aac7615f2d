#pragma once

#include <string>

#include "cli/report.hpp"
#include "fmbem/problems/capacitance_levels.hpp"

namespace fmbem::cli {

/// The `results` of the report.
Json results_json(const CapacitanceOfLevels& levels);

/// The `levels` of the report, the coarsest first.
Json levels_json(const CapacitanceOfLevels& levels);

/// What the program prints of a solution: the matrices, with the digits that their estimated errors
/// leave.
std::string capacitance_text(const CapacitanceOfLevels& levels);

}  // namespace fmbem::cli
