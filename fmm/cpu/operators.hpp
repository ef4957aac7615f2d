#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "fmbem/fmm/translations.hpp"

namespace fmbem::fmm {

/// The blocks of translations.hpp, packed for CpuKernels::multiply, which multiplies rows of
/// coefficients from the left.
template <class T>
struct CpuOperators {
  std::array<std::vector<T>, 8> upward;                   ///< [K][K_e]
  std::array<std::vector<T>, 8> downward;                 ///< [K_e][K]
  std::array<std::array<std::vector<T>, 8>, orbits> m2l;  ///< [K][K]; none for orbit 0

  std::int64_t bytes() const;
};

/// Truncated series, or the fit of box_fit.hpp, which plans use.
enum class M2l { truncated, fitted };

/// One set for each order, shared by all plans that are alive.
template <class T>
std::shared_ptr<const CpuOperators<T>> cpu_operators(const ParityOrder& order,
                                                     M2l m2l = M2l::fitted);

}  // namespace fmbem::fmm
