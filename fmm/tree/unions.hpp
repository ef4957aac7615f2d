#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {

/// Roots of trees of numbers that hang together; a root is the least of its tree. Several threads
/// may join at the same time [Jayanti and Tarjan 2016, PODC: linking by index and path halving].
class Unions {
 public:
  explicit Unions(std::size_t n) : parent_(n) {
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < n; ++i) parent_[i] = static_cast<std::int32_t>(i);
  }

  std::int32_t root(std::int32_t i) {
    for (std::int32_t up = parent(i); up != i; up = parent(i)) {
      const std::int32_t above = parent(up);
      // What another thread may write there in the meantime is above as well.
      if (above != up) std::atomic_ref(parent_[i]).store(above, std::memory_order_relaxed);
      i = above;
    }
    return i;
  }
  void join(std::int32_t i, std::int32_t j) {
    for (;;) {
      i = root(i);
      j = root(j);
      if (i == j) return;
      if (i < j) std::swap(i, j);
      std::int32_t expected = i;
      if (std::atomic_ref(parent_[i])
              .compare_exchange_strong(expected, j, std::memory_order_relaxed))
        return;
    }
  }

 private:
  std::int32_t parent(std::int32_t i) {
    return std::atomic_ref(parent_[i]).load(std::memory_order_relaxed);
  }

  LargeVector<std::int32_t> parent_;
};

}  // namespace fmbem
