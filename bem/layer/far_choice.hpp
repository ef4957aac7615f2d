#pragma once

#include "fmbem/fmm/base/precision.hpp"

namespace fmbem {

/// How far panels may stick out of their boxes, in sides: errors of an operator come from the
/// coarse levels, whose boxes are large beside the panels (docs/decisions.md).
inline constexpr double panel_overhang = 0.2;
/// The same where long panels are cut: all of their charge may be there, not that of a few small
/// panels.
inline constexpr double piece_overhang = 0.1;

/// Degree of the expansions for which ‖(Ã−A)x‖ ≤ tolerance ‖A‖ ‖x‖.
int far_order_for(double tolerance);

/// Precision of the expansions: rounding in single precision is 1e-7 of ‖A‖ for constant x.
Precision far_precision_for(double tolerance);

/// Relative error of the near field's integrals, which are that share of ‖A‖.
double near_tolerance_for(double tolerance, double near_fraction);

/// The same where entries in that precision had better serve the accurate product, too, which else
/// integrates all of them once more: a smaller one, unless it would have to be less than an eighth,
/// or nine tenths where they are integrated in every product. Rules of high degree reach little
/// farther for it.
double near_tolerance_for_both(double tolerance, double near_fraction, Precision precision,
                               bool stored);

/// Precision of the near field's entries where it is not asked for.
Precision near_precision_for(double tolerance);

/// BoundaryOperator::accurate_tolerance().
double accurate_tolerance_for(double tolerance);

/// Whether near entries of that precision and relative error serve the accurate product, too.
bool near_entries_serve(double accurate_tolerance, Precision precision, double near_tolerance,
                        double near_fraction);

}  // namespace fmbem
