#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fmbem/fmm/tree/tree_key.hpp"

namespace fmbem::cuda {

/// Where the levels of a tree begin, as an argument of kernels: [levels + 1].
struct LevelBegins {
  std::int32_t at[fmm::deepest_tree_level + 2];

  explicit LevelBegins(const std::vector<std::int32_t>& begins) : at{} {
    std::copy(begins.begin(), begins.end(), at);
  }
};

}  // namespace fmbem::cuda
