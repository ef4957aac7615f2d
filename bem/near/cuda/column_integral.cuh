#pragma once

// Integrals over what of a panel is near to a row, where panels are cut.
#include "fmbem/bem/near/cuda/close_integral.cuh"
#include "fmbem/bem/space/cuda/device_pieces.cuh"

namespace fmbem::cuda::bem {

/// Neighbouring pieces of a panel that are near to a row, from place to place in the tree's unit.
struct Stretch {
  static constexpr std::int64_t none = -1, whole = -2;
  double from, to;
  std::int64_t
      next;  ///< the column's next piece behind it; none, or whole: a panel that is not cut
};

struct ColumnsView {
  const std::int64_t* begin;
  const std::int32_t* panel;
  const std::int64_t* pieces_begin;
  const std::int32_t* piece;
  PiecesView pieces;

  /// That which begins with the k-th piece of all columns, which is one of this column.
  __device__ Stretch stretch_from(std::int64_t k, std::int64_t column, double scale) const {
    const std::int64_t end = pieces_begin[column + 1];
    const double from = pieces.begin_of(piece[k]);
    while (k + 1 < end && piece[k + 1] == piece[k] + 1) ++k;
    return {scale * from, scale * pieces.end_of(piece[k]), k + 1 < end ? k + 1 : Stretch::none};
  }
};

struct IntegrationView {
  NearRowsView rows;
  ColumnsView columns;
  NearRules<double> rules;
  CloseRules close;
  const Strip* strips;       ///< [panels], in the tree's unit
  const Stretch* stretches;  ///< [columns], the first of each
};

__device__ inline double inverse(double x) {
  const double root = inverse_root<2>(x);
  return root * root;
}

/// strip_line(), with roots and quotients to some units in the last place, which take a third of
/// the instructions of correctly rounded ones.
__device__ inline double fast_strip_line(const StripPart& part, double slope, double eta,
                                         const StripPoint& x) {
  constexpr double least_square = 1e-280;  // so that no root is infinite
  const double tilt = eta * slope, lean = 1 + part.skew * tilt,
               stretch2 = lean * lean + tilt * tilt, shrink = inverse_root<2>(stretch2),
               length = stretch2 * shrink * (part.b - part.a);
  const double y = eta * part.first - x.y, s = part.a + part.skew * (eta * part.first) - x.s,
               off = (lean * y - tilt * s) * shrink, first = (lean * s + tilt * y) * shrink,
               last = first + length, d2 = off * off + (x.z * x.z + least_square),
               first2 = first * first + d2, last2 = last * last + d2,
               r_first = first2 * inverse_root<2>(first2), r_last = last2 * inverse_root<2>(last2),
               lengthened = length * (first + last) * inverse(r_first + r_last);
  // (r_last + last)/(r_first + first), without differences of what is alike.
  const double of_first = r_first + fabs(first), of_last = r_last + fabs(last),
               above = last < 0    ? of_first
                       : first > 0 ? of_last
                                   : of_first * of_last,
               below = last < 0    ? of_last
                       : first > 0 ? of_first
                                   : d2;
  return ((part.first - slope * shrink * first) * log(above * inverse(below)) +
          slope * shrink * lengthened) *
         shrink;
}

/// Apart from what most columns take, as it needs twice the registers.
__device__ __attribute__((noinline)) inline double close_stretch_potential(const IntegrationView& a,
                                                                           std::int64_t panel,
                                                                           double from, double to,
                                                                           Vec3d x) {
  return strip_potential_of(
      a.close.strips, [&] { return scaled_triangle(a.rows, panel); }, a.strips[panel], from, to, x);
}
__device__ __attribute__((noinline)) inline double close_panel_potential(const IntegrationView& a,
                                                                         std::int64_t panel,
                                                                         std::int64_t i) {
  return close_integral<Trace::value>(a.rows, a.close, i, panel);
}

/// strip_potential_of() by those lines, where a rule serves.
__device__ inline double stretch_potential(const IntegrationView& a, std::int64_t panel,
                                           const Strip& strip, double from, double to, Vec3d x) {
  const StripRules& rules = a.close.strips;
  const StripPoint at = strip.locate(x);
  const int rule = rules.at(clearance(strip, from, to, at) * inverse(strip.span()));
  if (rule < 0) return close_stretch_potential(a, panel, from, to, x);
  double sum = 0;
  for_strip_parts(strip, from, to, [&](const StripPart& part) {
    const double slope = (part.last - part.first) * inverse(part.b - part.a);
    for (int k = 0; k < rules.lines[rule]; ++k)
      sum += rules.weight[rule][k] * fast_strip_line(part, slope, rules.eta[rule][k], at);
  });
  return inv_4pi * sum;
}

/// The integral of a column, from target i over the near pieces of its panel.
__device__ __attribute__((noinline)) inline double column_integral(const IntegrationView& a,
                                                                   std::int64_t column,
                                                                   std::int64_t i) {
  const std::int64_t panel = a.columns.panel[column];
  Stretch stretch = a.stretches[column];
  if (stretch.next == Stretch::whole) {
    const Vec3d* const v = a.rows.vertices + 3 * panel;
    const Vec3d centroid = a.rows.scale * a.rows.centroid[panel];
    const double radius = a.rows.scale * a.rows.radius[panel];
    const RulePanel<double, Trace::value> by_rule(
        a.rules, a.rows.scale * v[1] - centroid, a.rows.scale * v[2] - centroid,
        inv_4pi * (a.rows.scale * a.rows.scale * a.rows.area[panel]), radius * radius);
    const Vec3d centre = centroid - a.rows.target(i);
    const double distance2 = a.rules.distance2(centre);
    const int rule = by_rule.rule_at(distance2);
    return rule >= 0 ? integrate_by(a.rules, rule, by_rule, centre, distance2)
                     : close_panel_potential(a, panel, i);
  }
  const Strip& strip = a.strips[panel];
  const Vec3d x = a.rows.target(i);
  double sum = 0;
  for (;;) {
    sum += stretch_potential(a, panel, strip, stretch.from, stretch.to, x);
    if (stretch.next == Stretch::none) return sum;
    stretch = a.columns.stretch_from(stretch.next, column, a.rows.scale);
  }
}

}  // namespace fmbem::cuda::bem
