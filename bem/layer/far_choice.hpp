#pragma once

#include "fmbem/bem/layer/layer.hpp"
#include "fmbem/fmm/base/precision.hpp"

namespace fmbem {

/// How far panels may stick out of their boxes, in sides of the box. An operator's errors come from
/// the coarse levels, whose boxes are large beside the panels (docs/decisions.md).
inline constexpr double panel_overhang = 0.2;
/// The same where long panels are cut: then all of the charge may stick out, not that of a few
/// small panels.
inline constexpr double piece_overhang = 0.1;
/// The same for dipoles: their fields fall faster, so that errors come from the small boxes.
inline constexpr double dipole_overhang = 0.1;
/// The same on crowded surfaces, where errors come from boxes of all sizes.
inline constexpr double crowded_overhang = 0.1;
/// The overhang of an operator.
double overhang_for(Trace source, bool cuts_panels, bool crowded);

/// Whether V is so close to its diagonal that its error, in the norm, comes from boxes of all
/// sizes. That is so on what is nearly a line, whatever the number of panels, and on surfaces of a
/// few thousand panels. `crowding` is that of norm_estimate.hpp.
bool is_crowded(double crowding);

/// The degree of the expansions for which ‖(Ã−A)x‖ ≤ tolerance ‖A‖ ‖x‖, with panel_overhang for V
/// and dipole_overhang for K, whose norm counts as 1/2. On crowded surfaces errors count four
/// times, of K six times, and of V six times more with Yukawa's kernel (`screened`).
int far_order_for(double tolerance, Trace source = Trace::value, bool crowded = false,
                  bool screened = false);

/// The precision of the expansions. Single precision rounds to 1e-7 of ‖V‖ for constant x; to 6e-7
/// of 1/2 for K on a million panels, whose terms cancel.
Precision far_precision_for(double tolerance, Trace source = Trace::value);

/// The part of a tolerance of potentials at points that the far field gets: where points are far
/// from all panels, and densities have one sign, errors are up to 4.5 times those of operators.
inline constexpr double loss_of_potentials = 0.2;

/// The precision of expansions for points. Second derivatives are always in double.
Precision far_precision_at_points(double tolerance, Trace source, bool hessian);

/// The tightest of the tolerances, each a power of ten, that far fields in single precision serve,
/// whatever the source.
inline constexpr double cheap_far_tolerance = 1e-6;

/// κr beyond which pairs of Yukawa's kernel do not count: what they add to ‖V‖ is e^{−κr} of it.
/// Panels stick out of their boxes by up to a fifth of the distance of boxes that are left out.
double far_reach_for(double tolerance);

/// The relative error that a tolerance allows the near field's integrals, which are that share of
/// ‖A‖.
double near_tolerance_for(double tolerance, double near_fraction);

/// The same, but smaller if that lets the stored entries, with that rounding, serve the accurate
/// product as well, which otherwise integrates all of them once more. It is not made smaller than
/// an eighth or, where entries are integrated in every product, nine tenths of the allowed error:
/// below that it is left as it is. Rules of high degree hardly take longer for it.
double near_tolerance_for_both(double tolerance, Trace source, double near_fraction,
                               double rounding, bool stored);

/// What rounding near entries to a precision amounts to in the norm, relative to them. Where panels
/// are cut, rows have hundreds of entries, whose roundings add up to less.
double norm_of_rounding(Precision precision, bool cuts_panels = false);

/// The precision of the near field's entries where none is asked for.
Precision near_precision_for(double tolerance);

/// The tightest tolerances that operators by the FMM, and single products, reach. Below them
/// rounding is larger, or for K what the highest order leaves out.
struct LeastTolerance {
  double of_operator, of_product;
};
LeastTolerance least_tolerance(Trace source);

/// BoundaryOperator::accurate_tolerance().
double accurate_tolerance_for(double tolerance, Trace source = Trace::value);

/// Whether near entries of that rounding and relative error are accurate enough for the accurate
/// product.
bool near_entries_serve(double accurate_tolerance, double rounding, double near_tolerance,
                        double near_fraction);
/// Whether what rounding takes from one entry is little enough for it, too: of panels in disorder a
/// few entries of K may be nearly its norm, which samples of rows do not show.
bool one_rounding_serves(double accurate_tolerance, double largest_rounding, double norm);

}  // namespace fmbem
