#pragma once

#include "fmbem/bem/geometry/triangle.hpp"

namespace fmbem {

/// From this longest edge over height on a panel is long: it may be cut, is integrated as a strip,
/// and is a segment in the preconditioner.
inline constexpr double long_aspect = 8;

FMBEM_HD inline int longest_edge_of(const Triangle& t) {
  int longest = 0;
  for (int k = 1; k < 3; ++k)
    if (t.length[k] > t.length[longest]) longest = k;
  return longest;
}
FMBEM_HD inline double longest_length(const Triangle& t) { return t.length[longest_edge_of(t)]; }
FMBEM_HD inline double height_of(const Triangle& t) { return 2 * t.area / longest_length(t); }
FMBEM_HD inline bool is_long(const Triangle& t) {
  const double longest = longest_length(t);
  return longest * longest > long_aspect * 2 * t.area;
}

/// A point in the coordinates of a strip: along its edge, across it in the plane, and off the
/// plane.
struct StripPoint {
  double s, y, z;
};

/// A long triangle as a strip along its longest edge: height(s) wide at place s, 0 ≤ s ≤ length.
/// Lines of constant s are square to the edge; but if the apex is that near to an end, they are
/// parallel to the third edge, so that the apex is at that end.
struct Strip {
  Vec3d start, end;             ///< of the longest edge
  Vec3d along, across, normal;  ///< unit vectors
  double length, width;         ///< width: the height of the apex
  double apex;                  ///< its place along the edge
  double skew;                  ///< by which a line of constant s leans along, for each unit across

  /// Components across and off the plane, to full accuracy relative to their norm, although that
  /// may be a millionth of the distance to either end.
  FMBEM_HD StripPoint locate(Vec3d x) const {
    const Vec3d moment = accurate_cross({x, start}, {end, start}) / length;
    return {dot(x - start, along), -dot(moment, normal), dot(moment, across)};
  }
  FMBEM_HD Vec3d point(double s, double y) const {
    return start + (s + skew * y) * along + y * across;
  }
  /// The unit of clearances: the length of a line of constant s at the apex.
  FMBEM_HD double span() const { return width * sqrt(1 + skew * skew); }
  FMBEM_HD double height(double s) const {
    const bool before = apex > 0 && (s <= apex || apex == length);
    return before ? width * (s / apex) : width * ((length - s) / (length - apex));
  }
};

/// The strip along that edge, which is the longest up to rounding. A right triangle of an aspect of
/// 1e8 has two such edges, and GPU and host may choose differently.
FMBEM_HD inline Strip make_strip(const Triangle& t, int longest) {
  const Vec3d a = t.vertex[longest], b = t.vertex[(longest + 1) % 3],
              c = t.vertex[(longest + 2) % 3];
  const double length = t.length[longest], width = 2 * t.area / length,
               foot = dot(c - a, t.tangent[longest]);
  const bool at_start = foot <= width, at_end = length - foot <= width;
  const double apex = at_start ? 0 : at_end ? length : foot;
  return {a,     b,    t.tangent[longest],   -t.outward[longest], t.normal, length,
          width, apex, (foot - apex) / width};
}

FMBEM_HD inline Strip make_strip(const Triangle& t) { return make_strip(t, longest_edge_of(t)); }

/// A lower bound of the distance of x from a strip between its places a and b.
FMBEM_HD inline double clearance(const Strip& strip, double a, double b, const StripPoint& x) {
  // Not fmax(), which would keep the compiler from vectorising loops.
  const double lean = strip.skew * strip.width, low = a + (lean < 0 ? lean : 0),
               high = b + (lean > 0 ? lean : 0);
  const double s_out = low - x.s > x.s - high ? low - x.s : x.s - high,
               y_out = -x.y > x.y - strip.width ? -x.y : x.y - strip.width,
               s = s_out > 0 ? s_out : 0, y = y_out > 0 ? y_out : 0;
  return sqrt(s * s + y * y + x.z * x.z);
}

/// The part of a strip on one side of the apex, from place a to b: a trapezoid whose height goes
/// linearly from `first` at a to `last` at b, with the strip's skew.
struct StripPart {
  double a, b, first, last, skew;
};

/// Calls body(part) for the one or two parts of a strip between its places a and b.
template <class Body>
FMBEM_HD void for_strip_parts(const Strip& strip, double a, double b, Body&& body) {
  const double before = fmin(b, strip.apex), behind = fmax(a, strip.apex);
  if (a < before)
    body(StripPart{a, before, strip.height(a), strip.width * (before / strip.apex), strip.skew});
  if (behind < b) body(StripPart{behind, b, strip.height(behind), strip.height(b), strip.skew});
}

/// What of a strip is between two of its places.
struct StripExtent {
  Vec3d centre;     ///< of the line in its middle
  Vec3d half;       ///< from there to its end
  Vec3d low, high;  ///< its smallest and largest coordinates
  double area;
};
FMBEM_HD inline StripExtent extent_of(const Strip& strip, double a, double b) {
  const double middle = 0.5 * (a + b);
  StripExtent extent{strip.point(middle, 0.5 * strip.height(middle)), 0.5 * (b - a) * strip.along,
                     strip.point(a, 0), strip.point(a, 0), 0};
  const auto include = [&](double s, double y) {
    const Vec3d x = strip.point(s, y);
    for (int axis = 0; axis < 3; ++axis) {
      extent.low[axis] = fmin(extent.low[axis], x[axis]);
      extent.high[axis] = fmax(extent.high[axis], x[axis]);
    }
  };
  include(b, 0);
  for_strip_parts(strip, a, b, [&](const StripPart& part) {
    include(part.a, part.first);
    include(part.b, part.last);
    extent.area += 0.5 * (part.first + part.last) * (part.b - part.a);
  });
  return extent;
}

/// ∫ h ds/|x−y| along the line at a fraction eta of the heights h, straight from side to side of a
/// trapezoid. Over eta from 0 to 1 this gives the integral over the trapezoid. Nothing cancels but
/// by the distance over the length.
FMBEM_HD inline double strip_line(const StripPart& part, double eta, const StripPoint& x) {
  const double slope = (part.last - part.first) / (part.b - part.a), tilt = eta * slope,
               lean = 1 + part.skew * tilt, stretch = sqrt(lean * lean + tilt * tilt),
               length = stretch * (part.b - part.a);
  // From the foot of x on the line: the places of its ends; and the squared distance to it.
  const double y = eta * part.first - x.y, s = part.a + part.skew * (eta * part.first) - x.s,
               off = (lean * y - tilt * s) / stretch, first = (lean * s + tilt * y) / stretch,
               last = first + length, d2 = off * off + x.z * x.z,
               r_first = sqrt(first * first + d2), r_last = sqrt(last * last + d2),
               slant = (first + last) / (r_first + r_last);
  // (r_last + last)/(r_first + first), as in edge_log_ratio().
  const double ratio = first > 0  ? 1 + length * (1 + slant) / (r_first + first)
                       : last < 0 ? 1 + length * (1 - slant) / (r_last - last)
                                  : (r_first - first) * (r_last + last) / d2;
  return ((part.first - slope * first / stretch) * log(ratio) + slope / stretch * length * slant) /
         stretch;
}

/// Gauss's rules across strips: how many lines (strip_line()) serve, by the point's clearance over
/// the strip's span.
struct StripRules {
  static constexpr int most_rules = 6, most_lines = 8;
  /// From which clearance each rule serves, and its lines.
  double reach[most_rules];
  int lines[most_rules];
  double eta[most_rules][most_lines], weight[most_rules][most_lines];

  /// The first rule that serves; −1 if none does.
  FMBEM_HD int at(double clearance_of_span) const {
    for (int rule = 0; rule < most_rules; ++rule)
      if (clearance_of_span >= reach[rule]) return rule;
    return -1;
  }
};

/// The rules of that relative error. n lines have at most 0.7 ρ^(−2n) with ρ = 2q + √(4q² + 1): the
/// ellipse about (0, 1) that goes through the singularities of points at a clearance of q
/// (docs/accuracy.md).
StripRules strip_rules(double tolerance);

/// ∫ dS/|x−y| over a strip between its places a and b by a rule.
FMBEM_HD inline double strip_integral(const StripRules& rules, int rule, const Strip& strip,
                                      double a, double b, const StripPoint& x) {
  double sum = 0;
  for_strip_parts(strip, a, b, [&](const StripPart& part) {
    for (int k = 0; k < rules.lines[rule]; ++k)
      sum += rules.weight[rule][k] * strip_line(part, rules.eta[rule][k], x);
  });
  return sum;
}

/// ∫_T dS/|x−y| for x so close to a sliver that the lines of all its edges are some of its widths
/// away, to full accuracy relative to that. It is the closed forms of triangle_potential(), but
/// distances come from accurate cross products, and the solid angle edge by edge, because that of
/// all three would lose the square of the aspect ratio [Wilton et al. 1984, eq. 5].
FMBEM_HD inline double close_sliver_integral(const Triangle& t, const Strip& strip, Vec3d x) {
  const double height = fabs(strip.locate(x).z);
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    const Vec3d from = t.vertex[k], to = t.vertex[(k + 1) % 3];
    const Vec3d moment = accurate_cross({x, from}, {to, from}) / t.length[k];
    const double distance = -dot(moment, t.normal), d2 = distance * distance + height * height;
    if (distance == 0) continue;  // above the edge's line
    const double first = dot(from - x, t.tangent[k]), last = dot(to - x, t.tangent[k]),
                 r_first = norm(from - x), r_last = norm(to - x);
    sum += distance * edge_log_ratio(first, last, r_first, r_last, t.length[k], d2);
    if (height > 0)
      sum -= height * (atan(distance * last / (d2 + height * r_last)) -
                       atan(distance * first / (d2 + height * r_first)));
  }
  return sum;
}

/// 1/(4π) ∫ dS/|x−y| over a triangle's strip between its places a and b: by lines or, if x is too
/// close for them, as the whole less the rest, which must not be close. triangle() makes the
/// triangle, where it is needed.
template <class MakeTriangle>
FMBEM_HD inline double strip_potential_of(const StripRules& rules, MakeTriangle&& triangle,
                                          const Strip& strip, double a, double b, Vec3d x) {
  const StripPoint at = strip.locate(x);
  const auto rule_for = [&](double from, double to) {
    return rules.at(clearance(strip, from, to, at) / strip.span());
  };
  const int rule = rule_for(a, b);
  if (rule >= 0) return inv_4pi * strip_integral(rules, rule, strip, a, b, at);
  double sum = close_sliver_integral(triangle(), strip, x);
  const auto take_away = [&](double from, double to) {
    if (from >= to) return;
    const int of_rest = rule_for(from, to);
    sum -= strip_integral(rules, of_rest < 0 ? StripRules::most_rules - 1 : of_rest, strip, from,
                          to, at);
  };
  take_away(0, a);
  take_away(b, strip.length);
  return inv_4pi * sum;
}

/// The same with the triangle at hand.
FMBEM_HD inline double strip_potential(const StripRules& rules, const Triangle& t,
                                       const Strip& strip, double a, double b, Vec3d x) {
  return strip_potential_of(
      rules, [&]() -> const Triangle& { return t; }, strip, a, b, x);
}

}  // namespace fmbem
