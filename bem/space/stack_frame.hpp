#pragma once

#include "fmbem/bem/geometry/strip.hpp"

namespace fmbem {

/// A piece of a long panel, between places a and b of its strip.
struct StripPiece {
  Strip strip;
  double a, b;
};

/// A piece in the plane of its stack: where its edge is across, to which side of it the rest, and
/// its heights at both ends.
struct StackedPiece {
  double at, to, first, last;
};

/// What the pieces of a stack (stack.hpp) have in common.
struct StackFrame {
  Vec3d origin, along, across, normal;
  double skew, length;

  FMBEM_HD explicit StackFrame(const StripPiece& piece)
      : origin(piece.strip.start + piece.a * piece.strip.along),
        along(piece.strip.along),
        across(piece.strip.across),
        normal(piece.strip.normal),
        skew(piece.strip.skew),
        length(piece.b - piece.a) {}

  /// At a place along, of this much across: as Strip::point().
  FMBEM_HD Vec3d point(double s, double y) const {
    return origin + (s + skew * y) * along + y * across;
  }

  /// Finds where a piece is; false if it has something else in common with others. `same`: what
  /// counts as equal, of `side`.
  FMBEM_HD bool place(const StripPiece& piece, double side, double same,
                      StackedPiece& placed) const {
    const Strip& strip = piece.strip;
    const double sign = dot(strip.along, along) < 0 ? -1 : 1;
    const Vec3d from = strip.start - origin;
    const double y = dot(from, across), s = dot(from, along) - skew * y, a = s + sign * piece.a,
                 b = s + sign * piece.b, to = dot(strip.across, across), enough = same * side;
    const Vec3d lean = strip.skew * strip.along - to * skew * along;
    if (norm(strip.along - sign * along) > same || norm(lean) * strip.width > enough ||
        fabs(dot(from, normal)) > enough ||
        fabs(dot(strip.across, normal)) * strip.width > enough || fabs(fmin(a, b)) > enough ||
        fabs(fmax(a, b) - length) > enough)
      return false;
    if (piece.a < strip.apex && piece.b > strip.apex) return false;
    const double begins = strip.height(piece.a), ends = strip.height(piece.b);
    placed = {y, to, sign < 0 ? ends : begins, sign < 0 ? begins : ends};
    return true;
  }
};

/// The extent of stacked pieces.
struct StackExtent {
  double low, high;  ///< across
  double change;     ///< of a piece's height, from its middle to its ends, at the most
  double heights;    ///< the sum of those in their middles
  double tallest;

  FMBEM_HD explicit StackExtent(const StackedPiece& p)
      : low(fmin(p.at, p.at + p.to * fmax(p.first, p.last))),
        high(fmax(p.at, p.at + p.to * fmax(p.first, p.last))),
        change(0.5 * fabs(p.last - p.first)),
        heights(0.5 * (p.first + p.last)),
        tallest(fmax(p.first, p.last)) {}
  FMBEM_HD void add(const StackExtent& other) {
    low = fmin(low, other.low);
    high = fmax(high, other.high);
    change = fmax(change, other.change);
    heights += other.heights;
    tallest = fmax(tallest, other.tallest);
  }
};

/// The parts that stacked pieces are sums of: lines, each with densities of degrees from 0 on.
struct StackParts {
  static constexpr int most_lines = 24, most_densities = 6;
  int lines, densities;

  FMBEM_HD int count() const { return lines * densities; }
};

/// So many that fields have that relative error about a side away. No lines where more would be
/// needed than there may be, or where so many pieces do not pay.
FMBEM_HD inline StackParts stack_parts(const StackExtent& extent, double pieces, double side,
                                       double tolerance) {
  /// Targets are at least that many sides away from all that is in a box.
  constexpr double gap = 0.9;
  /// There have to be so many times as many pieces as parts.
  constexpr double least_saving = 2;
  StackParts parts{1, 1};
  // n points have an error of 2 ρ^(−n) for 1/r from `gap` sides beside the interval on.
  const double half = 0.5 * (extent.high - extent.low);
  if (half > 0) {
    const double z = 1 + gap * side / half, ratio = z + sqrt(z * z - 1);
    parts.lines = static_cast<int>(ceil(log(2 / tolerance) / log(ratio)));
  }
  // What a piece holds at some place along, as the field across is smooth, has parts of degree m in
  // that place of change^m/(3 (gap side)^(m−1)) at the most, beside its height.
  double part = extent.change / (3 * (extent.heights / pieces));
  do {
    part *= extent.change / (gap * side);
    ++parts.densities;
  } while (part > 0.25 * tolerance && parts.densities <= StackParts::most_densities);
  const bool serves = parts.lines <= StackParts::most_lines &&
                      parts.densities <= StackParts::most_densities &&
                      pieces >= least_saving * parts.count();
  return serves ? parts : StackParts{0, 0};
}

/// What counts as equal in pieces of a stack, of the tolerance.
inline constexpr double same_in_stacks = 1e-2;

}  // namespace fmbem
