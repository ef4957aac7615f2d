#pragma once

#include <string>

namespace fmbem::cli {

/// The git commit of the sources, with the words "with changes" behind it where files differ from
/// it; empty where neither git nor the archive knows it.
std::string compiled_from();

}  // namespace fmbem::cli
