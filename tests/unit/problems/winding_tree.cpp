#include "fmbem/problems/winding_tree.hpp"

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "fmbem/problems/enclosures.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::winding_tree_tests {

TEST_CASE("a closed surface encloses the points that it winds round") {
  const Panels panels = make_panels(sphere(5, 2));
  std::vector<std::int32_t> all(panels.size());
  std::iota(all.begin(), all.end(), 0);
  const WindingTree tree(panels, all);
  int inside = 0;
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  constexpr int directions = sanitized ? 40 : 200;
  for (int k = 0; k < directions; ++k) {
    const Vec3d direction{normal(random), normal(random), normal(random)};
    const Vec3d along = direction / norm(direction);
    for (const double radius : {0.0, 0.5, 1.9, 1.99, 2.01, 2.1, 5.0, 500.0}) {
      const Vec3d x = radius * along - panels.origin;
      const bool encloses = tree.encloses(x);
      CHECK(encloses == (winding_number(panels, all, x) > 0.5));
      inside += encloses;
    }
  }
  CHECK(inside == directions * 4);
  // As close to a panel as rounding allows.
  for (std::size_t i = 0; i < panels.size(); i += 100) {
    const Triangle t = panels.triangle(i);
    CHECK(tree.encloses(t.centroid - 1e-9 * t.normal));
    CHECK_FALSE(tree.encloses(t.centroid + 1e-9 * t.normal));
  }
}

TEST_CASE("a few panels enclose what they wind round") {
  const Panels panels = make_panels(sphere(0, 1));
  std::vector<std::int32_t> all(panels.size());
  std::iota(all.begin(), all.end(), 0);
  const WindingTree tree(panels, all);
  CHECK(tree.encloses(Vec3d{0.1, 0.2, 0.3} - panels.origin));
  CHECK_FALSE(tree.encloses(Vec3d{0.5, 0.5, 0.5} - panels.origin));
}

}  // namespace fmbem::test::winding_tree_tests
