#include "fmbem/pictures/scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

constexpr double most_decades = 4, log_beyond_decades = 2, noise = 0.01;

/// The largest of 1, 2, 5 times a power of ten that gives so many steps.
double round_step(double span, int least) {
  const double power = std::pow(10, std::floor(std::log10(span / least)));
  for (const double step : {5.0, 2.0, 1.0})
    if (step * power <= span / least * (1 + 1e-9)) return step * power;
  return power;
}

std::vector<Tick> log_ticks(const Scale& scale, double unit) {
  const bool few_decades = scale.max / scale.min < 1e3;
  std::vector<Tick> result;
  for (int k = int(std::floor(std::log10(scale.min / unit))); std::pow(10, k) * unit <= scale.max;
       ++k)
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * std::pow(10, k) * unit;
      if ((digit == 1 || few_decades) && value >= scale.min * (1 - 1e-9) &&
          value <= scale.max * (1 + 1e-9))
        result.push_back({value, picture_number(value / unit)});
    }
  return result;
}

}  // namespace

double Scale::fraction(double value) const {
  if (std::isnan(value)) return 0;
  const double x = kind == Kind::logarithmic
                       ? (value > min ? std::log(value / min) / std::log(max / min) : 0.0)
                       : (value - min) / (max - min);
  return std::clamp(x, 0.0, 1.0);
}

Scale choose_scale(std::span<const double> values, bool ask_log, const std::string& what) {
  double min = std::numeric_limits<double>::infinity(), max = -min;
  for (const double value : values)
    if (std::isfinite(value)) {
      min = std::min(min, value);
      max = std::max(max, value);
    }
  FMBEM_REQUIRE(min <= max, "the " << what << " is finite nowhere, so there is nothing to draw");
  FMBEM_REQUIRE(!ask_log || max > 0, "--log is for positive values, and the "
                                         << what << " goes from " << decimal(min) << " to "
                                         << decimal(max) << ": leave it out");
  const bool is_signed = min < -noise * max && max > -noise * min && min < 0;
  FMBEM_REQUIRE(!ask_log || !is_signed, "--log is for positive values, and the "
                                            << what << " goes from " << decimal(min) << " to "
                                            << decimal(max) << ": leave it out");
  if (is_signed) {
    max = std::max(max, -min);
    return {Scale::Kind::symmetric, -max, max};
  }
  if (ask_log || (min >= 0 && max > min * std::pow(10, log_beyond_decades) && min > 0)) {
    const double least = max * std::pow(10, -most_decades);
    return {Scale::Kind::logarithmic, min < max ? std::max(min, least) : max / 10, max};
  }
  if (max - min <= 1e-9 * std::max(std::abs(min), std::abs(max))) {  // one value
    const double about = std::max(std::abs(max), std::numeric_limits<double>::min() * 1e9);
    min -= about / 10;
    max += about / 10;
  }
  return {Scale::Kind::linear, min, max};
}

std::vector<Tick> ticks(const Scale& scale, double unit, int least) {
  if (scale.kind == Scale::Kind::logarithmic) return log_ticks(scale, unit);
  const double step = round_step((scale.max - scale.min) / unit, least);
  std::vector<Tick> result;
  for (double k = std::ceil(scale.min / unit / step - 1e-9); k * step * unit <= scale.max + 1e-9 * step * unit; ++k)
    result.push_back({k * step * unit, picture_number(k * step)});
  return result;
}

Prefix engineering_prefix(double value) {
  static const std::array<Prefix, 10> prefixes{{{"f", 1e-15},
                                                {"p", 1e-12},
                                                {"n", 1e-9},
                                                {"µ", 1e-6},
                                                {"m", 1e-3},
                                                {"", 1},
                                                {"k", 1e3},
                                                {"M", 1e6},
                                                {"G", 1e9},
                                                {"T", 1e12}}};
  const double size = std::abs(value);
  if (!(size >= prefixes.front().factor && size < 1e3 * prefixes.back().factor)) return {"", 1};
  return *std::find_if(prefixes.begin(), prefixes.end(),
                       [&](const Prefix& p) { return size < 1e3 * p.factor * (1 - 1e-12); });
}

std::string picture_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value == 0 ? 0.0 : value);
  return text[0] == '-' ? "−" + std::string(text + 1) : text;
}

}  // namespace fmbem
