#pragma once

#include <string>

#include "fmbem/cuda/check.cuh"

namespace fmbem::cuda::bem {

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
