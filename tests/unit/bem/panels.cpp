#include "fmbem/bem/geometry/panels.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/unit/catch.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::panels_tests {

TEST_CASE("a panel is the triangle of the mesh about the origin of all") {
  const SurfaceMesh mesh = sphere(3, 2, {3, 1, -1});
  const Panels panels = make_panels(mesh);
  REQUIRE(panels.size() == mesh.triangles.size());
  const LargeVector<Triangle> all = triangles_of(panels);
  REQUIRE(all.size() == panels.size());
  int wrong = 0;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const auto& [a, b, c] = mesh.triangles[panels.input_index[i]];
    const Triangle expected =
        make_triangle(mesh.vertices[a] - panels.origin, mesh.vertices[b] - panels.origin,
                      mesh.vertices[c] - panels.origin);
    const Triangle t = panels.triangle(i);
    wrong += std::memcmp(&t, &expected, sizeof t) != 0;
    wrong += std::memcmp(&all[i], &expected, sizeof t) != 0;
    wrong += panels.centroid(i) != expected.centroid || panels.area(i) != expected.area;
    for (int k = 0; k < 3; ++k) wrong += panels.vertex(i, k) != expected.vertex[k];
  }
  CHECK(wrong == 0);
  CHECK(std::is_sorted(panels.key.begin(), panels.key.end()));
}

TEST_CASE("areas of panels are found once, for all copies, and chosen ones are some of them") {
  const Panels panels = make_panels(sphere(2)), copy = panels;
  const Areas all = areas_of(panels);
  REQUIRE(all->size() == panels.size());
  int wrong = 0;
  for (std::size_t i = 0; i < panels.size(); ++i) wrong += (*all)[i] != panels.triangle(i).area;
  CHECK(wrong == 0);
  CHECK(areas_of(copy) == all);
  const std::vector<std::int32_t> chosen{7, 3};
  const Areas some = areas_of(copy, chosen);
  REQUIRE(some->size() == 2);
  CHECK((*some)[0] == (*all)[7]);
  CHECK((*some)[1] == (*all)[3]);
}

TEST_CASE("panels at one place stand in the order of the mesh") {
  SurfaceMesh mesh = plate(3);
  const std::size_t n = mesh.triangles.size();
  for (int copy = 0; copy < 4; ++copy)
    for (std::size_t i = 0; i < n; ++i) {
      const auto [a, b, c] = mesh.triangles[i];
      add_triangle(mesh, a, b, c, 0);
    }
  const Panels panels = make_panels(mesh);
  int ties = 0, wrong = 0;
  for (std::size_t i = 1; i < panels.size(); ++i) {
    if (panels.key[i] != panels.key[i - 1]) continue;
    ++ties;
    wrong += panels.input_index[i] < panels.input_index[i - 1];
  }
  CHECK(ties >= 4 * static_cast<int>(n));
  CHECK(wrong == 0);
}

}  // namespace fmbem::test::panels_tests
