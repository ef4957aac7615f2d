#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/expansion/m2l_blocks.hpp"
#include "fmbem/fmm/expansion/translations.hpp"

namespace fmbem::fmm {

/// M2L of the orbits that have one order.
template <class T>
struct M2lGroup {
  ParityOrder order;
  std::vector<int> orbits;
  std::int64_t block_size;
  Buffer<T> blocks;  ///< [orbits][8][K][K], packed

  const T* block(std::size_t k, int e) const {
    return blocks.data() + (8 * static_cast<std::int64_t>(k) + e) * block_size;
  }
};

/// The blocks of translations.hpp, packed for CpuKernels::multiply, which has rows of coefficients
/// on the left.
template <class T>
struct CpuOperators {
  std::array<std::vector<T>, 8> upward;    ///< [K][K_e]
  std::array<std::vector<T>, 8> downward;  ///< [K_e][K]
  std::vector<M2lGroup<T>> m2l;

  std::int64_t bytes() const;
};

/// One set for each kernel and order, shared by all living plans. It serves boxes of all levels,
/// for which the kernel has to be homogeneous.
template <class T, class Kernel>
requires Kernel::homogeneous std::shared_ptr<const CpuOperators<T>> cpu_operators(
    const Kernel& kernel, const ParityOrder& order, M2lOrders orders, M2l m2l = M2l::fitted);

}  // namespace fmbem::fmm
