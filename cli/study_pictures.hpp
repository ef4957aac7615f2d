#pragma once

#include <string>

#include "cli/console.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem::cli {

/// Makes the pictures of a study's tables beside them, .svg and .png, by matplotlib. FMBEM_PYTHON
/// names the Python; else it is the one in PATH that has matplotlib, or the system's. Throws
/// InputError for a folder without tables, and where there is no Python with matplotlib.
ExitCode plot_study(Console& console, const std::string& folder);

}  // namespace fmbem::cli
