// Boundary value problems against closed forms.
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/dielectric_forms.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/problem_forms.hpp"

namespace fmbem::test::boundary_problems_tests {

namespace {

constexpr double pi = std::numbers::pi;
const LayerOptions tight{.solver = {.tolerance = 1e-8}};

/// Harmonics of degree 2, inside and outside the unit sphere, and ∂/∂r of them there.
double inner(Vec3d x) { return x.x * x.y + 0.5 * (x.z * x.z - x.x * x.x); }
double outer(Vec3d x) { return inner(x) / std::pow(norm(x), 5); }
double inner_slope(Vec3d x) { return 2 * inner(x / norm(x)); }
double outer_slope(Vec3d x) { return -3 * inner(x / norm(x)); }

SurfaceData times(double factor, double (*f)(Vec3d)) {
  return [=](const SurfacePoint& at) { return factor * f(at.x / norm(at.x)); };
}

BoundaryProblem inside_of_walls(std::vector<GroupCondition> groups) {
  return {.regions = {{"water", 80}}, .outside = "", .groups = std::move(groups)};
}
BoundaryProblem outside_of_walls(std::vector<GroupCondition> groups) {
  return {.regions = {{"oil", 2.5}}, .outside = "oil", .groups = std::move(groups)};
}

double order(double coarse, double fine) { return std::log2(coarse / fine); }

/// Solves on two levels of a surface; the second has errors of φ and E of at most these, and orders
/// of at least so much. Charges are balanced.
void check_orders(const std::function<SurfaceMesh(int)>& mesh_of, int level,
                  const BoundaryProblem& problem, double radius,
                  const std::function<double(Vec3d)>& exact, FieldError most, double least_order) {
  FieldError error[2];
  for (const int k : {0, 1}) {
    const SurfaceMesh mesh = mesh_of(level + k);
    const ProblemSolution solution = solve_problem(mesh, problem, tight);
    CHECK(solution.converged);
    error[k] = field_error(mesh, solution, points_at(radius), exact);
    const ProblemResult& result = solution.results[0];
    for (std::size_t r = 0; r < result.imbalance.size(); ++r)
      CHECK(std::abs(result.imbalance[r]) <= 1e-5 * result.throughput[r] + 1e-25);
  }
  CAPTURE(radius, error[0].potential, error[1].potential, error[0].e, error[1].e);
  CHECK(error[1].potential < most.potential);
  CHECK(error[1].e < most.e);
  CHECK(order(error[0].potential, error[1].potential) > least_order);
  CHECK(order(error[0].e, error[1].e) > least_order);
}

SurfaceMesh unit_sphere(int level) { return sphere(level); }

}  // namespace

TEST_CASE("given potentials on a sphere, inside and outside") {
  check_orders(unit_sphere, 3, inside_of_walls({in("water", dirichlet("sphere", times(1, inner)))}),
               0.7, inner, {5e-3, 2e-2}, 1.6);
  check_orders(unit_sphere, 3, outside_of_walls({dirichlet("sphere", times(1, outer))}), 1.5, outer,
               {3e-3, 1e-2}, 1.6);
}

TEST_CASE("given fluxes on a sphere, inside and outside") {
  check_orders(
      unit_sphere, 3,
      inside_of_walls({in("water", neumann("sphere", times(80 * epsilon_0, inner_slope)))}), 0.7,
      inner, {5e-3, 2e-2}, 1.6);
  check_orders(unit_sphere, 3,
               outside_of_walls({neumann("sphere", times(-2.5 * epsilon_0, outer_slope))}), 1.5,
               outer, {3e-3, 1e-2}, 1.6);
}

TEST_CASE("Robin conditions on a sphere, inside and outside") {
  const double a = 30 * epsilon_0;
  const auto value = [=](double c, double (*f)(Vec3d), double (*slope)(Vec3d)) {
    return [=](const SurfacePoint& at) {
      const Vec3d x = at.x / norm(at.x);
      return c * epsilon_0 * slope(x) + a * (f(x) + 0.3);
    };
  };
  check_orders(
      unit_sphere, 3,
      inside_of_walls({in("water", robin("sphere", constant(a), value(80, inner, inner_slope)))}),
      0.7, [](Vec3d x) { return inner(x) + 0.3; }, {5e-3, 2e-2}, 1.6);
  const auto shifted = [](Vec3d x) { return outer(x) + 0.3 / norm(x); };
  const auto of_shifted = [=](const SurfacePoint& at) {
    const Vec3d x = at.x / norm(at.x);
    return 2.5 * epsilon_0 * (3 * outer(x) + 0.3) + a * (outer(x) + 0.3);
  };
  check_orders(unit_sphere, 3, outside_of_walls({robin("sphere", constant(a), of_shifted)}), 1.5,
               shifted, {5e-3, 2e-2}, 1.6);
}

TEST_CASE("walls that hardly leak leave a potential of no constant of the solver's error") {
  const double leak = GENERATE(1e-3, 1e-6, 1e-9);  // a over the coefficient inside
  CAPTURE(leak);
  const auto shifted = [](Vec3d x) { return inner(x) + 0.3; };
  const double a = leak * 80 * epsilon_0;
  const auto value = [=](const SurfacePoint& at) {
    const Vec3d x = at.x / norm(at.x);
    return 80 * epsilon_0 * inner_slope(x) + a * (inner(x) + 0.3);
  };
  for (const double tolerance : {1e-4, 1e-6}) {
    const SurfaceMesh mesh = sphere(3);
    const ProblemSolution solution =
        solve_problem(mesh, inside_of_walls({in("water", robin("sphere", constant(a), value))}),
                      {.solver = {.tolerance = tolerance}});
    const FieldError error = field_error(mesh, solution, points_at(0.7), shifted);
    CAPTURE(tolerance, error.potential, error.e);
    CHECK(error.potential < 1e-2);
    const ProblemResult& result = solution.results[0];
    CHECK(std::abs(result.imbalance[0]) < 1e-12 * result.throughput[0]);
    CHECK(solution.notices.empty());
  }
}

TEST_CASE("what goes through a bar with walls that hardly leak, and what stays in it") {
  BoundaryProblem problem{.coefficient = BoundaryProblem::Coefficient::conductivity,
                          .regions = {{"bar", 1}},
                          .outside = ""};
  const SurfaceMesh mesh = bar(0.125, {2, 1, 1});
  const double leak = GENERATE(1e-3, 1e-6, 1e-9), leaks_out = GENERATE(0.0, 1.0);
  problem.groups = {in("bar", neumann("start", constant(leaks_out - 1))),
                    in("bar", neumann("end", constant(1))),
                    in("bar", robin("sides", constant(leak), constant(0)))};
  const ProblemSolution solution = solve_problem(mesh, problem, {});
  const auto along = [](Vec3d x) { return x.x - 1; };
  const FieldError error =
      field_error(mesh, solution, {{0.3, 0.5, 0.5}, {1, 0.4, 0.6}, {1.6, 0.5, 0.3}}, along);
  CAPTURE(leak, leaks_out, error.potential, error.e);
  if (leaks_out == 0 && leak < 1e-3) {  // or else what leaks bends φ
    CHECK(error.potential < 5e-3);
    CHECK(error.e < 1e-2);
  }
  CHECK(solution.notices.size() == (leaks_out == 0 ? 0 : 1));
  if (leaks_out == 0) return;
  CHECK(solution.notices[0].starts_with("potentials in the region \"bar\""));
  // The sides have an area of 8, and 1 A comes in.
  double potential = 0, area = 0;
  const SurfaceValues& surface = solution.results[0].surface;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    if (mesh.groups[mesh.group_of[i]].name != "sides") continue;
    potential += triangle_area(mesh, i) * surface.potential[i];
    area += triangle_area(mesh, i);
  }
  CHECK(std::abs(potential * leak - 1) < 1e-12);
  CHECK(std::abs(area - 8) < 1e-12);
}

TEST_CASE("a wall that hardly leaks is as good as one that does not") {
  // Both have a mean of 0 on the wall. The solver's tolerance is 1e-8.
  const double a = 1e-7;
  const bool floats = GENERATE(false, true);
  const bool has_losses = GENERATE(false, true);
  CAPTURE(floats, has_losses);
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "inner", 2, Vec3d{0.5, 0.5, 0.5}, {0.1, 0.1, 0.2});
  add_ellipsoid(mesh, "wall", 2, Vec3d{1, 1, 1});
  mesh.closed = true;
  BoundaryProblem problem{.regions = {{"body", 1}}, .outside = ""};
  if (has_losses)
    problem.regions[0].loss = 0.5;
  else
    problem.coefficient = BoundaryProblem::Coefficient::conductivity;
  if (floats) {
    problem.groups = {around("body", with_charge("inner", 0))};
  } else {
    problem.regions.push_back({"core", 3});
    problem.groups = {between("inner", "core", "body")};
  }
  problem.sources = {
      {.kind = ProblemSource::Kind::dipole, .at = {-0.5, 0.4, -0.1}, .moment = {0.3, 1, 0.5}}};
  const std::vector<Vec3d> points{{-0.7, 0, 0.2}, {0.1, -0.8, 0}, {0.3, 0.3, 0.75}};
  std::vector<double> potential[2];
  for (const bool leaks : {false, true}) {
    auto solved = problem;
    const double unit = problem.unit();
    solved.groups.push_back(in("body", leaks ? robin("wall", constant(a * unit), constant(0))
                                             : neumann("wall", constant(0))));
    const ProblemSolution solution = solve_problem(mesh, solved, tight);
    CHECK(solution.converged);
    potential[leaks] = problem_field(mesh, solution, 0, points).potential;
  }
  // Solutions differ by a density that has a potential of one number, but for the mesh's error.
  for (std::size_t k = 0; k < points.size(); ++k) {
    CAPTURE(k, potential[0][k], potential[1][k]);
    CHECK(std::abs(potential[1][k] - potential[0][k]) < 2e-3 * std::abs(potential[0][0]));
  }
}

TEST_CASE("a sphere with a potential on one half and a flux on the other") {
  check_orders(sphere_of_halves, 3,
               inside_of_walls({in("water", dirichlet("upper", times(1, inner))),
                                in("water", neumann("lower", times(80 * epsilon_0, inner_slope)))}),
               0.5, inner, {1e-2, 5e-2}, 0.8);
  check_orders(sphere_of_halves, 3,
               outside_of_walls({around("oil", dirichlet("upper", times(1, outer))),
                                 neumann("lower", times(-2.5 * epsilon_0, outer_slope))}),
               1.5, outer, {1e-2, 5e-2}, 0.8);
}

TEST_CASE("fluxes on either side of a surface with a given potential are those of the solutions") {
  double error[2];
  for (const int level : {3, 4}) {
    const SurfaceMesh mesh = sphere(level);
    BoundaryProblem problem{.regions = {{"water", 80}, {"oil", 2.5}}, .outside = "oil"};
    problem.groups = {in("water", around("oil", dirichlet("sphere", times(1, inner))))};
    const ProblemSolution solution = solve_problem(mesh, problem, tight);
    double squares = 0, all = 0;
    for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
      const auto& [a, b, c] = mesh.triangles[i];
      const Vec3d x = (mesh.vertices[a] + mesh.vertices[b] + mesh.vertices[c]) / 3.0;
      const SurfaceValues& surface = solution.results[0].surface;
      const double inside = 80 * epsilon_0 * inner_slope(x),
                   outside = -2.5 * epsilon_0 * outer_slope(x);
      squares +=
          std::pow(surface.inside[i] - inside, 2) + std::pow(surface.outside[i] - outside, 2);
      all += inside * inside + outside * outside;
    }
    error[level - 3] = std::sqrt(squares / all);
  }
  CAPTURE(error[0], error[1]);
  CHECK(error[1] < 0.02);
  CHECK(order(error[0], error[1]) > 0.9);
}

TEST_CASE("a dielectric sphere in a field, as regions have it") {
  BoundaryProblem problem{.regions = {{"body", 4}, {"air", 1}}, .outside = "air"};
  problem.groups = {between("sphere", "body", "air")};
  problem.field = {0, 0, 1};
  const auto exact = [](Vec3d x) { return sphere_in_field(4, x); };
  check_orders(unit_sphere, 3, problem, 0.7, exact, {1e-2, 2e-2}, 1.6);
  check_orders(unit_sphere, 3, problem, 1.5, exact, {1e-2, 2e-2}, 1.6);
}

TEST_CASE("nested shells of other conductivities with a dipole in their centre",
          "[long][accuracy]") {
  const std::vector<double> radius{0.87, 0.92, 1}, conductivity{1, 1.0 / 80, 1};
  BoundaryProblem problem{.coefficient = BoundaryProblem::Coefficient::conductivity,
                          .regions = {{"brain", 1}, {"skull", 1.0 / 80}, {"scalp", 1}},
                          .outside = ""};
  problem.groups = {between("inner", "brain", "skull"), between("middle", "skull", "scalp"),
                    in("scalp", neumann("outer", constant(0)))};
  problem.sources = {{.kind = ProblemSource::Kind::dipole, .moment = {0, 0, 1}}};
  const auto shells = [&](int level) {
    SurfaceMesh mesh;
    const char* const names[] = {"inner", "middle", "outer"};
    for (int k = 0; k < 3; ++k) add_ellipsoid(mesh, names[k], level, radius[k] * Vec3d{1, 1, 1});
    mesh.closed = true;
    return mesh;
  };
  const auto exact = [&](Vec3d x) { return dipole_in_shells(radius, conductivity, x); };
  check_orders(shells, 3, problem, 0.98, exact, {5e-3, 0.1}, 0.9);
  check_orders(shells, 3, problem, 0.5, exact, {5e-2, 0.2}, 1.2);
}

TEST_CASE("a bar has its resistance, and the current goes through") {
  BoundaryProblem problem{.coefficient = BoundaryProblem::Coefficient::conductivity,
                          .regions = {{"copper", 6e7}},
                          .outside = ""};
  problem.groups = {in("copper", at_potential("start", 2)), in("copper", at_potential("end", 0)),
                    in("copper", neumann("sides", constant(0)))};
  const double exact = 6e7 * 1e-3 / 3;  // S: the bar is 3 by 1 by 1 mm
  double error[2];
  for (const int k : {0, 1}) {
    SurfaceMesh mesh = bar(k == 0 ? 0.25 : 0.125, {3, 1, 1});
    mesh.unit = "mm";
    mesh.scale_to_m = 1e-3;
    ProblemSolver solver(mesh, problem, tight);
    solver.solve();
    solver.solve_basis();
    const ProblemSolution& solution = solver.solution();
    CHECK(solution.converged);
    const ProblemResult& result = solution.results[0];
    error[k] = result.conductor_flux[0] / (2 * exact) - 1;
    CHECK(result.conductor_flux[1] == Approx(-result.conductor_flux[0]).epsilon(1e-4));
    CHECK(result.energy == Approx(2 * result.conductor_flux[0]).epsilon(1e-9));
    const SquareMatrix g = basis_matrix(solution, 1);
    CHECK(2 * g(0, 0) == Approx(result.conductor_flux[0]).epsilon(1e-6));
    CHECK(g(0, 1) == Approx(-g(0, 0)).epsilon(1e-4));
    const ProblemField field =
        problem_field(mesh, solution, 0, std::vector<Vec3d>{{1.5, 0.5, 0.5}, {5, 0, 0}});
    CHECK(field.potential[0] == Approx(1).epsilon(1e-2));
    CHECK(field.e[0].x == Approx(2 / 3e-3).epsilon(0.02));
    CHECK(field.region == std::vector<int>{0, -1});
    CHECK(std::isnan(field.potential[1]));
  }
  CAPTURE(error[0], error[1]);
  CHECK(std::abs(error[1]) < 0.02);
  CHECK(order(std::abs(error[0]), std::abs(error[1])) > 0.8);
}

TEST_CASE("a charge before a large slab has its image", "[long][accuracy]") {
  BoundaryProblem problem{.regions = {{"air", 1}, {"slab", 5}}, .outside = "air"};
  GroupCondition surface = between("disk", "slab", "air");
  surface.truncated = true;
  problem.groups = {surface};
  problem.sources = {{.at = {0, 0, 1}, .charge = 4 * pi * epsilon_0, .region = "air"}};
  double error[2];
  for (const int k : {0, 1}) {
    SurfaceMesh mesh = disk(4 + k);  // graded towards its centre, to a radius of 20
    for (Vec3d& v : mesh.vertices) v = (20 * norm(v)) * v;
    const ProblemSolution solution = solve_problem(mesh, problem, tight);
    const std::vector<Vec3d> points{{0.3, 0, 1.5}, {1, 0.5, 0.7}, {0.2, 0.1, -0.8}};
    const ProblemField field = problem_field(mesh, solution, 0, points);
    error[k] = 0;
    CHECK(field.region == std::vector<int>{0, 0, 1});
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Vec3d x = points[i];
      const double direct = 1 / norm(x - Vec3d{0, 0, 1}), image = 1 / norm(x + Vec3d{0, 0, 1});
      const double exact = x.z > 0 ? direct - 4.0 / 6 * image : 2.0 / 6 * direct;
      error[k] = larger_error(error[k], std::abs(field.potential[i] - exact));
    }
  }
  CAPTURE(error[0], error[1]);
  CHECK(error[1] < 5e-3);
}

TEST_CASE("sources of all kinds before a grounded sphere have their images' charges") {
  // The charge that 1 C at distance d draws to a grounded unit sphere is −1/d.
  BoundaryProblem problem{.groups = {at_potential("sphere", 0)}};
  const SurfaceMesh mesh = sphere(4);
  const auto charge = [&](ProblemSource source) {
    problem.sources = {std::move(source)};
    const ProblemSolution solution = solve_problem(mesh, problem, tight);
    CHECK(std::abs(solution.results[0].imbalance[0]) < 1e-3 * solution.results[0].throughput[0]);
    return solution.results[0].conductor_flux[0];
  };
  CHECK(charge({.at = {0, 0, 2}, .charge = 1}) == Approx(-0.5).epsilon(5e-3));
  // d/dz of −1/z
  CHECK(charge({.kind = ProblemSource::Kind::dipole, .at = {0, 0, 2}, .moment = {0, 0, 1}}) ==
        Approx(0.25).epsilon(5e-3));
  CHECK(
      charge({.kind = ProblemSource::Kind::line, .at = {0, 0, 2}, .to = {0, 0, 3}, .charge = 1}) ==
      Approx(-std::log(1.5)).epsilon(5e-3));
}

TEST_CASE("energies are those of charges in their images' potentials") {
  const SurfaceMesh mesh = sphere(4);
  const double q = 1e-9, d = 2, k = 1 / (4 * pi * epsilon_0);
  BoundaryProblem problem{.groups = {at_potential("sphere", 0)}};
  problem.sources.push_back({.at = {0, 0, d}, .charge = q});
  const auto energy = [&] { return solve_problem(mesh, problem, tight).results[0].energy; };
  CHECK(energy() == Approx(-0.5 * k * q * q / (d * d - 1)).epsilon(1e-2));
  problem.sources.push_back({.at = {0, 0, -d}, .charge = q});
  // Each in both images and in the other.
  CHECK(energy() ==
        Approx(k * q * q * (1 / (2 * d) - 1 / (d * d - 1) - 1 / (d * d + 1))).epsilon(1e-2));
  problem.sources.clear();
  problem.groups = {at_potential("sphere", 3)};
  CHECK(energy() == Approx(0.5 * 9 / k).epsilon(5e-3));
  problem.groups = {with_charge("sphere", q)};
  CHECK(energy() == Approx(0.5 * k * q * q).epsilon(5e-3));
  // An interface that gives off a charge, by values of panels.
  problem.regions = {{"inner", 5}, {"outer", 2}};
  problem.outside = "outer";
  problem.groups = {between("sphere", "inner", "outer")};
  double area = 0;
  for (const Triangle& t : triangles_of(make_panels(mesh))) area += t.area;
  ProblemSolver solver(mesh, problem, tight);
  solver.solve_for({std::vector<double>(mesh.triangles.size(), q / area)});
  CHECK(solver.solution().results[0].energy == Approx(0.5 * k / 2 * q * q).epsilon(5e-3));
  problem.regions = {{"vacuum", 1}};
  problem.outside = "vacuum";
  // A dipole p turns on what it draws: its image's field is that of 2p/(d² − 1)³ … along z.
  problem.groups = {with_charge("sphere", 0)};
  problem.field = {0, 0, 1};
  CHECK(std::isnan(energy()));
}

TEST_CASE("other right-hand sides give what the problem's data give") {
  const SurfaceMesh mesh = sphere_of_halves(3);
  const BoundaryProblem problem =
      inside_of_walls({in("water", dirichlet("upper", times(1, inner))),
                       in("water", neumann("lower", times(80 * epsilon_0, inner_slope)))});
  ProblemSolver solver(mesh, problem, tight);
  solver.solve();
  std::vector<double> data;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto& [a, b, c] = mesh.triangles[i];
    const Vec3d x = (mesh.vertices[a] + mesh.vertices[b] + mesh.vertices[c]) / 3.0;
    data.push_back(mesh.group_of[i] == 0 ? inner(x / norm(x)) : 80 * epsilon_0 * inner_slope(x));
  }
  std::vector<double> twice = data;
  for (double& value : twice) value *= 2;
  solver.solve_for({data, twice});
  const ProblemSolution& solution = solver.solution();
  REQUIRE(solution.sigma.size() == 3);
  double largest = 0;
  for (const double value : solution.sigma[0]) largest = larger_error(largest, std::abs(value));
  for (std::size_t i = 0; i < data.size(); ++i) {
    CHECK(std::abs(solution.sigma[1][i] - solution.sigma[0][i]) < 1e-5 * largest);
    CHECK(std::abs(solution.sigma[2][i] - 2 * solution.sigma[0][i]) < 1e-5 * largest);
  }
}

TEST_CASE("planes are what the images make of a problem") {
  // The upper half of a sphere on a mirror, and on the ground; all of it with the same data.
  const SurfaceMesh whole = sphere_of_halves(3);
  SurfaceMesh half;
  add_group(half, "upper");
  std::map<int, int> number;
  const auto vertex = [&](int v) {
    const auto [entry, is_new] = number.try_emplace(v, static_cast<int>(number.size()));
    if (is_new) add_vertex(half, whole.vertices[v]);
    return entry->second;
  };
  for (std::size_t i = 0; i < whole.triangles.size(); ++i) {
    if (whole.group_of[i] != 0) continue;
    const auto& [a, b, c] = whole.triangles[i];
    const int corners[] = {vertex(a), vertex(b), vertex(c)};
    add_triangle(half, corners[0], corners[1], corners[2], 0);
  }
  for (const PlaneKind kind : {PlaneKind::mirror, PlaneKind::ground}) {
    const double sign = kind == PlaneKind::mirror ? 1 : -1;
    const SurfaceData flux = [](const SurfacePoint& at) { return epsilon_0 * (1 + at.x.x); };
    const SurfaceData of_lower = [=](const SurfacePoint& at) { return sign * flux(at); };
    BoundaryProblem problem = outside_of_walls({neumann("upper", flux)});
    problem.sources = {{.at = {0, 0.3, 2}, .charge = 1e-11}};
    problem.planes.at[2] = SymmetryPlane{kind};
    const ProblemSolution of_half = solve_problem(half, problem, tight);
    problem.planes = {};
    problem.groups.push_back(neumann("lower", of_lower));
    problem.sources.push_back({.at = {0, 0.3, -2}, .charge = sign * 1e-11});
    const ProblemSolution of_whole = solve_problem(whole, problem, tight);
    const std::vector<Vec3d> points{{0.3, 0.1, 1.4}, {2, 0, 0.2}};
    const ProblemField a = problem_field(half, of_half, 0, points),
                       b = problem_field(whole, of_whole, 0, points);
    for (const int k : {0, 1}) CHECK(a.potential[k] == Approx(b.potential[k]).epsilon(1e-5));
    CHECK(2 * of_half.results[0].energy == Approx(of_whole.results[0].energy).epsilon(1e-5));
    const ProblemResult& result = of_half.results[0];
    if (kind == PlaneKind::mirror)
      CHECK(std::abs(result.imbalance[0]) < 1e-5 * result.throughput[0]);
    else
      CHECK(std::isnan(result.imbalance[0]));
    // Down the axis: outside, inside and beyond the plane, at one distance after the other.
    std::vector<Vec3d> line;
    for (int k = 0; k < 600; ++k) line.push_back({0.01, 0.01, 2 - 0.005 * k});
    const std::vector<int> region = problem_field(half, of_half, 0, line).region;
    for (int k = 0; k < 600; ++k) CHECK(region[k] == (line[k].z > 0.998 ? 0 : -1));
  }
}

TEST_CASE("problems that make no sense are refused with a sentence") {
  const SurfaceMesh mesh = sphere_of_halves(2);
  const auto refused = [&](const BoundaryProblem& problem, const char* saying) {
    CAPTURE(saying);
    try {
      solve_problem(mesh, problem, {});
      FAIL("not refused");
    } catch (const InputError& e) {
      CHECK(std::string(e.what()).find(saying) != std::string::npos);
    }
  };
  const GroupCondition upper = in("water", dirichlet("upper", constant(1))),
                       lower = in("water", neumann("lower", constant(0)));
  BoundaryProblem good = inside_of_walls({upper, lower});
  CHECK(solve_problem(mesh, good, {}).converged);

  BoundaryProblem bad = good;
  bad.groups = {upper};
  refused(bad, "\"lower\" of the mesh has no condition");
  bad.groups = {upper, lower, upper};
  refused(bad, "\"upper\" has two conditions");
  bad.groups = {upper, lower, in("water", dirichlet("nobody", constant(1)))};
  refused(bad, "no group \"nobody\", it has: upper, lower");
  bad.groups = {upper, in("oil", lower)};
  refused(bad, "names the region \"oil\", and there are: water");
  bad.groups = {upper, neumann("lower", constant(0))};
  refused(bad, "no region on either side");
  bad.groups = {upper, around("water", lower)};
  refused(bad, "which is of one side");
  bad.groups = {upper, in("water", neumann("lower", constant(NAN)))};
  refused(bad, "must be a finite number");
  bad.groups = {upper, in("water", robin("lower", constant(-1), constant(0)))};
  refused(bad, "must not be negative");
  bad.groups = {in("water", neumann("upper", constant(1))), lower};
  refused(bad, "adds up to");
  for (const double permittivity : {0.0, -2.0, 1e-320, 1e308, HUGE_VAL, double(NAN)}) {
    bad = good;
    bad.regions[0].coefficient = permittivity;
    refused(bad, "must be positive, 1e-100 to 1e+100");
  }
  bad = good;
  bad.field = {0, 0, 1};
  refused(bad, "nothing is solved for outside");
  bad = good;
  bad.sources = {{.at = mesh.vertices[0], .charge = 1}};
  refused(bad, "lies on a surface");
  bad.sources = {{.at = {0, 0, 3}, .charge = 1}};
  refused(bad, "where there is no region");
  bad.sources = {{.kind = ProblemSource::Kind::line, .at = {0.1, 0, 0}, .to = {0.1, 0, 0}}};
  refused(bad, "no length");
  bad.sources = {{.at = {0, 0, 0.3}, .charge = 1, .region = "oil"}};
  refused(bad, "names the region \"oil\", and there are: water");

  // A line through a ball that its points pass by, and a charge in another region than it says.
  SurfaceMesh tiny;
  add_ellipsoid(tiny, "ball", 2, {0.1, 0.1, 0.1});
  tiny.closed = true;
  BoundaryProblem around_ball{.groups = {at_potential("ball", 0)}};
  around_ball.sources = {
      {.kind = ProblemSource::Kind::line, .at = {-10, 0.01, 0}, .to = {9.1, 0, 0}, .charge = 1}};
  CHECK_THROWS_WITH(solve_problem(tiny, around_ball, {}), contains("runs through it"));
  around_ball.sources[0].at = around_ball.sources[0].to + Vec3d{-20, 1, 0};
  CHECK_NOTHROW(solve_problem(tiny, around_ball, {}));
  around_ball.regions = {{"in", 4}, {"out", 2}};
  around_ball.outside = "out";
  around_ball.groups = {between("ball", "in", "out")};
  around_ball.sources = {{.at = {0, 0, 0.05}, .charge = 1, .region = "out"}};
  CHECK_THROWS_WITH(solve_problem(tiny, around_ball, {}),
                    contains("has \"out\" for its region, and lies in \"in\""));

  // Of the upper half alone.
  BoundaryProblem open{.regions = {{"air", 1}, {"oil", 2}}, .outside = "air"};
  open.groups = {neumann("upper", constant(0)), in("air", around("air", at_potential("lower", 1)))};
  refused(open, "\"upper\" has a Neumann or Robin condition and an open edge");
  open.groups = {around("oil", at_potential("upper", 1)), at_potential("lower", 1)};
  open.groups[1].conductor.name = open.groups[0].conductor.name = "ball";
  refused(open, "has a region on one side alone and an open edge");
  open.groups = {between("upper", "oil", "air"), dirichlet("lower", constant(1))};
  refused(open, "\"oil\" is not closed");
  open.groups = {between("upper", "air", "air"), dirichlet("lower", constant(1))};
  refused(open, "on both sides");
}

}  // namespace fmbem::test::boundary_problems_tests
