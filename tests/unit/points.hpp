#pragma once

// Seeded points and strengths under the names of the tests.
#include "fmbem/fmm/base/clouds.hpp"

namespace fmbem::test {

using namespace clouds;

}  // namespace fmbem::test
