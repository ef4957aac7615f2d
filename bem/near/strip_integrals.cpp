#include "fmbem/bem/near/strip_integrals.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmbem/fmm/base/simd.hpp"
#include "fmbem/fmm/base/vector_log.hpp"

namespace fmbem {
namespace {

/// Points that share a rule: some registers of any processor.
constexpr int targets_at_once = 16;

FMBEM_SIMD_CLONES void locate(const Strip& strip, double a, double b, int n, const double* x,
                              const double* y, const double* z, double* to_s, double* to_y,
                              double* to_z, double* to_clearance) {
#pragma omp simd
  for (int i = 0; i < n; ++i) {
    const StripPoint at = strip.locate({x[i], y[i], z[i]});
    to_s[i] = at.s;
    to_y[i] = at.y;
    to_z[i] = at.z;
    to_clearance[i] = clearance(strip, a, b, at);
  }
}

FMBEM_SIMD_CLONES void add_line(const StripPart& part, double eta, double weight, int n,
                                const double* s, const double* y, const double* z, double* sum) {
#pragma omp simd
  for (int i = 0; i < n; ++i) sum[i] += weight * strip_line(part, eta, {s[i], y[i], z[i]});
}

}  // namespace

void StripIntegrals::add(const Triangle& t, const Strip& strip, double a, double b,
                         const IntegralTargets& targets, double* out) {
  const int n = targets.padded();
  for (auto* column : {&s_, &y_, &z_, &clearance_}) column->resize(n);
  sum_.assign(n, 0.0);
  const double too_close = rules_.reach[StripRules::most_rules - 1] * strip.span();
  locate(strip, a, b, n, targets.x(), targets.y(), targets.z(), s_.data(), y_.data(), z_.data(),
         clearance_.data());
  for (int first = 0; first < targets.count(); first += targets_at_once) {
    const int count = std::min(targets_at_once, targets.count() - first);
    // All points take the rule that the closest of them needs, leaving out those that are too close
    // for any.
    double closest = std::numeric_limits<double>::infinity();
    for (int i = first; i < first + count; ++i)
      if (clearance_[i] >= too_close && clearance_[i] < closest) closest = clearance_[i];
    // The quotient may be rounded below the reach of the last one.
    const int found = rules_.at(closest / strip.span()),
              rule = found < 0 ? StripRules::most_rules - 1 : found;
    for_strip_parts(strip, a, b, [&](const StripPart& part) {
      for (int k = 0; k < rules_.lines[rule]; ++k)
        add_line(part, rules_.eta[rule][k], inv_4pi * rules_.weight[rule][k],
                 std::min(targets_at_once, n - first), s_.data() + first, y_.data() + first,
                 z_.data() + first, sum_.data() + first);
    });
  }
  for (int i = 0; i < targets.count(); ++i)
    out[i] +=
        clearance_[i] >= too_close ? sum_[i] : strip_potential(rules_, t, strip, a, b, targets[i]);
}

}  // namespace fmbem
