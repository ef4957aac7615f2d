#pragma once

#include <cstdint>
#include <span>

namespace fmbem::fmm {

/// A point on its way into Morton order.
struct KeyedPoint {
  std::uint64_t key;  ///< of 63 bits
  std::int32_t index;
};

/// Sorts by key, ties by index, in which order the points must come. O(n), by counting where many
/// points share their upper bits.
void radix_sort(std::span<KeyedPoint> points);

}  // namespace fmbem::fmm
