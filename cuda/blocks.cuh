#pragma once

#include <cstdint>

namespace fmbem::cuda {

inline constexpr int warp_size = 32;
inline constexpr unsigned whole_warp = 0xffffffffu;
inline constexpr int threads_per_block = 128;
inline constexpr int warps_per_block = threads_per_block / warp_size;

/// Blocks of `per_block` that hold n.
inline unsigned blocks_for(std::int64_t n, int per_block = threads_per_block) {
  return static_cast<unsigned>((n + per_block - 1) / per_block);
}

}  // namespace fmbem::cuda
