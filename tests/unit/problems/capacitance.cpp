#include "fmbem/problems/capacitance.hpp"

#include <cmath>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/capacitance_error.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::capacitance_tests {

namespace {

SurfaceMesh three_spheres() {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "a", 1, {1, 1, 1});
  add_ellipsoid(mesh, "b", 1, {1, 1, 1}, {3, 0, 0});
  add_ellipsoid(mesh, "c", 1, {1, 1, 1}, {6, 0, 0});
  return mesh;
}

}  // namespace

TEST_CASE("panels are in Morton order and values find their way back") {
  const SurfaceMesh mesh = three_spheres();
  const Panels panels = make_panels(mesh, Processor::cpu, 8);
  REQUIRE(panels.size() == mesh.triangles.size());
  std::vector<double> index(panels.size());
  for (std::size_t k = 0; k < index.size(); ++k) index[k] = double(k);
  CHECK(panels.from_input_order(panels.to_input_order(index)) == index);
  for (std::size_t k = 0; k < panels.size(); ++k) {
    const auto& corners = mesh.triangles[panels.input_index[k]];
    CHECK(panels.triangle(k).vertex[0] + panels.origin == mesh.vertices[corners[0]]);
  }
  CHECK_THROWS_AS(panels.to_input_order(std::vector<double>(3)), InputError);
  CHECK_THROWS_AS(make_panels(SurfaceMesh{}), InputError);
}

TEST_CASE("conductors are groups, or several joined") {
  const SurfaceMesh mesh = three_spheres();
  CHECK(make_conductors(mesh, {}).size() == 3);
  const auto joined = make_conductors(mesh, {{"pair", {"a", "c"}}});
  REQUIRE(joined.size() == 2);
  CHECK(joined[0].name == "pair");
  CHECK(joined[1].name == "b");
  const Panels panels = make_panels(mesh);
  const auto conductor_of = conductor_of_panels(mesh, panels, joined);
  for (std::size_t k = 0; k < panels.size(); ++k)
    CHECK(conductor_of[k] == (mesh.group_of[panels.input_index[k]] == 1));
}

TEST_CASE("conductors that make no sense are refused") {
  const SurfaceMesh mesh = three_spheres();
  CHECK_THROWS_AS(make_conductors(mesh, {{"x", {"nowhere"}}}), InputError);
  CHECK_THROWS_AS(make_conductors(mesh, {{"x", {"a"}}, {"x", {"b"}}}), InputError);
  CHECK_THROWS_AS(make_conductors(mesh, {{"x", {"a"}}, {"y", {"a"}}}), InputError);
  CHECK_THROWS_AS(make_conductors(mesh, {{"b", {"a"}}}), InputError);
  CHECK_THROWS_AS(make_conductors(mesh, {{"x", {}}}), InputError);
}

TEST_CASE("touching conductors are refused by name") {
  SurfaceMesh mesh = plate(2);
  add_group(mesh, "other");
  mesh.group_of.back() = 1;
  CHECK_THROWS_WITH(make_conductors(mesh, {}), contains("\"plate\"") && contains("\"other\""));
  CHECK(make_conductors(mesh, {{"all", {"plate", "other"}}}).size() == 1);
}

TEST_CASE("crossing conductors are refused by name, place and distance, and may be joined") {
  SurfaceMesh mesh = three_spheres();
  mesh.unit = "mm";
  CHECK_NOTHROW(make_conductors(mesh, {}));
  add_ellipsoid(mesh, "d", 1, {1, 1, 1}, {6.9, 0.3, 0.2});
  CHECK_THROWS_WITH(make_conductors(mesh, {}), contains("\"c\" and \"d\" cross at (6.") &&
                                                   contains(" mm (distance 0 mm): move"));
  CHECK(make_conductors(mesh, {{"pair", {"c", "d"}}}).size() == 3);
  CHECK_THROWS_WITH(make_conductors(mesh, {{"pair", {"a", "d"}}}),
                    contains("\"c\" and \"pair\"") || contains("\"pair\" and \"c\""));
}

TEST_CASE("contacts that a mesh was loaded with are not looked for again") {
  SurfaceMesh mesh = three_spheres();
  mesh.contacts = {{0, 2, false, {1, 2, 3}, 1e-12}};
  CHECK_THROWS_WITH(make_conductors(mesh, {}),
                    contains("\"a\" and \"c\" touch at (1, 2, 3) m (distance 1e-12 m)"));
  CHECK(make_conductors(mesh, {{"pair", {"a", "c"}}}).size() == 2);
}

TEST_CASE("the mutual form is a network with the same charges") {
  SquareMatrix maxwell(2);
  maxwell.values = {3, -1, -1.1, 2};
  const SquareMatrix mutual = mutual_capacitance(maxwell);
  CHECK(mutual(0, 1) == Approx(1.05));
  CHECK(mutual(1, 0) == mutual(0, 1));
  CHECK(mutual(0, 0) == Approx(1.95));
  CHECK(mutual(1, 1) == Approx(0.95));
  CHECK(asymmetry(maxwell) == Approx(0.1 / 3));
}

namespace {

/// 2 − 0.3 hᵖ for h = 1, ½, ¼.
std::vector<Entries> geometric_sequence(double order) {
  std::vector<Entries> results;
  for (const double h : {1.0, 0.5, 0.25}) results.push_back({2 - 0.3 * std::pow(h, order)});
  return results;
}

}  // namespace

TEST_CASE("Richardson finds the limit and the order of a geometric sequence") {
  const std::vector<Entries> results = geometric_sequence(1.5);
  const Convergence three = observe_convergence(results, 2);
  CHECK(three.observed);
  CHECK(three.order == Approx(1.5));
  CHECK(extrapolated(results, three)[0] == Approx(2));
  const double power = 1.25 * 0.3 * std::pow(0.25, 1.5);
  CHECK(discretization_error(results, three)[0] > power);
  CHECK(discretization_error(results, three)[0] < 1.4 * power);
  const auto first = std::span(results).first(2);
  const Convergence two = observe_convergence(first, 1.5);
  CHECK_FALSE(two.observed);
  CHECK(extrapolated(first, two)[0] == Approx(2));
  CHECK(discretization_error(first, two)[0] == Approx(3 * 0.3 * std::pow(0.5, 1.5)));
  CHECK_THROWS_AS(observe_convergence(first.first(1), 1.0), InputError);
}

TEST_CASE("an order that there cannot be is not taken for one") {
  const Convergence high = observe_convergence(geometric_sequence(1.5), 1);
  CHECK_FALSE(high.observed);
  CHECK(high.order == 1);
  CHECK(high.too_high);
  CHECK(high.safety == 3);
  const Convergence hardly_higher = observe_convergence(geometric_sequence(1.1), 1);
  CHECK(hardly_higher.observed);
  CHECK(hardly_higher.order == 1);
  const Convergence low = observe_convergence(geometric_sequence(0.2), 2);
  CHECK_FALSE(low.observed);
  CHECK(low.order == 0.5);
  const std::vector<Entries> constant(3, Entries{1});
  CHECK_FALSE(observe_convergence(constant, 2).observed);
  CHECK(discretization_error(constant, observe_convergence(constant, 2))[0] == 0);
}

TEST_CASE("an order between 1 and 2 may be that of two terms") {
  std::vector<Entries> results;
  for (const double h : {4.0, 2.0, 1.0}) results.push_back({1 - 0.01 * h - 0.02 * h * h});
  const Convergence mixed = observe_convergence(results, 2);
  CHECK(mixed.observed);
  CHECK(mixed.order < 1.9);
  CHECK(discretization_error(results, mixed)[0] == Approx(1.25 * 0.03));
  for (const double order : {1.0, 2.0}) {
    const std::vector<Entries> pure = geometric_sequence(order);
    CHECK(discretization_error(pure, observe_convergence(pure, 2))[0] ==
          Approx(1.25 * 0.3 * std::pow(0.25, order)));
  }
}

TEST_CASE("where the order is too high the error is that of two terms") {
  std::vector<Entries> results;
  for (const double h : {4.0, 2.0, 1.0}) results.push_back({1 + 0.01 * h - 0.2 * h * h});
  const Convergence convergence = observe_convergence(results, 1);
  CHECK(convergence.too_high);
  CHECK(discretization_error(results, convergence)[0] == Approx(3 * 0.21));
  for (Entries& c : results) c[0] = 5;
  CHECK(discretization_error(results, convergence)[0] == 0);
}

TEST_CASE("an entry that two meshes give the same by chance keeps the change before") {
  const std::vector<Entries> results{{2, 0.1}, {1.5, 0.06}, {1.25, 0.06}};
  const Entries error = discretization_error(results, observe_convergence(results, 2));
  CHECK(error[0] == Approx(1.25 * 0.25).epsilon(0.05));
  CHECK(error[1] == Approx(1.25 * 0.02).epsilon(0.05));
}

TEST_CASE("a solution contradicts itself by its asymmetry and by signs that cannot be") {
  CapacitanceSolution solution;
  solution.maxwell = SquareMatrix(3);
  solution.maxwell.values = {5, -1.1, 0.2, -1, 4, -6, -0.3, -5, 7};
  solution.solver_error = SquareMatrix(3);
  solution.solver_error(0, 0) = 0.25;
  const CapacitanceError error = apparent_error(solution);
  CHECK(error.maxwell(0, 0) == 0.25);
  CHECK(error.maxwell(0, 1) == Approx(0.1));
  CHECK(error.maxwell(0, 2) == Approx(0.5));
  solution.maxwell(0, 2) = 1;
  CHECK(apparent_error(solution).maxwell(0, 2) == Approx(1.3));
  solution.maxwell(2, 0) = 1;
  CHECK(apparent_error(solution).maxwell(0, 2) == 1);
  const CapacitanceError positive = apparent_error(solution);
  CHECK(positive.mutual(0, 2) == 1);             // a capacitor of -1
  CHECK(positive.mutual(1, 1) == Approx(2.55));  // −1.05 + 4 − 5.5
}

TEST_CASE("what the solver leaves is within its bound") {
  const SurfaceMesh mesh = three_spheres();
  ConductorOptions options;
  options.op.tolerance = 1e-12;
  options.solver.tolerance = 1e-10;
  const SquareMatrix exact = solve_capacitance(mesh, options).maxwell;
  options.solver.tolerance = 1e-3;
  const CapacitanceSolution rough = solve_capacitance(mesh, options);
  for (std::size_t k = 0; k < exact.values.size(); ++k) {
    CHECK(std::abs(rough.maxwell.values[k] - exact.values[k]) <= rough.solver_error.values[k]);
    CHECK(rough.solver_error.values[k] < 3e-3 * largest_entry(exact));
  }
}

}  // namespace fmbem::test::capacitance_tests
