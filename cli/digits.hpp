#pragma once

#include <string>

namespace fmbem::cli {

/// A number with the digits that its error leaves, down to the first that the error touches, and
/// twelve at the most. One that is not above its error has no digit and no sign: then it is
/// "< 2e-4", a bound of what it can be in truth. "unknown" where either of both is no number.
std::string digits(double value, double error);

/// The error by which digits() prints so many digits of a number.
double error_of_digits(double value, int n);

}  // namespace fmbem::cli
