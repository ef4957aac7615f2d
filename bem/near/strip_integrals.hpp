#pragma once

#include <vector>

#include "fmbem/bem/geometry/strip.hpp"
#include "fmbem/bem/near/near_integrals.hpp"

namespace fmbem {

/// Integrals over long panels, or stretches of them, at many points: strip_potential() in loops
/// over points. Holds a thread's buffers.
class StripIntegrals {
 public:
  /// `tolerance`: relative error of each integral.
  explicit StripIntegrals(double tolerance) : rules_(strip_rules(tolerance)) {}

  /// out[i] += 1/(4π) ∫ 1/|x_i − y| dS_y over the panel between places a and b along its longest
  /// edge, [targets].
  void add(const Triangle& t, const Strip& strip, double a, double b,
           const IntegralTargets& targets, double* out);
  /// At one point, of the whole panel.
  double at(const Triangle& t, Vec3d x) const {
    const Strip strip = make_strip(t);
    return strip_potential(rules_, t, strip, 0, strip.length, x);
  }

 private:
  StripRules rules_;
  std::vector<double> s_, y_, z_, clearance_, sum_;
};

}  // namespace fmbem
