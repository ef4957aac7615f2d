#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>

#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/pictures/make_scene.hpp"

namespace fmbem {
namespace {

/// More would hide each other, and make a page slow to turn.
constexpr std::size_t most_drawn = 20000;

/// All points, or a random part of them, in their order.
std::vector<std::size_t> chosen_points(std::size_t n) {
  std::vector<std::size_t> all(n), chosen;
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::mt19937_64 random(1);
  std::sample(all.begin(), all.end(), std::back_inserter(chosen), most_drawn, random);
  return chosen;
}

/// A fifth of the distance between as many points that fill a cube, and neither too small to be
/// seen nor so large that few points look like bodies.
double radius_of_points(const std::vector<Vec3d>& points, std::size_t drawn) {
  const CoordinateBounds box =
      coordinate_bounds(std::ssize(points), [&](std::int64_t i) { return points[std::size_t(i)]; });
  const Vec3d sides = box.high - box.low;
  const double side = std::max({sides.x, sides.y, sides.z});
  return side > 0 ? side * std::clamp(0.2 / std::cbrt(double(drawn)), 0.003, 0.02) : 1;
}

void add_octahedron(Scene& scene, Vec3d centre, double radius) {
  const int first = int(scene.points.size());
  for (int axis = 0; axis < 3; ++axis)
    for (const double sign : {1.0, -1.0}) {
      Vec3d corner = centre;
      corner[axis] += sign * radius;
      scene.points.push_back(corner);
    }
  for (const int x : {0, 1})
    for (const int y : {2, 3})
      for (const int z : {4, 5}) scene.triangles.push_back({first + x, first + y, first + z});
}

}  // namespace

Scene points_scene(const Result& result, const ResultArray& array) {
  const std::size_t n = result.points.size();
  const std::vector<std::size_t> drawn = chosen_points(n);
  const double radius = radius_of_points(result.points, drawn.size());
  Scene scene;
  for (const std::size_t i : drawn) {
    add_octahedron(scene, result.points[i], radius);
    scene.values.insert(scene.values.end(), 8, array.magnitude(i));
  }
  scene.weights.assign(scene.triangles.size(), 1.0);
  scene.view = view_of_bodies();
  scene.length_unit = result.length_unit;
  scene.has_silhouette = false;
  if (drawn.size() < n)
    scene.subtitle = std::to_string(drawn.size()) + " of " + counted(n, "point");
  return scene;
}

}  // namespace fmbem
