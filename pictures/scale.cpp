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
/// The part of all weights that may lie beyond either end.
constexpr double beyond = 0.01;

struct Range {
  double min = std::numeric_limits<double>::infinity(), max = -min;
};

/// Of the finite values but for a part of their weights at either end.
Range range_of(const std::vector<double>& values, const std::vector<double>& weights, double part) {
  Range range;
  if (weights.empty() || part == 0) {
    for (const double value : values)
      if (std::isfinite(value)) range = {std::min(range.min, value), std::max(range.max, value)};
    return range;
  }
  std::vector<std::size_t> order;
  double total = 0, sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(values[i])) {
      order.push_back(i);
      total += weights[i];
    }
  std::sort(order.begin(), order.end(),
            [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  for (const std::size_t i : order) {
    sum += weights[i];
    if (sum >= part * total) range.min = std::min(range.min, values[i]);
    if (sum <= (1 - part) * total) range.max = std::max(range.max, values[i]);
  }
  range.max = std::max(range.min, range.max);
  return range;
}

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

Scale choose_scale(const std::vector<double>& values, const std::vector<double>& weights,
                   bool ask_log, const std::string& what) {
  const Range all = range_of(values, weights, 0);
  FMBEM_REQUIRE(all.min <= all.max,
                "the " << what << " is finite nowhere, so there is nothing to draw");
  const bool is_signed = all.min < -noise * all.max && all.max > -noise * all.min && all.min < 0;
  FMBEM_REQUIRE(!ask_log || (all.max > 0 && !is_signed),
                "--log is for positive values, and the "
                    << what << " goes from " << decimal(all.min) << " to " << decimal(all.max)
                    << ": leave it out");
  if (ask_log || (all.min > 0 && all.max > all.min * std::pow(10, log_beyond_decades))) {
    const double least = all.max * std::pow(10, -most_decades);
    const double min = all.min < all.max ? std::max(all.min, least) : all.max / 10;
    return {Scale::Kind::logarithmic, min, all.max, all.min < min, false};
  }
  const Range most = range_of(values, weights, beyond);
  const double worth_cutting = 0.1 * (all.max - all.min);
  double min = most.min - all.min > worth_cutting ? most.min : all.min;
  double max = all.max - most.max > worth_cutting ? most.max : all.max;
  Scale::Kind kind = Scale::Kind::linear;
  if (is_signed) {
    max = std::max(max, -min);
    min = -max;
    kind = Scale::Kind::symmetric;
  } else if (max - min <= 1e-9 * std::max(std::abs(min), std::abs(max))) {  // one value
    const double about = std::max(std::abs(max), 1e9 * std::numeric_limits<double>::min());
    min -= about / 10;
    max += about / 10;
  }
  return {kind, min, max, all.min<min, all.max> max};
}

std::vector<Tick> ticks(const Scale& scale, double unit, int least) {
  if (scale.kind == Scale::Kind::logarithmic) return log_ticks(scale, unit);
  const double step = round_step((scale.max - scale.min) / unit, least);
  std::vector<Tick> result;
  const double first = std::ceil(scale.min / unit / step - 1e-9),
               n = std::floor(scale.max / unit / step + 1e-9) - first + 1;
  for (int k = 0; k < n; ++k)
    result.push_back({(first + k) * step * unit, picture_number((first + k) * step)});
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
  const double size = std::abs(value) / 0.95;
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
