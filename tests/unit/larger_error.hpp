#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

namespace fmbem::test {

/// The larger of two errors. std::max(a, b) is a where b is not a number, which would pass.
template <std::floating_point T>
T larger_error(T a, T b) {
  return std::isnan(b) ? std::numeric_limits<T>::infinity() : std::max(a, b);
}

}  // namespace fmbem::test
