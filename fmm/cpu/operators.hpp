#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/m2l_blocks.hpp"
#include "fmbem/fmm/translations.hpp"

namespace fmbem::fmm {

/// The blocks of translations.hpp, packed for CpuKernels::multiply, which multiplies rows of
/// coefficients from the left.
template <class T>
struct CpuOperators {
  std::array<std::vector<T>, 8> upward;    ///< [K][K_e]
  std::array<std::vector<T>, 8> downward;  ///< [K_e][K]
  std::int64_t m2l_block_size = 0;
  Buffer<T> m2l;  ///< [orbits − 1][8][K][K], packed: none for orbit 0

  const T* m2l_block(int orbit, int e) const {
    return m2l.data() + (8 * (orbit - 1) + e) * m2l_block_size;
  }

  std::int64_t bytes() const;
};

/// One set for each order, shared by all plans that are alive.
template <class T>
std::shared_ptr<const CpuOperators<T>> cpu_operators(const ParityOrder& order,
                                                     M2l m2l = M2l::fitted);

}  // namespace fmbem::fmm
