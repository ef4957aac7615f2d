#include <thread>
#include <vector>

#include "fmbem/fmm/plan.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::shared_operators_tests {

TEST_CASE("plans that threads make at the same time give the bits that one alone gives",
          "[threads]") {
  const std::vector<Vec3d> points = cube_points(2000, 1);
  const std::vector<double> q = signed_charges(points.size(), 2);
  // Of a κ that no other plan of this process has: the first thread makes the operators.
  const auto evaluate = [&](std::vector<double>& potential) {
    potential.resize(points.size());
    const fmm::Plan plan(points, {.kappa = 0.7310585, .order = 5, .max_leaf = 20});
    plan.evaluate({.charges = q}, {.potential = potential});
  };
  std::vector<std::vector<double>> together(3);
  {
    std::vector<std::jthread> threads;
    for (std::vector<double>& potential : together)
      threads.emplace_back([&] { evaluate(potential); });
  }
  std::vector<double> alone;
  evaluate(alone);
  for (const std::vector<double>& potential : together) CHECK(potential == alone);
}

}  // namespace fmbem::test::shared_operators_tests
