#include "fmbem/bem/layer/edge_point.hpp"

#include <cmath>
#include <limits>

#include "fmbem/bem/geometry/strip.hpp"
#include "fmbem/bem/near/closed_hessian.hpp"

namespace fmbem {

Vec3d EdgePoint::add(const Triangle& t, double sigma, Vec3d x, double tolerance, Side side,
                     Symmetric3d* hessian) {
  const std::size_t first_ray = rays_.size();
  const double uncertainty = std::abs(sigma) * tolerance / height_of(t);
  Vec3d sum{};
  Symmetric3d second;
  for (int k = 0; k < 3; ++k) {
    const int next = (k + 1) % 3;
    const Vec3d to_first = t.vertex[k] - x, to_last = t.vertex[next] - x;
    const double first = dot(to_first, t.tangent[k]), last = dot(to_last, t.tangent[k]),
                 r_first = norm(to_first), r_last = norm(to_last),
                 distance = dot(r_first < r_last ? to_first : to_last, t.outward[k]);
    double of_line = 0, log_ratio = 0, of_cube = 0;
    if (std::abs(distance) <= tolerance && first <= tolerance && last >= -tolerance) {
      const auto add_ray = [&](double length, double sign) {
        if (length <= tolerance) return;
        log_ratio += std::log(2 * length);
        of_line -= sign / length;
        rays_.push_back(
            {sign * t.tangent[k], tolerance / length, sigma * t.outward[k], uncertainty});
      };
      add_ray(last, 1);
      add_ray(-first, -1);
    } else {
      const double d2 = distance * distance;
      const EdgeDerivatives edge(first, last, r_first, r_last, t.length[k], d2);
      log_ratio = edge_log_ratio(first, last, r_first, r_last, t.length[k], d2);
      of_line = edge.of_line;
      of_cube = edge.of_cube;
    }
    sum -= log_ratio * t.outward[k];
    if (hessian) second += edge_hessian(t, k, of_line, of_cube * distance, 0);
  }
  const std::size_t rays = rays_.size() - first_ray;
  if (rays < 2) {  // near a sliver's piece, but not the sliver
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    rays_.push_back({{}, 0, {nan, nan, nan}, 0});
  } else if (side != Side::mean) {
    const Vec3d a = rays_[first_ray].direction, b = rays_[first_ray + 1].direction;
    const double angle = std::atan2(norm(cross(a, b)), dot(a, b));  // of 2π, for ½n
    sum -= (side == Side::positive ? angle : -angle) * t.normal;
  }
  if (hessian) *hessian += sigma * inv_4pi * second;
  return sigma * inv_4pi * sum;
}

bool EdgePoint::is_finite() const {
  constexpr double rounding = 8 * std::numeric_limits<double>::epsilon();
  for (const Ray& ray : rays_) {
    Vec3d sum{};
    double uncertainty = 0;
    for (const Ray& other : rays_) {
      if (norm(other.direction - ray.direction) > 2 * (ray.angle + other.angle) + rounding)
        continue;
      sum += other.coefficient;
      uncertainty += other.uncertainty + rounding * norm(other.coefficient);
    }
    if (!(norm(sum) <= uncertainty)) return false;
  }
  return true;
}

}  // namespace fmbem
