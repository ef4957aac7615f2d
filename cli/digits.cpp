#include "cli/digits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace fmbem::cli {
namespace {

/// n with 10ⁿ ≤ x < 10ⁿ⁺¹; the logarithm alone can be off by a rounding at powers of ten.
int exponent_of(double x) {
  const int n = static_cast<int>(std::floor(std::log10(x)));
  return x < std::pow(10.0, n) ? n - 1 : x >= std::pow(10.0, n + 1) ? n + 1 : n;
}

/// In the C library's way, but with exponents as short as they can be: 1.5e7, not 1.5e+07.
std::string printed(const char* format, int precision, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, precision, value);
  std::string result = text;
  if (const std::size_t e = result.find('e'); e != result.npos)
    result.replace(e + 1, result.npos, std::to_string(std::stoi(result.substr(e + 1))));
  return result;
}

/// `places`: digits behind the point of the fixed notation.
std::string notation(double value, int exponent, int n_digits, int places) {
  if (exponent >= -3 && places >= 0) return printed("%.*f", places, value);
  return printed("%.*e", n_digits - 1, value);
}

}  // namespace

std::string digits(double value, double error) {
  constexpr int most = 12;
  if (!std::isfinite(value) || !std::isfinite(error)) return "unknown";
  if (value == 0 && error == 0) return "0";
  if (std::abs(value) <= error) {
    const double sum = std::abs(value) + error, unit = std::pow(10.0, exponent_of(sum));
    // Upwards, but not for what is a rounding above a digit.
    const double bound = std::ceil(sum / unit * (1 - 1e-12)) * unit;
    return "< " + notation(bound, exponent_of(bound), 1, std::max(0, -exponent_of(bound)));
  }
  const int exponent = exponent_of(std::abs(value)), least = exponent + 1 - most;
  const int last = error > 0 ? std::max(exponent_of(error), least) : least;
  return notation(value, exponent, exponent - last + 1, -last);
}

double error_of_digits(double value, int n) {
  return value == 0 || !std::isfinite(value) ? 0
                                             : std::pow(10.0, exponent_of(std::abs(value)) + 1 - n);
}

}  // namespace fmbem::cli
