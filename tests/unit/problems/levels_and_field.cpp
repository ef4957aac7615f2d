#include <cmath>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/capacitance_levels.hpp"
#include "fmbem/problems/conductor_field.hpp"
#include "fmbem/solvers/petsc.hpp"
#include "fmbem/solvers/petsc_session.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::levels_and_field_tests {

namespace {

class TwoRanks final : public Ranks {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  void sum(std::span<double>) const override {}
  void sum(std::span<std::int64_t>) const override {}
  void max(std::span<double>) const override {}
  void max(std::span<std::int64_t>) const override {}
};

}  // namespace

TEST_CASE("up to two coarser levels come before the finest and give the estimate") {
  std::vector<int> asked;
  const auto mesh_of = [&](int level) {
    asked.push_back(level);
    return cube(2 << level);
  };
  const CapacitanceOfLevels result = solve_capacitance_levels(mesh_of, 3, {});
  CHECK(asked == std::vector<int>{3, 1, 2});
  CHECK(result.mesh.triangles.size() == cube(16).triangles.size());
  REQUIRE(result.coarser.size() == 2);
  for (int k = 0; k < 2; ++k) {
    const CoarserLevel& level = result.coarser[k];
    CHECK(level.panels == cube(4 << k).triangles.size());
    CHECK(level.solution.maxwell.values == solve_capacitance(cube(4 << k), {}).maxwell.values);
    CHECK(level.solution.solves[0].history.size() > 1);
    CHECK(level.solution.sigma.empty());
  }
  CHECK(result.converged);
  REQUIRE(result.estimate);
  CHECK(result.estimate->convergence.observed);
  CHECK(result.estimate->extrapolated(0, 0) / natural_capacitance(1) ==
        Approx(0.6606782).epsilon(1e-3));
  CHECK(std::abs(result.solution.maxwell(0, 0) / natural_capacitance(1) - 0.6606782) <
        result.error.maxwell(0, 0) / natural_capacitance(1));
}

TEST_CASE("two levels assume the highest order of closed or open bodies, one gives no estimate") {
  const auto order_of = [](const std::function<SurfaceMesh(int)>& mesh_of) {
    return solve_capacitance_levels(mesh_of, 1, {}).estimate.value().convergence.order;
  };
  CHECK(order_of([](int level) { return cube(2 << level); }) == 2);
  CHECK(order_of([](int level) { return plate(4 << level); }) == 1);
  CHECK_FALSE(solve_capacitance_levels([](int) { return sphere(1); }, 0, {}).estimate);
}

TEST_CASE("there is no estimate where a level did not converge", "[long]") {
  ConductorOptions options;
  options.op.kind = OperatorOptions::Choice::fmm;
  options.solver.tolerance = 1e-10;
  const auto mesh_of = [](int level) { return cube(12 << level); };
  start_petsc();
  PetscOptionsSetValue(nullptr, "-ksp_max_it", "1");
  const CapacitanceOfLevels result = solve_capacitance_levels(mesh_of, 1, options);
  PetscOptionsClearValue(nullptr, "-ksp_max_it");
  CHECK_FALSE(result.converged);
  CHECK_FALSE(result.estimate);
}

TEST_CASE("levels are refused before anything is solved") {
  const auto never = [](int) -> SurfaceMesh { throw std::logic_error("asked for a mesh"); };
  CHECK_THROWS_AS(solve_capacitance_levels(never, -1, {}), InputError);
  ConductorOptions dense;
  dense.op.kind = OperatorOptions::Choice::dense;
  int asked = 0;
  const auto large = [&](int) { return ++asked, sphere(7); };
  CHECK_THROWS_AS(solve_capacitance_levels(large, 2, dense), InputError);
  CHECK(asked == 1);
}

TEST_CASE("fields of conductors are in volts per metre whatever the mesh's unit") {
  SurfaceMesh mesh = sphere(3);
  mesh.scale_to_m = 1e-3;
  const ConductorSolution solution = solve_conductors(mesh, {}, {{1}, {-2}});
  const std::vector<Vec3d> points{{2, 0, 0}, {0, 3, 0}};
  const Field in_length = evaluate_field(solution.panels, solution.sigma[1], points);
  const Field field = conductor_field(solution, 1, points);
  CHECK(field.potential == in_length.potential);
  CHECK(field.potential[0] == Approx(-2 / 2.0).epsilon(0.01));
  CHECK(field.e[0].x == in_length.e[0].x / 1e-3);
  CHECK(field.e[0].x == Approx(-2 / 4.0 * 1e3).epsilon(0.01));
  CHECK(conductor_field(solution, 0, points).e[1].y == Approx(1 / 9.0 * 1e3).epsilon(0.01));
  CHECK_THROWS_AS(conductor_field(solution, 2, points), InputError);
}

TEST_CASE("the gradient of a conductor's field is in volts per square metre, charges included") {
  SurfaceMesh mesh = sphere(2);
  mesh.scale_to_m = 1e-3;
  ConductorOptions options;
  options.applied = {.uniform = {1, 2, 3}, .charges = {{{0.3, 2, 0.5}, 1e-13, 2}}};
  const ConductorSolution solution = solve_conductors(mesh, options, {{1}});
  const Vec3d x{1.2, 1.1, -0.4};
  const Symmetric3d gradient =
      conductor_field(solution, 0, std::vector<Vec3d>{x}, {.gradient_of_e = true}).gradient_of_e[0];
  const double size = std::sqrt(norm2(gradient)), step = 1e-3;
  CHECK(std::abs(gradient.xx + gradient.yy + gradient.zz) < 1e-12 * size);
  for (int axis = 0; axis < 3; ++axis) {
    std::vector<Vec3d> points(4, x);
    for (int k = 0; k < 4; ++k) points[k][axis] += (k < 2 ? 1 : 2) * (k % 2 ? -step : step);
    const std::vector<Vec3d> e = conductor_field(solution, 0, points).e;
    // Of fourth order; a step is of 1e-6 m.
    const Vec3d slope = (8.0 * (e[0] - e[1]) - (e[2] - e[3])) / (12 * step * solution.scale_to_m);
    for (int i = 0; i < 3; ++i) CHECK(std::abs(slope[i] - gradient(axis, i)) < 1e-8 * size);
  }
}

TEST_CASE("several ranks are refused for now") {
  CHECK(one_rank().rank() == 0);
  CHECK(one_rank().size() == 1);
  const TwoRanks two;
  ConductorOptions options;
  options.op.ranks = &two;
  CHECK_THROWS_AS(solve_capacitance(sphere(0), options), InputError);
  options = {};
  options.solver.ranks = &two;
  CHECK_THROWS_AS(solve_capacitance(sphere(0), options), InputError);
}

}  // namespace fmbem::test::levels_and_field_tests
