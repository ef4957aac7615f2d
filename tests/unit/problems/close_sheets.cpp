#include <cmath>
#include <cstddef>
#include <vector>

#include "fmbem/problems/solve_conductors.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/extended_dense.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::close_sheets_tests {

namespace {

/// Two unit squares of k x k cells.
SurfaceMesh plates(int k, double gap) {
  SurfaceMesh mesh;
  add_grid(mesh, add_group(mesh, "lower"), k, {0, 0, 0}, {1, 0, 0}, {0, 1, 0});
  add_grid(mesh, add_group(mesh, "upper"), k, {0, 0, gap}, {1, 0, 0}, {0, 1, 0});
  return mesh;
}

}  // namespace

TEST_CASE("sheets close to each other are solved to the tolerance, by either operator") {
  struct Case {
    double gap, tolerance;
    OperatorOptions op;
  };
  using Choice = OperatorOptions::Choice;
  for (const Case& c : {Case{1e-3, 1e-8, {.kind = Choice::fmm, .tolerance = 0}},
                        Case{1e-5, 1e-8, {.kind = Choice::dense, .tolerance = 0}},
                        Case{1e-5, 1e-8, {.kind = Choice::fmm, .tolerance = 0}},
                        Case{1e-7, 1e-6, {.kind = Choice::fmm, .tolerance = 0}}}) {
    CAPTURE(c.gap, c.tolerance, static_cast<int>(c.op.kind));
    const SurfaceMesh mesh = plates(8, c.gap);
    ConductorOptions options;
    options.op = c.op;
    options.op.max_leaf = 10;
    options.solver.tolerance = c.tolerance;
    const ConductorSolution solution = solve_conductors(mesh, options, {{1, 0}});
    const SolveReport& report = solution.solves.front();
    CHECK(report.converged);
    CHECK(report.true_residual <= c.tolerance);
    CHECK(report.condition > 0.2 / c.gap);
    CHECK(report.condition < 2 / c.gap);
    const Panels& panels = solution.panels;
    std::vector<Real> potential;
    for (std::size_t i = 0; i < panels.size(); ++i)
      potential.push_back(panels.centroid(i).z < 0 ? 1 : 0);  // less the origin
    const std::vector<Real> exact = solve_in_long_double(panels, potential);
    Real charge = 0, exact_charge = 0;
    for (std::size_t i = 0; i < panels.size(); ++i) {
      if (potential[i] == 0) continue;
      charge += panels.area(i) * solution.sigma[0][i];
      exact_charge += panels.area(i) * exact[i];
    }
    CHECK(std::fabs(double(charge / exact_charge - 1)) < c.tolerance * report.condition);
  }
}

TEST_CASE(
    "a tolerance that no product is accurate enough for is not met, and what could be is told",
    "[long][accuracy]") {
  ConductorOptions options;
  options.op.kind = OperatorOptions::Choice::fmm;
  options.op.max_leaf = 10;
  options.solver.tolerance = 1e-10;
  const ConductorSolution solution = solve_conductors(plates(8, 1e-8), options, {{1, 0}});
  const SolveReport& report = solution.solves.front();
  CHECK_FALSE(report.converged);
  CHECK(report.attainable_residual > 1e-10);
  // By ‖A|x|‖, which ‖A‖‖x‖ bounds.
  CHECK(report.attainable_residual <= 1e-13 * report.condition);
  CHECK(report.attainable_residual >= 0.5e-13 * report.condition);
}

}  // namespace fmbem::test::close_sheets_tests
