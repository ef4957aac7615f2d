#pragma once

#include "fmbem/bem/geometry/strip.hpp"

namespace fmbem {

/// Planes at which boxes of a level meet.
struct BoxPlanes {
  Vec3d corner;  ///< of the root
  double side;   ///< of the boxes
};

/// Boxes are at least this many times as large as a panel is wide.
inline constexpr double least_aspect = 4;

/// The places at which a strip passes planes of one direction, ascending, without those close to
/// its ends: a piece may stick out of its box by a part of a side, less than panel_overhang, as it
/// has a width, too.
class PlaneCuts {
 public:
  /// `from`: of the strip's start, from a plane on; `step`: of a unit of places.
  FMBEM_HD PlaneCuts(double from, double step, double length, double side)
      : from_(from), step_(step), side_(side) {
    if (step == 0) return;
    constexpr double end_overhang = 0.05;
    const double to = from + step * length, low = from < to ? from : to,
                 high = from < to ? to : from, end = end_overhang * side;
    const double first = ceil((low + end) / side);
    double last = ceil((high - end) / side);  // or a neighbour, by rounding
    while (last * side >= high - end) --last;
    while ((last + 1) * side < high - end) ++last;
    left_ = last - first + 1;
    plane_ = step > 0 ? first : last;
  }
  FMBEM_HD bool done() const { return left_ <= 0; }
  FMBEM_HD double place() const { return (plane_ * side_ - from_) / step_; }
  FMBEM_HD void advance() {
    plane_ += step_ > 0 ? 1 : -1;
    --left_;
  }

 private:
  double from_, step_, side_, plane_ = 0, left_ = 0;
};

/// Calls body(place) where the strip passes from box to box, and at the apex if there is any such
/// place, which makes each piece a trapezoid; ascending.
template <class Body>
FMBEM_HD void for_cuts(const Strip& strip, const BoxPlanes& planes, Body&& body) {
  const double least = least_aspect * strip.width, side = planes.side > least ? planes.side : least;
  const Vec3d from = strip.start - planes.corner;
  PlaneCuts axes[] = {{from.x, strip.along.x, strip.length, side},
                      {from.y, strip.along.y, strip.length, side},
                      {from.z, strip.along.z, strip.length, side}};
  bool apex_left = strip.apex > 0 && strip.apex < strip.length &&
                   !(axes[0].done() && axes[1].done() && axes[2].done());
  // Planes of two directions may be passed at the same place, up to rounding.
  const double same = 1e-9 * strip.length;
  for (double before = -strip.length;;) {
    double next = strip.length;
    for (const PlaneCuts& axis : axes)
      if (!axis.done() && axis.place() < next) next = axis.place();
    if (apex_left && strip.apex < next) next = strip.apex;
    if (next >= strip.length) return;
    for (PlaneCuts& axis : axes)
      if (!axis.done() && axis.place() <= next) axis.advance();
    if (strip.apex <= next) apex_left = false;
    if (next - before < same) continue;
    body(next);
    before = next;
  }
}

}  // namespace fmbem
