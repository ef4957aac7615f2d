#pragma once

#include <string>

#include "cli/report.hpp"
#include "fmbem/problems/charge_levels.hpp"

namespace fmbem::cli {

/// The charges, with the digits that their estimated errors leave, or else four, and the levels.
std::string charges_text(const ChargesOfLevels& levels);

/// The `levels` of the report, the coarsest first.
Json levels_json(const ChargesOfLevels& levels);

/// {voltages_V, charge_C}
Json charges_json(const ChargesOfLevels& levels);

}  // namespace fmbem::cli
