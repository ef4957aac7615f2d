#include "fmbem/problems/inner_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

/// Along each axis.
constexpr int candidates = 10;

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
  const CoordinateBounds box =
      coordinate_bounds(static_cast<std::int64_t>(panels.vertices.size()),
                        [&](std::int64_t v) { return panels.vertices[v]; });
  std::vector<Vec3d> place(candidates * candidates * candidates);
  std::vector<double> distance(place.size());
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < place.size(); ++k) {
    const Vec3d step = (box.high - box.low) / candidates;
    const auto at = [&](std::size_t index) { return double(index % candidates) + 0.5; };
    place[k] = box.low + Vec3d{step.x * at(k), step.y * at(k / candidates),
                               step.z * at(k / candidates / candidates)};
    distance[k] = distance_to(panels, place[k]);
  }
  std::vector<std::size_t> farthest_first(place.size());
  std::iota(farthest_first.begin(), farthest_first.end(), std::size_t{0});
  std::stable_sort(farthest_first.begin(), farthest_first.end(),
                   [&](std::size_t a, std::size_t b) { return distance[a] > distance[b]; });
  // Finer meshes of the same surface are to have the same point: so it is the first of those that
  // are about as good, and goes aside by a power of two.
  std::optional<std::size_t> best;
  double enough = 0;
  for (const std::size_t k : farthest_first) {
    if (distance[k] < enough) break;
    if ((best && k > *best) || !is_inside(panels, place[k])) continue;
    if (!best) enough = 0.8 * distance[k];
    best = k;
  }
  constexpr Vec3d aside{0.48, 0.6, 0.64};
  if (best) return place[*best] + 0.5 * std::exp2(std::floor(std::log2(distance[*best]))) * aside;
  throw InputError(
      "there is no room for a point charge inside the surface: use another --rhs, such as one");
}

}  // namespace fmbem
