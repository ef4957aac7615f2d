#include "fmbem/fmm/choice/apart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/lists/hybrid_lists.hpp"

namespace fmbem::fmm {
namespace {

/// Two boxes, in their sides: the gap between them, and how far the corner of one is from the
/// centre of the other at least. Sources in corners are so far from their box's centre.
struct FacingBoxes {
  double gap, target_at;
};
constexpr double source_at = 0.8660254;
constexpr FacingBoxes nearer{1, 1.6583124}, farther{2, 2.5980762};

/// The degrees beyond p of exp(−κ|x − y|)/|x − y|, all with one sign, over that of the gap: the
/// terms (2n+1) κ i_n(κ|y|) k_n(κ|x|), as of yukawa_translations.hpp; κ is at most 300.
double tail(int p, double kappa, const FacingBoxes& boxes) {
  constexpr int most = 400;
  const double y = kappa * source_at, x = kappa * boxes.target_at;
  double h = 1, next_h = 1 + x;  // times e^{x}
  double power = std::exp(y - x + kappa * boxes.gap) * boxes.gap / boxes.target_at, sum = 0;
  for (int n = 0; n < most; ++n) {
    if (n > p) {
      double f = 1, term = 1;
      for (int k = 1; term > 1e-17 * f; ++k) f += term *= 0.5 * y * y / (k * (2.0 * (n + k) + 1));
      const double of_degree = power * f * std::exp(-y) * h;
      sum += of_degree;
      if (of_degree < 1e-3 * sum) break;
    }
    const double after = next_h + x * x * h / ((2.0 * n + 1) * (2.0 * n + 3));
    h = next_h;
    next_h = after;
    power *= source_at / boxes.target_at;
  }
  return sum;
}

double largest_of(std::span<const Vec3d> points) {
  double largest = 0;
  for (const Vec3d& x : points)
    largest = std::max({largest, std::abs(x.x), std::abs(x.y), std::abs(x.z)});
  return largest;
}

}  // namespace

std::vector<Vec3d> every(std::size_t stride, std::span<const Vec3d> points) {
  std::vector<Vec3d> some;
  for (std::size_t i = 0; i < points.size(); i += stride) some.push_back(points[i]);
  return some;
}

double nearest_pair(double kappa, std::span<const Vec3d> sources, std::span<const Vec3d> targets) {
  if (kappa == 0) return 0;
  const double unit = std::max(largest_of(sources), largest_of(targets));  // squares are in range
  double nearest = std::numeric_limits<double>::infinity();
  CoordinateBounds from = CoordinateBounds::of_nothing(), to = from;
  for (const Vec3d& y : sources) from.add(y);
  for (const Vec3d& x : targets) {
    to.add(x);
    for (const Vec3d& y : sources) nearest = std::min(nearest, norm2((x - y) / unit));
  }
  bool overlap = true;
  for (int axis = 0; axis < 3; ++axis)
    overlap = overlap && from.low[axis] <= to.high[axis] && to.low[axis] <= from.high[axis];
  nearest = unit > 0 ? unit * std::sqrt(nearest) : 0;
  return kappa * nearest < (overlap ? 1 : 0.1) ? 0 : nearest;
}

double nearest_other(double kappa, std::span<const Vec3d> sample, std::size_t points) {
  if (kappa == 0 || points < 2) return 0;
  CoordinateBounds bounds = CoordinateBounds::of_nothing();
  for (const Vec3d& x : sample) bounds.add(x);
  const Vec3d extent = bounds.high - bounds.low;
  const double side = std::max({extent.x, extent.y, extent.z}),
               of_lattice = side / (std::cbrt(double(points)) - 1);
  if (kappa * of_lattice < 1) return 0;
  double nearest = of_lattice / side;  // squares are in range
  for (std::size_t i = 0; i < sample.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (const double r = norm((sample[i] - sample[j]) / side); r > 0)
        nearest = std::min(nearest, r);
  nearest *= side;
  constexpr double all_are_zero = 750;  // e^{−κr} in double precision
  return kappa * nearest < 1 || kappa * nearest > all_are_zero ? 0 : nearest;
}

int order_apart(int order, double kappa, double nearest, double largest_side,
                std::optional<double> theta) {
  if (kappa == 0 || nearest == 0) return order;
  // Boxes of one size with (r_t + r_s)/R = θ, corner to corner.
  const double at_theta = source_at * (2 / theta.value_or(1) - 1);
  const FacingBoxes boxes_of_theta{at_theta - source_at, at_theta};
  const auto facing = theta ? std::vector{boxes_of_theta} : std::vector{nearer, farther};
  const double wanted = tail(order, 0, facing.front());
  for (double side = largest_side; kappa * side > 0.1; side *= 0.5)
    for (const FacingBoxes& boxes : facing) {
      // Points in the boxes are at most so far apart (two sides more, or nearly so across; or two
      // diagonals).
      if (nearest > (boxes.gap + (theta ? 4 * source_at : 2.5)) * side) continue;
      // The tail is that for points in the nearest corners, wherever in the boxes they are, and
      // results are as pairs at `nearest`, which may be farther or nearer.
      const double least = wanted * std::exp(kappa * (boxes.gap * side - nearest));
      if (least > 1) continue;
      if (kappa * side > 300) return highest_order + 1;
      while (order <= highest_order && tail(order, kappa * side, boxes) > least) ++order;
    }
  return order;
}

int order_across(const PlanOptions& options, bool sources_are_targets, const Cloud& cloud,
                 double nearest, double root_side) {
  if (options.order) return *options.order;
  PlanOptions asked = options;
  asked.gradient = asked.gradient || nearest > 0;  // potentials need as high orders there
  const int of_laplace = order_for(asked, sources_are_targets, cloud);
  const double theta = options.theta.value_or(default_theta(options.method));
  const bool by_theta = options.method == Method::treecode ||
                        (options.method == Method::hybrid && theta < theta_of_blocks);
  return by_theta ? order_apart(of_laplace, options.kappa, nearest, root_side / 2, theta)
                  : order_apart(of_laplace, options.kappa, nearest, root_side / 4);
}

}  // namespace fmbem::fmm
