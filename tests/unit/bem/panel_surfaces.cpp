#include "fmbem/bem/precond/panel_surfaces.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "tests/unit/catch.hpp"

namespace fmbem::test::panel_surfaces_tests {

TEST_CASE("panels by surface are all panels, each with the regions on both of its sides") {
  const int n_regions = GENERATE(1, 2, 4);
  std::mt19937 random(2);
  std::uniform_int_distribution<int> any(0, n_regions - 1);
  std::vector<int> inside(200), outside(200);
  for (int& region : inside) region = any(random);
  for (int& region : outside) region = any(random);
  const PanelSurfaces surfaces(inside, outside);
  REQUIRE(surfaces.size() == static_cast<std::size_t>(n_regions * n_regions));
  CHECK(std::is_sorted(surfaces.sides.begin(), surfaces.sides.end()));
  CHECK(surfaces.of.empty() == (surfaces.size() == 1));
  std::size_t panels = 0;
  for (std::size_t s = 0; s < surfaces.size(); ++s) {
    const auto some = surfaces.panels_of(s);
    panels += some.size();
    CHECK(std::adjacent_find(some.begin(), some.end(), std::greater_equal<>()) == some.end());
    for (const std::int32_t i : some) {
      CHECK(surfaces.surface_of(i) == s);
      CHECK(surfaces.sides[s].inside == inside[i]);
      CHECK(surfaces.sides[s].outside == outside[i]);
    }
  }
  CHECK(panels == inside.size());
}

}  // namespace fmbem::test::panel_surfaces_tests
