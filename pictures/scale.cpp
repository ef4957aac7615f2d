#include "fmbem/pictures/scale.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <limits>
#include <sstream>

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

/// Of all finite values, of which there has to be one.
Range full_range(const std::vector<double>& values, const std::string& what) {
  const Range all = range_of(values, {}, 0);
  FMBEM_REQUIRE(all.min <= all.max,
                "the " << what << " is finite nowhere, so there is nothing to draw");
  return all;
}

/// The largest of 1, 2, 5 times a power of ten that is at most so much.
double round_step(double most) {
  const double power = std::pow(10, std::floor(std::log10(most)));
  for (const double step : {5.0, 2.0, 1.0})
    if (step * power <= most * (1 + 1e-9)) return step * power;
  return power;
}

/// More digits are too many to be read one below the other.
constexpr int most_digits = 6;

/// How many digits numbers up to this size have, to the first one of their step; 0 where there are
/// no numbers.
int digits_of(double size, double step) {
  if (!(size > 0 && step > 0 && std::isfinite(size) && std::isfinite(step))) return 0;
  return int(std::floor(std::log10(size) + 1e-9) - std::floor(std::log10(step) + 1e-9)) + 1;
}

/// A round one; on a molecular scale, both of whose ends are ticks, ten or more, or else ten.
double step_of(Scale::Kind kind, double min, double max, int least) {
  if (kind != Scale::Kind::molecular) return round_step(max / least - min / least);
  const double step = round_step((max - min) / 10), steps = max / step;
  return std::abs(steps - std::round(steps)) < 1e-9 ? step : max / 5;
}

/// Linear ticks, in units: multiples of a step. They count from an offset, a multiple of its grain,
/// where they would have too many digits. Ends as large as doubles go differ by more than these.
struct Steps {
  double min, max, step, grain = 0, offset = 0;

  Steps(const Scale& scale, double unit, int least)
      : min(scale.min / unit), max(scale.max / unit), step(step_of(scale.kind, min, max, least)) {
    if (digits() <= most_digits) return;
    // A multiple of every round step that is smaller.
    grain = std::pow(10, std::floor(std::log10(max - min)) + 1);
    offset = std::round((min / 2 + max / 2) / grain) * grain;
  }
  int digits() const {
    return digits_of(std::max(std::abs(min - offset), std::abs(max - offset)), step);
  }
};

/// Powers of ten, and the like; none where they are too few to read a scale by.
std::vector<Tick> log_ticks(const Scale& scale, double unit) {
  constexpr std::size_t least = 3;
  if (scale.kind != Scale::Kind::logarithmic) return {};
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
  if (result.size() < least) result.clear();
  return result;
}

}  // namespace

double Scale::fraction(double value) const {
  if (std::isnan(value)) return 0;
  const double x = kind == Kind::logarithmic
                       ? (value > min ? std::log(value / min) / std::log(max / min) : 0.0)
                       : (value / 2 - min / 2) / (max / 2 - min / 2);
  return std::clamp(x, 0.0, 1.0);
}

bool is_one_value(double min, double max) {
  return max - min <= 1e-9 * std::max(std::abs(min), std::abs(max));
}

Scale choose_scale(const std::vector<double>& values, const std::vector<double>& weights,
                   bool ask_log, const std::string& what) {
  const Range all = full_range(values, what);
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
  if (all.min == 0 && all.max == 0) return {Scale::Kind::symmetric, -1, 1};
  const Range most = range_of(values, weights, beyond);
  const double worth_cutting = 0.1 * all.max - 0.1 * all.min;
  double min = most.min - all.min > worth_cutting ? most.min : all.min;
  double max = all.max - most.max > worth_cutting ? most.max : all.max;
  Scale::Kind kind = Scale::Kind::linear;
  if (is_signed) {
    max = std::max(max, -min);
    min = -max;
    kind = Scale::Kind::symmetric;
  } else if (is_one_value(min, max)) {
    constexpr double largest = std::numeric_limits<double>::max();
    const double about = std::max(std::abs(max), 1e9 * std::numeric_limits<double>::min());
    min = std::max(min - about / 10, -largest);
    max = std::min(max + about / 10, largest);
  }
  return {kind, min, max, all.min<min, all.max> max};
}

Scale molecular_scale(const std::vector<double>& values, double range, const std::string& what) {
  const Range all = full_range(values, what);
  return {Scale::Kind::molecular, -range, range, all.min<-range, all.max> range};
}

std::vector<Tick> ticks(const Scale& scale, double unit, int least) {
  std::vector<Tick> result = log_ticks(scale, unit);
  if (!result.empty()) return result;
  const Steps steps(scale, unit, least);
  const double first = std::ceil(steps.min / steps.step - 1e-9),
               n = std::floor(steps.max / steps.step + 1e-9) - first + 1,
               offset = std::round(steps.offset / steps.step);
  const int digits = std::max(usual_digits, steps.digits());
  for (int k = 0; k < n; ++k)
    result.push_back({(first + k) * steps.step * unit,
                      picture_number((first + k - offset) * steps.step, digits)});
  return result;
}

std::string ticks_offset(const Scale& scale, double unit, int least) {
  if (!log_ticks(scale, unit).empty()) return "";
  const Steps steps(scale, unit, least);
  if (steps.offset == 0) return "";
  const double size = std::abs(steps.offset);
  const int digits = std::max(most_digits, digits_of(size, steps.grain));
  return (steps.offset < 0 ? "− " : "+ ") + picture_number(size, digits);
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

std::string picture_number(double value, int digits) {
  std::ostringstream printed;
  printed << std::setprecision(digits) << (value == 0 ? 0.0 : value);
  const std::string text = printed.str();
  const std::size_t e = std::min(text.find('e'), text.size());
  std::string number = text.substr(0, e);
  if (e < text.size()) number += "e" + std::to_string(std::stoi(text.substr(e + 1)));
  for (std::size_t at; (at = number.find('-')) != std::string::npos;) number.replace(at, 1, "−");
  return number;
}

}  // namespace fmbem
