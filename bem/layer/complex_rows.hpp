#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "fmbem/bem/layer/mixed_rows.hpp"

namespace fmbem {

using Complex = std::complex<double>;

/// A ChargeEquation with complex factors.
struct ComplexChargeEquation {
  std::int32_t part = 0;
  struct Other {
    std::int32_t part;
    Complex factor;
  };
  std::vector<Other> others{};
};

/// MixedRows with complex factors, of complex densities.
struct ComplexRows {
  std::vector<Complex> alpha, beta, gamma;  ///< [n], in the order of Panels
  std::vector<std::int32_t> part{};         ///< [n], 0, 1, …; empty without charge equations
  std::vector<ComplexChargeEquation> equations{};
  std::vector<BasicPartShift<Complex>> shifts{}, inverse_shifts{};  ///< as in MixedRows
};

/// The rows with real factors alone, without shifts, whose inverse preconditions those.
MixedRows real_part(const ComplexRows& rows);

}  // namespace fmbem
