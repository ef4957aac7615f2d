#pragma once

#include "fmbem/bem/layer/layer.hpp"
#include "fmbem/fmm/base/precision.hpp"

namespace fmbem {

/// How far panels may stick out of their boxes, in sides: errors of an operator come from the
/// coarse levels, whose boxes are large beside the panels (docs/decisions.md).
inline constexpr double panel_overhang = 0.2;
/// The same where long panels are cut: all of their charge may be there, not that of a few small
/// panels.
inline constexpr double piece_overhang = 0.1;
/// And of dipoles, whose fields fall faster, so that errors come from the small boxes.
inline constexpr double dipole_overhang = 0.1;
/// And on surfaces that are crowded: there they come from boxes of all sizes alike.
inline constexpr double crowded_overhang = 0.1;
/// That of an operator.
double overhang_for(Trace source, bool cuts_panels, bool crowded);

/// Whether V is so close to its diagonal that its error, in its norm, comes from boxes of all
/// sizes: on what is nearly a line, whatever the number of panels, and on surfaces of a few
/// thousand. `crowding` is that of norm_estimate.hpp.
bool is_crowded(double crowding);

/// Degree of the expansions for which ‖(Ã−A)x‖ ≤ tolerance ‖A‖ ‖x‖, V by panel_overhang and K,
/// whose norm counts as 1/2, by dipole_overhang. On crowded surfaces errors are four times as
/// large, of K six times.
int far_order_for(double tolerance, Trace source = Trace::value, bool crowded = false);

/// Precision of the expansions: rounding in single precision is 1e-7 of ‖V‖ for constant x; of K,
/// whose terms cancel, 6e-7 of 1/2 for a million panels.
Precision far_precision_for(double tolerance, Trace source = Trace::value);

/// Relative error of the near field's integrals, which are that share of ‖A‖.
double near_tolerance_for(double tolerance, double near_fraction);

/// The same where entries in that precision had better serve the accurate product, too, which else
/// integrates all of them once more: a smaller one, unless it would have to be less than an eighth,
/// or nine tenths where they are integrated in every product. Rules of high degree reach little
/// farther for it.
double near_tolerance_for_both(double tolerance, Trace source, double near_fraction,
                               Precision precision, bool stored);

/// Precision of the near field's entries where it is not asked for.
Precision near_precision_for(double tolerance);

/// The least tolerances that operators by the FMM, and single products, come to: below them
/// rounding is larger, or of K what the highest order leaves out.
struct LeastTolerance {
  double of_operator, of_product;
};
LeastTolerance least_tolerance(Trace source);

/// BoundaryOperator::accurate_tolerance().
double accurate_tolerance_for(double tolerance, Trace source = Trace::value);

/// Whether near entries of that precision and relative error serve the accurate product, too.
bool near_entries_serve(double accurate_tolerance, Precision precision, double near_tolerance,
                        double near_fraction);

}  // namespace fmbem
