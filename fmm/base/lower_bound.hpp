#pragma once

#include <cstdint>

#include "fmbem/fmm/base/hd.hpp"

namespace fmbem {

/// First index in [begin, end) of ascending values whose value is not below the bound.
template <class T>
FMBEM_HD inline std::int32_t lower_bound(const T* values, std::int32_t begin, std::int32_t end,
                                         T bound) {
  while (begin < end) {
    const std::int32_t middle = begin + (end - begin) / 2;
    if (values[middle] < bound)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

}  // namespace fmbem
