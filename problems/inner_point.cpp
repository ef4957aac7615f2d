#include "fmbem/problems/inner_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// Candidates along each axis.
constexpr int along = 10;

std::pair<Vec3d, Vec3d> box_of(const Panels& panels) {
  Vec3d low = panels.vertices.front(), high = low;
  for (const Vec3d& v : panels.vertices)
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], v[axis]);
      high[axis] = std::max(high[axis], v[axis]);
    }
  return {low, high};
}

double distance_to(const Panels& panels, Vec3d x) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < panels.size(); ++i)
    least = std::min(least, norm(panels.centroid(i) - x));
  return least;
}

/// The double layer of the density 1 is −1 inside and 0 outside.
bool is_inside(const Panels& panels, Vec3d x) {
  double sum = 0;
  for (std::size_t i = 0; i < panels.size(); ++i)
    sum += triangle_double_layer(panels.triangle(i), x);
  return sum < -0.5;
}

}  // namespace

Vec3d inner_point(const Panels& panels) {
  const auto box = box_of(panels);
  const Vec3d low = box.first, high = box.second;
  std::vector<std::pair<double, Vec3d>> candidates(along * along * along);
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    const Vec3d step = (high - low) / along;
    const auto place = [&](std::size_t index) { return double(index % along) + 0.5; };
    const Vec3d x = low + Vec3d{step.x * place(k), step.y * place(k / along),
                                step.z * place(k / along / along)};
    candidates[k] = {distance_to(panels, x), x};
  }
  auto by_distance = candidates;
  std::stable_sort(by_distance.begin(), by_distance.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  double enough = -1;  // nothing is inside
  for (const auto& [distance, x] : by_distance) {
    if (!is_inside(panels, x)) continue;
    enough = 0.8 * distance;
    break;
  }
  // Finer meshes of the same surface are to have the same point: so it is the first of those that
  // are about as good, and goes aside by a power of two.
  constexpr Vec3d aside{0.48, 0.6, 0.64};
  for (const auto& [distance, x] : candidates)
    if (enough > 0 && distance >= enough && is_inside(panels, x))
      return x + 0.5 * std::exp2(std::floor(std::log2(distance))) * aside;
  throw InputError(
      "there is no room for a point charge inside the surface: use another --rhs, such as one");
}

}  // namespace fmbem
