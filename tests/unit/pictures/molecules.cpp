#include "fmbem/pictures/make_scene.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::molecule_tests {

namespace {

Result octahedron_with(const std::string& unit) {
  Result result;
  result.surface = sphere(0);
  const std::vector<double> values(result.surface.triangles.size(), 0.5);
  result.arrays = {{Quantity::potential, "potential", unit, "", 1, values}};
  return result;
}

}  // namespace

TEST_CASE("edges of meshes are drawn but on molecules") {
  CHECK(make_scene(octahedron_with("V"), {}, "a.vtu").lines.front().paths.size() == 12);
  CHECK(make_scene(octahedron_with("kT/e"), {}, "a.vtu").lines.front().paths.empty());
}

TEST_CASE("a range is for potentials of molecules") {
  const PictureOptions two{.range = 2};
  const Scene scene = make_scene(octahedron_with("kT/e"), two, "a.vtu");
  CHECK(scene.scale.min == -2);
  CHECK(scene.scale.max == 2);
  CHECK_THROWS_WITH(make_scene(octahedron_with("V"), two, "a.vtu"),
                    contains("in kT/e, and the potential of a.vtu is none"));
}

}  // namespace fmbem::test::molecule_tests
