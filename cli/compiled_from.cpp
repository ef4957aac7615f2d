#include "cli/compiled_from.hpp"

#include <fmbem_commit.hpp>  // written by scripts/cmake/write_commit.cmake

namespace fmbem::cli {

std::string compiled_from() { return FMBEM_COMMIT; }

}  // namespace fmbem::cli
