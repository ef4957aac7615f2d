#pragma once

#include "fmbem/fmm/base/precision.hpp"

namespace fmbem {

/// How far panels may stick out of their boxes, in sides: errors of an operator come from the
/// coarse levels, whose boxes are large beside the panels (docs/decisions.md).
inline constexpr double panel_overhang = 0.2;

/// Degree of the expansions for which ‖(Ã−A)x‖ ≤ tolerance ‖A‖ ‖x‖.
int far_order_for(double tolerance);

/// Precision of the expansions: rounding in single precision is 1e-7 of ‖A‖ for constant x.
Precision far_precision_for(double tolerance);

}  // namespace fmbem
