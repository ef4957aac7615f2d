#pragma once

#include <memory>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"

namespace fmbem {

/// An approximate inverse of rows without their shifts as one of those that have them: vectors take
/// MixedRows::inverse_shifts first. It is the inverse itself where there are none. It works where
/// that does. `area`: of the unknowns.
std::unique_ptr<ApproximateInverse> shifted_back(std::unique_ptr<ApproximateInverse> inverse,
                                                 Areas area, const MixedRows& rows);

}  // namespace fmbem
