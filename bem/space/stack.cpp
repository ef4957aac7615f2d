#include "fmbem/bem/space/stack.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace fmbem {
namespace {

constexpr int most_lines = 24, most_densities = 6;
/// Targets are at least that many sides away from all that is in a box.
constexpr double gap = 0.9;
/// There have to be so many times as many pieces as parts.
constexpr double least_saving = 2;

/// A piece in the plane of the stack: where its edge is across, to which side of it the rest, and
/// its heights at both ends.
struct StackedPiece {
  double at, to, first, last;
};

/// What all pieces have in common, and how they differ.
struct Stack {
  Vec3d origin, along, across;
  double skew = 0, length = 0;
  std::vector<StackedPiece> pieces;

  /// At a place along, of this much across: as Strip::point().
  Vec3d point(double s, double y) const { return origin + (s + skew * y) * along + y * across; }

  /// False if they have something else.
  bool fill(std::span<const StripPiece> all, double side, double same) {
    const Strip& strip = all[0].strip;
    along = strip.along;
    across = strip.across;
    skew = strip.skew;
    origin = strip.start + all[0].a * along;
    length = all[0].b - all[0].a;
    pieces.clear();
    pieces.reserve(all.size());
    return std::ranges::all_of(
        all, [&](const StripPiece& piece) { return add(piece, strip.normal, side, same); });
  }

 private:
  bool add(const StripPiece& piece, Vec3d normal, double side, double same) {
    const Strip& strip = piece.strip;
    const double sign = dot(strip.along, along) < 0 ? -1 : 1;
    const Vec3d from = strip.start - origin;
    const double y = dot(from, across), s = dot(from, along) - skew * y, a = s + sign * piece.a,
                 b = s + sign * piece.b, to = dot(strip.across, across), enough = same * side;
    const Vec3d lean = strip.skew * strip.along - to * skew * along;
    if (norm(strip.along - sign * along) > same || norm(lean) * strip.width > enough ||
        std::abs(dot(from, normal)) > enough ||
        std::abs(dot(strip.across, normal)) * strip.width > enough ||
        std::abs(std::min(a, b)) > enough || std::abs(std::max(a, b) - length) > enough)
      return false;
    double first = strip.height(piece.a), last = strip.height(piece.b);
    if (piece.a < strip.apex && piece.b > strip.apex) return false;
    if (sign < 0) std::swap(first, last);
    pieces.push_back({y, to, first, last});
    return true;
  }
};

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

/// n points have an error of 2 ρ^(−n) for 1/r from `gap` sides beside the interval on.
int lines_for(double half, double side, double tolerance) {
  if (half == 0) return 1;
  const double z = 1 + gap * side / half, ratio = z + std::sqrt(z * z - 1);
  return static_cast<int>(std::ceil(std::log(2 / tolerance) / std::log(ratio)));
}

/// The heights of a piece change by `change` from its middle to its ends. What it holds at some
/// place along, as the field across is smooth, has parts of degree m in that place of
/// change^m/(3 (gap side)^(m−1)) at the most, beside its height.
int densities_for(double change, double mean_height, double side, double tolerance) {
  double part = change / (3 * mean_height);
  int degree = 1;
  do {
    part *= change / (gap * side);
    ++degree;
  } while (part > 0.25 * tolerance && degree <= most_densities);
  return degree;
}

}  // namespace

bool find_stack_parts(std::span<const StripPiece> pieces, double side, double tolerance,
                      const StripPoints& points, fmm::SharedParts& shared) {
  Stack stack;
  constexpr double as_same = 1e-2;  // of the tolerance
  if (!stack.fill(pieces, side, as_same * tolerance)) return false;
  double low = stack.pieces[0].at, high = low, change = 0, heights = 0, tallest = 0;
  for (const StackedPiece& p : stack.pieces) {
    const double height = std::max(p.first, p.last);
    low = std::min({low, p.at, p.at + p.to * height});
    high = std::max({high, p.at, p.at + p.to * height});
    change = std::max(change, 0.5 * std::abs(p.last - p.first));
    tallest = std::max(tallest, height);
    heights += 0.5 * (p.first + p.last);
  }
  const auto n = static_cast<double>(pieces.size());
  const int lines = lines_for(0.5 * (high - low), side, tolerance),
            densities = densities_for(change, heights / n, side, tolerance);
  if (lines > most_lines || densities > most_densities || n < least_saving * lines * densities)
    return false;

  // A part: a line with a density.
  const ChebyshevPoints across(low, high, lines);
  double of_density[most_densities], of_line[most_lines];
  const StripRule& along = strip_rule(
      std::min(points.along(side, stack.length) + densities, StripPoints::most_along), 1);
  shared.parts = lines * densities;
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
  const StripRule& rule = strip_rule(densities + 1, points.across(side, tallest));
  for (std::size_t j = 0; j < pieces.size(); ++j) {
    const StackedPiece& p = stack.pieces[j];
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
