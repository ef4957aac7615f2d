#pragma once

#include <cstdint>
#include <string>

#include "fmbem/cuda/check.cuh"
#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda::bem {

/// Bytes left free for each panel, for the preconditioner, the solver's vectors, close pairs and
/// expansions; and the part of all memory left free for what products gather.
inline constexpr std::int64_t solve_bytes = 1500, gathered_share = 12;

/// Whether near entries of so many bytes leave enough free for a solve.
inline bool fits_beside_a_solve(std::int64_t bytes, std::int64_t panels) {
  const std::int64_t available = available_device_memory();
  return bytes + solve_bytes * panels + available / gathered_share < available;
}

/// Runs what takes memory. Where the GPU's does not suffice, the sentence of the error names an
/// option that takes less.
template <class Work>
decltype(auto) with_advice(bool lean, Work&& work) {
  try {
    return work();
  } catch (const DeviceMemoryError& error) {
    throw DeviceMemoryError(error.lack(),
                            std::string(lean ? "" : "the lean near field (--near-field lean), ") +
                                "a looser tolerance, a coarser mesh or the backend cpu");
  }
}

}  // namespace fmbem::cuda::bem
