#include <cmath>
#include <limits>

#include "fmbem/pictures/make_scene.hpp"
#include "tests/unit/catch.hpp"

namespace fmbem::test::missing_value_tests {

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN(),
                 infinite = std::numeric_limits<double>::infinity();

/// A plane of 4 x 3 points with potentials, and fields along x.
Result plane_of(const std::vector<double>& potentials, const std::vector<double>& fields) {
  Result plane;
  plane.n = {4, 3, 1};
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 4; ++i) plane.points.push_back({double(i), double(j), 0});
  std::vector<double> e;
  for (const double field : fields) e.insert(e.end(), {field, 0, 0});
  plane.arrays = {{Quantity::potential, "potential", "V", "", 1, potentials},
                  {Quantity::field, "E", "V/m", "", 3, e}};
  return plane;
}

/// Three panels in a row.
Result surface_of(const std::vector<double>& values) {
  Result result;
  result.surface.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {2, 0, 1}};
  result.surface.triangles = {{0, 1, 2}, {1, 3, 2}, {1, 4, 3}};
  result.surface.group_of = {0, 0, 0};
  result.surface.groups.emplace_back();
  result.arrays = {{Quantity::charge, "charge density", "C/m^2", "", 1, values}};
  return result;
}

}  // namespace

TEST_CASE("a field that is infinite has the largest value beside it") {
  // The last point is in metal, where nothing is solved for: it has a mean, and gives nothing.
  const Result plane =
      plane_of({1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, none}, {9, 2, 1, 1, 3, none, 1, 1, 1, 1, 1, none});
  PictureOptions options;
  options.quantity = Quantity::field;
  const Scene scene = make_scene(plane, options, "plane.vtu");
  CHECK(scene.values[5] == 9);
  CHECK(scene.values[11] == 1);
  CHECK(scene.scale.fraction(scene.values[5]) == 1);
  CHECK(scene.notice.empty());
}

TEST_CASE("a field with no finite value beside it has the highest colour") {
  const Result plane = plane_of(std::vector<double>(12, 1.0),
                                {none, none, 1, 2, none, none, 1, 2, none, none, 1, 2});
  PictureOptions options;
  options.quantity = Quantity::field;
  const Scene scene = make_scene(plane, options, "plane.vtu");
  CHECK(scene.scale.fraction(scene.values[4]) == 1);
  CHECK(scene.values[5] == 1);
}

TEST_CASE("panels and points without a value are counted") {
  CHECK(make_scene(surface_of({1, none, infinite}), {}, "a.vtu").notice ==
        "without a value, and grey: 2 of 3 panels");
  CHECK(make_scene(surface_of({1, 2, 3}), {}, "a.vtu").notice.empty());
  Result cloud;
  cloud.points = {{0, 0, 0}, {1, 0, 0}};
  cloud.arrays = {{Quantity::potential, "potential", "", "", 1, {1, infinite}}};
  CHECK(make_scene(cloud, {}, "a.vtp").notice == "without a value, and grey: 1 of 2 points");
}

TEST_CASE("no colour of a table is that of no value, in any light") {
  for (const Scale::Kind kind :
       {Scale::Kind::linear, Scale::Kind::symmetric, Scale::Kind::molecular}) {
    Scene scene;
    scene.scale.kind = kind;
    for (const Colour& colour : colour_table(scene))
      for (const double light : {ambient_light, 0.8, 0.9, 1.0}) {
        double nearest = 1;
        for (const double other : {ambient_light, 0.8, 0.9, 1.0}) {
          double apart = 0;
          for (std::size_t k = 0; k < 3; ++k)
            apart = std::max(apart, std::abs(light * colour[k] - other * no_value_colour[k]));
          nearest = std::min(nearest, apart);
        }
        CHECK(nearest > 0.1);
      }
  }
}

}  // namespace fmbem::test::missing_value_tests
