#include "fmbem/bem/space/stack.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace fmbem {
namespace {

constexpr int most_lines = StackParts::most_lines, most_densities = StackParts::most_densities;

/// Lagrange's polynomials of Chebyshev's points on (middle − half, middle + half).
struct ChebyshevPoints {
  double middle, half;
  int count;
  double node[most_lines], weight[most_lines];

  ChebyshevPoints(double low, double high, int n)
      : middle(0.5 * (low + high)), half(0.5 * (high - low)), count(n) {
    for (int k = 0; k < n; ++k) {
      const double angle = (k + 0.5) * std::numbers::pi / n;
      node[k] = std::cos(angle);
      weight[k] = (k % 2 ? -1 : 1) * std::sin(angle);
    }
  }
  double place(int k) const { return middle + half * node[k]; }
  /// By the barycentric formula [Berrut and Trefethen 2004].
  void values(double at, double* value) const {
    const double x = half > 0 ? (at - middle) / half : 0;
    double sum = 0;
    for (int k = 0; k < count; ++k) {
      const double from_node = x - node[k];
      if (from_node == 0) {
        std::fill_n(value, count, 0.0);
        value[k] = 1;
        return;
      }
      value[k] = weight[k] / from_node;
      sum += value[k];
    }
    for (int k = 0; k < count; ++k) value[k] /= sum;
  }
};

/// P_0(x) to P_(count − 1)(x).
void legendre(double x, int count, double* value) {
  value[0] = 1;
  if (count > 1) value[1] = x;
  for (int m = 1; m + 1 < count; ++m)
    value[m + 1] = ((2 * m + 1) * x * value[m] - m * value[m - 1]) / (m + 1);
}

}  // namespace

bool find_stack_parts(std::span<const StripPiece> pieces, double side, double tolerance,
                      const StripPoints& points, fmm::SharedParts& shared) {
  const StackFrame stack(pieces[0]);
  std::vector<StackedPiece> stacked(pieces.size());
  for (std::size_t j = 0; j < pieces.size(); ++j)
    if (!stack.place(pieces[j], side, same_in_stacks * tolerance, stacked[j])) return false;
  StackExtent extent(stacked[0]);
  for (std::size_t j = 1; j < pieces.size(); ++j) extent.add(StackExtent(stacked[j]));
  const StackParts parts = stack_parts(extent, static_cast<double>(pieces.size()), side, tolerance);
  const int lines = parts.lines, densities = parts.densities;
  if (lines == 0) return false;

  // A part: a line with a density.
  const ChebyshevPoints across(extent.low, extent.high, lines);
  double of_density[most_densities], of_line[most_lines];
  const StripRule& along = strip_rule(
      std::min(points.along(side, stack.length) + densities, StripPoints::most_along), 1);
  shared.parts = parts.count();
  shared.points.assign(shared.parts, {});
  for (int k = 0; k < lines; ++k)
    for (std::size_t i = 0; i < along.s.size(); ++i) {
      const Vec3d at = stack.point(along.s[i] * stack.length, across.place(k));
      legendre(2 * along.s[i] - 1, densities, of_density);
      for (int m = 0; m < densities; ++m) {
        fmm::WeightedPoints& part = shared.points[k * densities + m];
        part.x.push_back(at.x);
        part.y.push_back(at.y);
        part.z.push_back(at.z);
        part.weight.push_back(side * side * along.s_weight[i] * of_density[m]);
      }
    }

  shared.coefficients.assign(pieces.size() * shared.parts, 0.0);
  const StripRule& rule = strip_rule(densities + 1, points.across(side, extent.tallest));
  for (std::size_t j = 0; j < pieces.size(); ++j) {
    const StackedPiece& p = stacked[j];
    double* const coefficient = shared.coefficients.data() + j * shared.parts;
    for_strip_points(rule, {0, stack.length, p.first, p.last, 0},
                     [&](double s, double y, double weight) {
                       legendre(2 * s / stack.length - 1, densities, of_density);
                       across.values(p.at + p.to * y, of_line);
                       for (int m = 0; m < densities; ++m)
                         of_density[m] *= (2 * m + 1) * weight / (side * side);
                       for (int k = 0; k < lines; ++k)
                         for (int m = 0; m < densities; ++m)
                           coefficient[k * densities + m] += of_line[k] * of_density[m];
                     });
  }
  return true;
}

}  // namespace fmbem
