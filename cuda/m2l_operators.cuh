#pragma once

#include <cstdint>

#include "fmbem/cuda/memory.cuh"
#include "fmbem/fmm/expansion/parity_order.hpp"
#include "fmbem/fmm/kernel/yukawa.hpp"

namespace fmbem::cuda {

/// The fitted blocks of M2L, as fmm::make_m2l_blocks() makes them to rounding, in device memory: of
/// the eight classes, [K] rows each of the 26 orbits' columns, [26 K], `stride` numbers apart. Of
/// Laplace's kernel where κ is 0. In the order of the stream.
template <class T>
DeviceBuffer<T> make_m2l_operators(const fmm::Yukawa& kernel, const fmm::ParityOrder& order,
                                   std::int64_t stride, cudaStream_t stream);

}  // namespace fmbem::cuda
