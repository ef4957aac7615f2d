#pragma once

#include <functional>

#include "fmbem/fmm/parity_order.hpp"

namespace fmbem::fmm {

/// Truncated series, or the fit of box_fit.hpp, which plans use.
enum class M2l { truncated, fitted };

/// Makes the blocks of M2L (translations.hpp) for every orbit but the first and every class, and
/// hands them to take(orbit, class, block [K][K]), from several threads at once.
void make_m2l_blocks(const ParityOrder& order, M2l m2l,
                     const std::function<void(int orbit, int e, const double* block)>& take);

}  // namespace fmbem::fmm
