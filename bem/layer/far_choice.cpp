#include "fmbem/bem/layer/far_choice.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace fmbem {
namespace {

/// ‖(Ã−A)x‖/(‖A‖‖x‖) of orders 1, 2, …: 1.7 times the worst of constant, smooth, random and local x
/// on a plate, whose errors are larger than a sphere's and a cube's (docs/accuracy.md). All of them
/// are errors of truncation: on a sphere rounding leaves 1e-15.
constexpr double operator_errors[] = {
    4.3e-2,  6.5e-3,  1.4e-3,  5.9e-4,  1.1e-4,  2.4e-5,  6.3e-6,  2.9e-6,  1.0e-6,
    2.7e-7,  9.3e-8,  3.4e-8,  1.2e-8,  5.1e-9,  1.9e-9,  8.3e-10, 4.3e-10, 1.7e-10,
    1.0e-10, 6.1e-11, 3.1e-11, 1.7e-11, 1.6e-11, 8.0e-12, 5.8e-12, 4.6e-12, 2.0e-12,
    1.7e-12, 1.3e-12, 6.6e-13, 4.9e-13, 5.1e-13, 2.7e-13, 1.7e-13, 1.9e-13, 9.4e-14};

/// The same of K against 1/2: 1.5 times the worst of a sphere, a cube, the bracket and a plate,
/// where K is 0 and all that comes out is error.
constexpr double dipole_errors[] = {
    2.9e-1,  7.2e-2,  9.2e-3,  6.2e-3,  6.8e-4,  3.5e-4,  7.5e-5,  4.7e-5,  2.3e-5,
    5.2e-6,  2.1e-6,  9.9e-7,  2.9e-7,  1.2e-7,  4.8e-8,  2.4e-8,  1.8e-8,  6.7e-9,
    3.4e-9,  2.2e-9,  1.5e-9,  9.0e-10, 4.8e-10, 2.7e-10, 1.9e-10, 1.2e-10, 6.6e-11,
    6.6e-11, 5.9e-11, 3.0e-11, 2.5e-11, 2.1e-11, 1.3e-11, 9.5e-12, 7.3e-12, 4.8e-12};

/// Errors on crowded surfaces, in the norm, over those of the tables (docs/decisions.md).
constexpr double crowded_errors = 4, crowded_dipole_errors = 6;
/// Those of K beyond order 20, as on a wire along a plate, where errors fall more slowly with the
/// order: 7.3 times the table's at order 23, 11.3 at 26.
constexpr double crowded_dipole_growth = 1.2, largest_crowded_dipole_errors = 15;
/// Those of V with e^{−κr} there over those without: ‖V‖ falls with κ, and what boxes of a size
/// about 1/κ leave out does not. 5.5 on a wire along a plate, κ · size = 100.
constexpr double screened_errors = 6;

/// The part of the accurate product's tolerance that the near field's error may take.
constexpr double near_part_of_accurate = 0.5;

}  // namespace

double norm_of_rounding(Precision precision, bool cuts_panels) {
  // At most 2^-24 of each entry and 2^-25 of a row's sum, and less as signs differ: 4e-9 on a cube
  // and a bracket of 1200 panels, 2.3e-9 on plates with long panels and 400 and more entries a row.
  return precision == Precision::double_precision ? 0 : cuts_panels ? 0x1p-28 : 0x1p-26;
}

bool is_crowded(double crowding) { return crowding > 0.25; }

double overhang_for(Trace source, bool cuts_panels, bool crowded) {
  if (source == Trace::normal) return dipole_overhang;
  if (crowded) return crowded_overhang;
  return cuts_panels ? piece_overhang : panel_overhang;
}

int far_order_for(double tolerance, Trace source, bool crowded, bool screened) {
  const bool normal = source == Trace::normal;
  const std::span<const double> errors =
      normal ? std::span<const double>(dipole_errors) : std::span<const double>(operator_errors);
  const auto more = [&](int order) {
    if (!crowded) return 1.0;
    if (!normal) return screened ? screened_errors * crowded_errors : crowded_errors;
    return std::min(
        crowded_dipole_errors * std::pow(crowded_dipole_growth, std::max(0, order - 20)),
        largest_crowded_dipole_errors);
  };
  const auto most = static_cast<int>(errors.size());
  int order = 1;
  while (order < most && errors[order - 1] * more(order) > tolerance) ++order;
  return order;
}

Precision far_precision_for(double tolerance, Trace source) {
  return tolerance >= (source == Trace::value ? 5e-7 : 1e-6) ? Precision::single_precision
                                                             : Precision::double_precision;
}

Precision far_precision_at_points(double tolerance, Trace source, bool hessian) {
  return hessian ? Precision::double_precision : far_precision_for(tolerance, source);
}

double far_reach_for(double tolerance) { return 1.25 * std::log(10 / tolerance); }

double near_tolerance_for(double tolerance, double near_fraction) {
  constexpr double near_part = 0.05;
  return std::clamp(near_part * tolerance / near_fraction, 0.5 * tolerance, 10 * tolerance);
}

double near_tolerance_for_both(double tolerance, Trace source, double near_fraction,
                               double rounding, bool stored) {
  const double enough = near_tolerance_for(tolerance, near_fraction);
  const double for_both =
      near_part_of_accurate * accurate_tolerance_for(tolerance, source) / near_fraction - rounding;
  return for_both >= (stored ? 0.125 : 0.9) * enough ? std::min(for_both, enough) : enough;
}

Precision near_precision_for(double tolerance) {
  return tolerance >= 1e-7 ? Precision::single_precision : Precision::double_precision;
}

LeastTolerance least_tolerance(Trace source) {
  return source == Trace::value ? LeastTolerance{1e-11, 1e-13} : LeastTolerance{1e-10, 1e-11};
}

double accurate_tolerance_for(double tolerance, Trace source) {
  return std::max(0.1 * tolerance, least_tolerance(source).of_product);
}

bool near_entries_serve(double accurate_tolerance, double rounding, double near_tolerance,
                        double near_fraction) {
  constexpr double slack = 1e-9;  // of this arithmetic
  return (near_tolerance + rounding) * near_fraction <=
         (near_part_of_accurate + slack) * accurate_tolerance;
}

bool one_rounding_serves(double accurate_tolerance, double largest_rounding, double norm) {
  return largest_rounding <= near_part_of_accurate * accurate_tolerance * norm;
}

}  // namespace fmbem
