#include "fmbem/bem/far_choice.hpp"

#include <algorithm>
#include <iterator>

namespace fmbem {
namespace {

/// ‖(Ã−A)x‖/(‖A‖‖x‖) of orders 1, 2, …: 1.7 times the worst of constant, smooth, random and local x
/// on a plate, whose errors are larger than a sphere's and a cube's (docs/accuracy.md).
constexpr double operator_errors[] = {
    4.3e-2,  6.5e-3,  1.4e-3,  5.9e-4,  1.1e-4,  2.4e-5,  6.3e-6,  2.9e-6,  1.0e-6,  2.7e-7,
    9.3e-8,  3.4e-8,  1.2e-8,  5.1e-9,  1.9e-9,  8.3e-10, 4.3e-10, 1.7e-10, 1.0e-10, 6.1e-11,
    3.1e-11, 1.7e-11, 9.4e-12, 5.2e-12, 2.9e-12, 1.6e-12, 9.0e-13, 5.0e-13, 2.8e-13};

/// What the roundings of the entries of a row add up to, over its sum: of an entry at most 2^-24,
/// and less than half of that in the mean over the fractions that they have.
double row_rounding(Precision precision) {
  return precision == Precision::single_precision ? 0x1p-25 : 0;
}

}  // namespace

int far_order_for(double tolerance) {
  const auto enough = std::find_if(std::begin(operator_errors), std::end(operator_errors),
                                   [&](double error) { return error <= tolerance; });
  return 1 + static_cast<int>(std::min(enough, std::end(operator_errors) - 1) -
                              std::begin(operator_errors));
}

Precision far_precision_for(double tolerance) {
  return tolerance >= 5e-7 ? Precision::single_precision : Precision::double_precision;
}

double near_tolerance_for(double tolerance, double near_share, Precision precision) {
  constexpr double near_part = 0.05;
  const double enough =
      std::clamp(near_part * tolerance / near_share, 0.5 * tolerance, 10 * tolerance);
  // A little more serves the accurate product, too, which else integrates all entries once more.
  const double for_both = enough - row_rounding(precision);
  const bool serves =
      near_entries_serve(accurate_tolerance_for(tolerance), precision, for_both, near_share);
  return serves && for_both >= enough / 4 ? for_both : enough;
}

Precision near_precision_for(double tolerance) {
  return tolerance >= 1e-7 ? Precision::single_precision : Precision::double_precision;
}

double accurate_tolerance_for(double tolerance) {
  // Below the latter rounding is larger than what is left out.
  return std::max(0.1 * tolerance, 1e-12);
}

bool near_entries_serve(double accurate_tolerance, Precision precision, double near_tolerance,
                        double near_share) {
  constexpr double slack = 1e-9;  // of this arithmetic
  return (near_tolerance + row_rounding(precision)) * near_share <=
         (0.5 + slack) * accurate_tolerance;
}

}  // namespace fmbem
