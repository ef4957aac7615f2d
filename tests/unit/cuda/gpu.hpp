#pragma once

#include <cstdlib>

#include "fmbem/cuda/device.hpp"
#include "tests/unit/catch.hpp"

namespace fmbem::test {

/// Whether there is a GPU; a test without one is skipped, with FMBEM_REQUIRE_GPU it fails.
inline bool gpu_is_there() {
  if (!cuda_devices().empty()) return true;
  if (std::getenv("FMBEM_REQUIRE_GPU")) FAIL("FMBEM_REQUIRE_GPU is set and there is no GPU");
  WARN("no GPU: skipped");
  return false;
}

}  // namespace fmbem::test
