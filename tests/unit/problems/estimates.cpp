#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "fmbem/problems/capacitance_levels.hpp"
#include "fmbem/problems/charge_levels.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/closed_forms.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::estimates_tests {

namespace {

/// Adds the true errors of both forms over their estimates.
void add_ratios(const ClosedForm& form, int refine, std::vector<double>& ratios) {
  const CapacitanceOfLevels levels = solve_capacitance_levels(form.mesh, refine, {});
  REQUIRE(levels.estimate);
  const auto add = [&](const SquareMatrix& values, const SquareMatrix& error,
                       const SquareMatrix& exact) {
    const double unit = natural_capacitance(1);
    for (std::size_t k = 0; k < exact.values.size(); ++k)
      ratios.push_back(std::abs(values.values[k] - unit * exact.values[k]) / error.values[k]);
  };
  add(levels.solution.maxwell, levels.error.maxwell, form.exact);
  if (form.exact.n > 1)
    add(mutual_capacitance(levels.solution.maxwell), levels.error.mutual,
        mutual_capacitance(form.exact));
}

}  // namespace

TEST_CASE("closed forms are what other sources say") {
  CHECK(ellipsoid_capacitance(1, 1, 2) == Approx(1.31519072).epsilon(1e-8));
  CHECK(ellipsoid_capacitance(1, 1, 0.5) == Approx(0.82699334).epsilon(1e-8));
  CHECK(ellipsoid_capacitance(1, 1, 0) == Approx(2 / std::numbers::pi).epsilon(1e-12));
  const double picofarads = 1e12 * natural_capacitance(0.01);  // spheres of 1 and 2 cm
  const SquareMatrix spheres = scaled(two_spheres_exactly(1, 2, 5), picofarads);
  CHECK(spheres(0, 0) == Approx(1.230518).epsilon(1e-6));
  CHECK(spheres(1, 1) == Approx(2.431543).epsilon(1e-6));
  CHECK(spheres(0, 1) == Approx(-0.4945668).epsilon(1e-6));
  // A thin ring is a wire: π R/ln(8R/r), up to terms of (r/R)².
  CHECK(torus_capacitance(100, 1) ==
        Approx(100 * std::numbers::pi / std::log(800.0)).epsilon(5e-4));
  // Kirchhoff's formula with Shaw's term, of disks at ±½ V.
  const double gap = 0.01, l = std::log(16 * std::numbers::pi / gap), pi = std::numbers::pi;
  CHECK(disk_of_two(gap, -1) / 2 ==
        Approx(1 / (4 * gap) + (l - 1) / (4 * pi) + gap * (l * l - 2) / (16 * pi * pi))
            .epsilon(1e-6));
  // Far apart, each disk sees the other's charge Q as Q/d.
  CHECK(disk_of_two(100, 1) == Approx(2 / pi / (1 + 2 / pi / 100)).epsilon(1e-5));
}

TEST_CASE("estimates of errors hold on closed forms", "[long][accuracy]") {
  constexpr std::size_t most = 4200;  // panels; bench/estimates.cpp has all meshes of all bodies
  for (const int refine : {1, 2}) {
    std::vector<double> ratios;
    for (const ClosedForm& form : closed_forms()) {
      if (form.mesh(refine).triangles.size() > most) continue;
      const std::size_t before = ratios.size();
      add_ratios(form, refine, ratios);
      INFO(form.name << ", refined " << refine << " times");
      const double largest = *std::max_element(ratios.begin() + before, ratios.end());
      CHECK(largest <= 3);
      CHECK(largest > 0.1);  // else digits are lost that are true
    }
    const auto above =
        std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio > 1; });
    CHECK(above <= 0.05 * static_cast<double>(ratios.size()));
  }
}

TEST_CASE("charges at given voltages are those of the capacitances, and so are their estimates",
          "[long][cases]") {
  const std::vector<double> volts{2, -1, 0.5};
  ConductorOptions options;
  options.solver.tolerance = 1e-10;
  const SolveOnMesh solve = [&](const SurfaceMesh& mesh) {
    const auto n = std::ptrdiff_t(make_conductors(mesh, {}).size());
    return solve_conductors(mesh, options, {{volts.begin(), volts.begin() + n}});
  };
  for (const ClosedForm& form : closed_forms()) {
    if (form.mesh(2).triangles.size() > (sanitized ? 1600 : 3100)) continue;
    INFO(form.name);
    const ChargesOfLevels levels = solve_charge_levels(form.mesh, 2, options, solve);
    REQUIRE(levels.convergence);
    REQUIRE(levels.coarser.size() == 2);
    CHECK(levels.coarser[0].panels == form.mesh(0).triangles.size());
    CHECK(levels.coarser[0].solution.sigma.empty());
    const SquareMatrix maxwell = solve_capacitance(levels.mesh, options).maxwell;
    for (std::size_t i = 0; i < maxwell.n; ++i) {
      double charge = 0, exact = 0;
      for (std::size_t j = 0; j < maxwell.n; ++j) {
        charge += maxwell(i, j) * volts[j];
        exact += natural_capacitance(1) * form.exact(i, j) * volts[j];
      }
      CHECK(levels.charges[i] == Approx(charge).epsilon(1e-7));
      CHECK(std::abs(levels.charges[i] - exact) <= levels.error[i]);
      CHECK(levels.coarser[1].charges[i] != levels.charges[i]);
    }
  }
}

TEST_CASE("one level of charges has no estimate") {
  const ChargesOfLevels levels = solve_charge_levels(
      [](int) { return sphere(2); }, 0, {},
      [](const SurfaceMesh& mesh) { return solve_conductors(mesh, {}, {{1}}); });
  CHECK_FALSE(levels.convergence);
  CHECK(levels.coarser.empty());
  CHECK(levels.error.empty());
  CHECK(levels.charges[0] == Approx(natural_capacitance(1)).epsilon(0.04));
}

}  // namespace fmbem::test::estimates_tests
