#pragma once

#include <complex>

#include "fmbem/bem/layer/mixed_rows.hpp"

namespace fmbem {

using Complex = std::complex<double>;

/// MixedRows with complex factors, of complex densities; charges have no weights.
using ComplexRows = BasicMixedRows<Complex>;
using ComplexChargeEquation = BasicChargeEquation<Complex>;

}  // namespace fmbem
