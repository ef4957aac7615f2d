// Closed forms of times, beside what trees of such points count.
#include "fmbem/fmm/choice/foreseen.hpp"

#include <algorithm>
#include <vector>

#include "fmbem/fmm/lists/near_lists.hpp"
#include "fmbem/fmm/lists/treecode_walk.hpp"
#include "fmbem/fmm/tree/octree.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::foreseen_tests {

namespace {

using Points = std::vector<Vec3d>;

struct Shape {
  Points points;
  double branching;
};

/// In a volume, on a surface and on a line that are planes of the root's boxes.
Shape shape(int dimension, std::size_t n) {
  Points points = cube_points(n, 3);
  for (Vec3d& x : points)
    for (int axis = dimension; axis < 3; ++axis) x[axis] = 0.3;
  return {points, static_cast<double>(1 << dimension)};
}

struct Tree {
  Tree(const Points& y, const Points& x, int max_leaf)
      : sources(fmm::sort_points(y, 1, root)),
        targets(fmm::sort_points(x, 1, root)),
        octree(fmm::build_octree(root, sources, targets, max_leaf)) {}

  Cube root{{0, 0, 0}, 1};
  fmm::SortedPoints sources, targets;
  fmm::Octree octree;
};

}  // namespace

TEST_CASE("closed forms know the work of treecodes to a factor of two") {
  const int dimension = GENERATE(1, 2, 3), leaf = GENERATE(24, 64);
  const double theta = GENERATE(0.5, 0.7);
  CAPTURE(dimension, leaf, theta);
  const auto [points, branching] = shape(dimension, 100'000);
  const Tree tree(points, points, leaf);
  const fmm::TreecodeWork work =
      fmm::treecode_work(tree.octree, fmm::leaves_with_targets(tree.octree), theta, fmm::endless);
  const fmm::EvenCloud cloud{1e5, 1e5, branching};
  const auto foreseen = [&](const fmm::HybridCosts& costs) {
    return fmm::foreseen_treecode_seconds(costs, cloud, theta, leaf);
  };
  const double boxes = foreseen({.m2p_target = 1}) / static_cast<double>(work.m2p_pairs),
               pairs = foreseen({.pair = 1}) / static_cast<double>(work.p2p_pairs);
  CHECK(boxes > 0.5);
  CHECK(boxes < 2);
  CHECK(pairs > 0.5);
  CHECK(pairs < 2);
  // A leaf's targets take a warp.
  CHECK(fmm::foreseen_treecode_seconds({.m2p_target = 1, .lanes = 64}, {1e5, 1, branching}, theta,
                                       leaf) ==
        64 * fmm::foreseen_treecode_seconds({.m2p_target = 1}, {1e5, 1, branching}, theta, leaf));
}

TEST_CASE("closed forms know the parents of few targets of an FMM to a factor of two") {
  const int dimension = GENERATE(1, 2, 3);
  const std::size_t targets = GENERATE(std::size_t{10}, std::size_t{300}, std::size_t{100'000});
  CAPTURE(dimension, targets);
  const auto [points, branching] = shape(dimension, 100'000);
  const Points some(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(targets));
  const Tree tree(points, some, 40);
  const auto parents =
      std::count_if(tree.octree.boxes.begin(), tree.octree.boxes.end(),
                    [](const fmm::Box& box) { return !box.is_leaf && box.targets.size() > 0; });
  const double foreseen =
      fmm::foreseen_fmm_seconds({.parent = 1}, {1e5, static_cast<double>(targets), branching}, 40);
  CHECK(foreseen > 0.5 * static_cast<double>(parents));
  CHECK(foreseen < 2 * static_cast<double>(parents));
}

}  // namespace fmbem::test::foreseen_tests
