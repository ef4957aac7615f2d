#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/fmm/expansion/parity_order.hpp"
#include "fmbem/fmm/kernel/yukawa.hpp"

namespace fmbem::test {

/// The blocks of M2L as the GPU makes them for its plans, copied to the host: of the eight classes,
/// [K] rows each of the 26 far orbits' columns, [26][K], `stride` numbers apart.
template <class T>
struct HostM2l {
  std::int64_t stride;
  std::vector<T> rows;
};

/// The same as fmm::make_m2l_blocks() makes, fitted, to rounding; Laplace's where κ is 0.
template <class T>
HostM2l<T> make_m2l_on_device(const fmm::Yukawa& kernel, const fmm::ParityOrder& order);

}  // namespace fmbem::test
