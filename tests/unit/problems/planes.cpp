// Problems with symmetry and ground planes against closed forms and meshes of all images.
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/conductor_field.hpp"
#include "fmbem/problems/conductor_forces.hpp"
#include "fmbem/problems/images.hpp"
#include "fmbem/problems/solve_capacitance.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/dielectric_forms.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/reflected_surfaces.hpp"

namespace fmbem::test::planes_tests {

namespace {

constexpr auto ground = PlaneKind::ground, mirror = PlaneKind::mirror;
constexpr double unit_capacitance = 4 * std::numbers::pi * epsilon_0;  // of 1 m

/// Over 4πε₀, of a unit sphere at a height over a ground plane: sinh α Σ 1/sinh(nα), cosh α =
/// height. Source: Smythe 1950, "Static and Dynamic Electricity", section 5.082.
double sphere_over_ground(double height) {
  const double alpha = std::acosh(height);
  double sum = 0;
  for (int n = 1; n * alpha < 40; ++n) sum += 1 / std::sinh(n * alpha);
  return std::sinh(alpha) * sum;
}

double order(double coarse, double fine) { return std::log2(std::abs(coarse / fine)); }

ConductorOptions at_planes(const SymmetryPlanes& planes) {
  ConductorOptions options;
  options.planes = planes;
  options.solver.tolerance = 1e-9;
  return options;
}

/// Two bodies of one surface each, and all their images by an explicit mesh: image m of conductor c
/// is "c m". Returns charges of the first ones.
std::vector<double> charges_with_images(const SurfaceMesh& mesh, const SymmetryPlanes& planes,
                                        ConductorOptions options,
                                        const std::vector<double>& given) {
  std::vector<double> sign;
  SurfaceMesh whole = with_mirrored(mesh, planes, sign);
  const std::size_t n = mesh.triangles.size(), groups = mesh.groups.size();
  std::vector<double> all = given;
  for (std::size_t first = n; first < sign.size(); first += n) {
    for (std::size_t g = 0; g < groups; ++g)
      add_group(whole, (mesh.groups[g].name + " " + std::to_string(first / n)).c_str());
    for (std::size_t t = first; t < first + n; ++t)
      whole.group_of[t] += static_cast<int>(first / n * groups);
    for (const double value : given) all.push_back(sign[first] * value);
  }
  options.planes = {};
  options.solver.tolerance = 1e-9;
  const ConductorSolution solution = solve_conductors(whole, options, {all});
  REQUIRE(solution.converged);
  std::vector<double> charges = conductor_charges(whole, solution)[0];
  charges.resize(given.size());
  return charges;
}

}  // namespace

TEST_CASE("a sphere over a ground plane has its capacitance and its force", "[long][accuracy]") {
  for (const double height : {1.1, 2.0}) {
    const double exact = sphere_over_ground(height), step = 1e-4;
    const double pull =
        0.5 * (sphere_over_ground(height + step) - sphere_over_ground(height - step)) / (2 * step);
    double error[2], of_force[2];
    for (const int level : {3, 4}) {
      // Ground planes at any place, along any axis.
      const int axis = level % 3;
      Vec3d centre{5, 5, 5};
      centre[axis] += height;
      const SurfaceMesh mesh = sphere(level, 1, centre);
      const auto options = at_planes(plane(axis, ground, 5));
      const CapacitanceSolution solution = solve_capacitance(mesh, options);
      REQUIRE(solution.converged);
      error[level - 3] = solution.maxwell(0, 0) / unit_capacitance / exact - 1;

      // The force of its image on the sphere, at 1 V.
      const ConductorSolution one = solve_conductors(mesh, options, {{1.0}});
      const BodyForce force = conductor_forces(mesh, options, one, 0).bodies[0];
      of_force[level - 3] = force.force[axis] / (4 * std::numbers::pi * epsilon_0) / pull - 1;
      CHECK(norm(force.force) == Approx(std::abs(force.force[axis])).epsilon(1e-3));
      CHECK(norm(force.stress_force - force.force) < 0.3 * norm(force.force));
      CHECK(conductor_energy(mesh, options, one, 0).total() ==
            Approx(0.5 * solution.maxwell(0, 0)).epsilon(1e-7));
    }
    CAPTURE(height, error[0], error[1], of_force[0], of_force[1]);
    CHECK(std::abs(error[1]) < (height < 1.5 ? 8e-3 : 4e-3));
    CHECK(order(error[0], error[1]) == Approx(2).margin(0.25));
    CHECK(std::abs(of_force[1]) < (height < 1.5 ? 3e-2 : 1e-2));
    CHECK(order(of_force[0], of_force[1]) > 1.7);
  }
}

TEST_CASE("conductors in a corner of planes are those of a mesh with all images") {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "ball", 2, {0.6, 0.6, 0.6}, {0.9, 0.8, 0.7});
  add_grid(mesh, add_group(mesh, "sheet"), 6, {0.2, 0.3, 1.6}, {1, 0, 0}, {0, 1, 0.3});
  for (const SymmetryPlanes& planes :
       {planes(ground, ground, ground), planes(mirror, ground, mirror, {0.1, 0.15, 0}),
        plane(1, mirror, -0.3)}) {
    ConductorOptions options = at_planes(planes);
    const std::vector<double> given{1, -0.5};
    const ConductorSolution solution = solve_conductors(mesh, options, {given});
    REQUIRE(solution.converged);
    const std::vector<double> charges = conductor_charges(mesh, solution)[0],
                              exact = charges_with_images(mesh, planes, options, given);
    for (std::size_t c = 0; c < 2; ++c) CHECK(charges[c] == Approx(exact[c]).epsilon(1e-7));
    for (const int axis : planes.axes()) {
      if (planes.at[axis]->kind != ground) continue;
      Vec3d in_plane{0.77, 0.51, 0.4};
      in_plane[axis] = planes.at[axis]->offset;
      const std::vector<Vec3d> points{in_plane};
      CHECK(std::abs(conductor_field(solution, 0, points).potential[0]) < 1e-12);
    }
    // Floating, with the charges that it has at those potentials, it is at these.
    options.floating = {"ball"};
    const ConductorSolution floating = solve_conductors(mesh, options, {{charges[0], -0.5}});
    REQUIRE(floating.converged);
    CHECK(floating.potential[0][0] == Approx(1).epsilon(1e-6));
    CHECK(conductor_charges(mesh, floating)[0][1] == Approx(charges[1]).epsilon(1e-6));
  }
}

TEST_CASE("halves and eighths of a sphere on mirrors have their part of its charge") {
  const SurfaceMesh whole = sphere(3), half = part_above(whole, 0),
                    eighth = part_above(part_above(half, 1), 2);
  const double c = solve_capacitance(whole, at_planes({})).maxwell(0, 0);
  CHECK(solve_capacitance(half, at_planes(plane(0, mirror))).maxwell(0, 0) ==
        Approx(c / 2).epsilon(1e-8));
  CHECK(solve_capacitance(eighth, at_planes(planes(mirror, mirror, mirror))).maxwell(0, 0) ==
        Approx(c / 8).epsilon(1e-8));
  // A plate in a mirror has half of its charge on this side.
  const double of_plate = solve_capacitance(plate(8), at_planes({})).maxwell(0, 0);
  CHECK(solve_capacitance(plate(8), at_planes(plane(2, mirror))).maxwell(0, 0) ==
        Approx(of_plate / 2).epsilon(1e-8));
}

TEST_CASE("a boss on a ground plane in a uniform field") {
  // The charge of a hemisphere of radius 1 is 3π ε₀ E.
  double error[2];
  for (const int level : {3, 4}) {
    SurfaceMesh mesh = part_above(sphere(level, 1, {0, 0, 2}), 2, 2);
    ConductorOptions options = at_planes(plane(2, ground, 2));
    options.applied.uniform = {0, 0, -1};
    const ConductorSolution solution = solve_conductors(mesh, options, {{0.0}});
    REQUIRE(solution.converged);
    const double exact = -3 * std::numbers::pi * epsilon_0;
    error[level - 3] = conductor_charges(mesh, solution)[0][0] / exact - 1;
    const std::vector<Vec3d> points{{0.3, 0.4, 2}, {0.5, 0, 4}};
    const Field field = conductor_field(solution, 0, points);
    CHECK(std::abs(field.potential[0]) < 1e-12);
    CHECK(field.potential[1] == Approx(2 - 2 / std::pow(4.25, 1.5)).epsilon(2e-2));
  }
  CHECK(std::abs(error[1]) < 0.02);
  CHECK(order(error[0], error[1]) > 1);
}

TEST_CASE("half of a dielectric sphere on a plane is that sphere, at any contrast") {
  for (const double permittivity : {1e-4, 4.0, 1e6})
    for (const PlaneKind kind : {mirror, ground}) {
      ConductorOptions options = at_planes(plane(2, kind));
      options.interfaces = {"sphere"};
      options.media = {{"sphere", permittivity, 1}};
      options.applied.uniform = kind == mirror ? Vec3d{1, 0.5, 0} : Vec3d{0, 0, 1};
      const SurfaceMesh whole = sphere(3), half = part_above(whole, 2);
      const ConductorSolution of_half = solve_conductors(half, options, {{}});
      options.planes = {};
      const ConductorSolution of_whole = solve_conductors(whole, options, {{}});
      REQUIRE(of_half.converged);
      CAPTURE(permittivity, name(kind), of_half.solves[0].iterations,
              of_whole.solves[0].iterations);
      CHECK(of_half.solves[0].iterations <= of_whole.solves[0].iterations + 1);
      std::vector<Vec3d> points;
      for (const Vec3d& x : sphere_points(20, 1))
        for (const double r : {0.5, 1.5}) points.push_back(r * Vec3d{x.x, x.y, std::abs(x.z)});
      const Field a = conductor_field(of_half, 0, points), b = conductor_field(of_whole, 0, points);
      for (std::size_t k = 0; k < points.size(); ++k)
        CHECK(a.potential[k] == Approx(b.potential[k]).margin(1e-6));
    }
}

TEST_CASE("half of a coated conductor on mirrors, with a charge beside it") {
  SurfaceMesh whole;
  add_ellipsoid(whole, "conductor", 2, {1, 1, 1});
  add_ellipsoid(whole, "coat", 2, {2, 2, 2});
  const SurfaceMesh quarter = part_above(part_above(whole, 0), 1);
  for (const double permittivity : {4.0, 1e6}) {
    ConductorOptions options = at_planes({});
    options.interfaces = {"coat"};
    options.media = {{"conductor", permittivity, permittivity}, {"coat", permittivity, 1}};
    const Vec3d place{1.5, 1.8, 0.7};
    const double q = 1e-10;
    for (const double x : {-1, 1})
      for (const double y : {-1, 1})
        options.applied.charges.push_back({{x * place.x, y * place.y, place.z}, q});
    const ConductorSolution all = solve_conductors(whole, options, {{1.0}});
    options.applied.charges = {{place, q}};
    options.planes = {{SymmetryPlane{mirror}, SymmetryPlane{mirror}}};
    const ConductorSolution one = solve_conductors(quarter, options, {{1.0}});
    REQUIRE(one.converged);
    CHECK(conductor_charges(quarter, one)[0][0] ==
          Approx(conductor_charges(whole, all)[0][0] / 4).epsilon(1e-6));
  }
}

TEST_CASE("a charge beside a dielectric sphere over a ground plane, and one over both planes") {
  for (const SymmetryPlanes& planes : {plane(2, ground), planes(mirror, ground, ground)}) {
    ConductorOptions options = at_planes(planes);
    options.interfaces = {"sphere"};
    options.media = {{"sphere", 80, 1}};
    options.applied.charges = {{{2.2, 1.5, 2.7}, 1e-10}};
    const SurfaceMesh mesh = sphere(2, 1, {1.2, 1.3, 1.2});
    const ConductorSolution solution = solve_conductors(mesh, options, {{}});
    REQUIRE(solution.converged);
    std::vector<double> sign;
    const SurfaceMesh whole = with_mirrored(mesh, planes, sign);
    options.applied = solution.applied;
    options.planes = {};
    REQUIRE(options.applied.charges.size() == sign.size() / mesh.triangles.size());
    const ConductorSolution exact = solve_conductors(whole, options, {{}});
    const std::vector<Vec3d> points{{1, 1, 1}, {0.3, 2.5, 3}, {0, 0.7, 0}};
    const Field a = conductor_field(solution, 0, points), b = conductor_field(exact, 0, points);
    for (std::size_t k = 0; k < points.size(); ++k)
      CHECK(a.potential[k] == Approx(b.potential[k]).margin(1e-6));
    CHECK(std::abs(a.potential[2]) < 1e-6);
  }
}

TEST_CASE("forces and energies before planes are those of a mesh with all images") {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "ball", 2, {0.6, 0.6, 0.6}, {0.9, 0.8, 0.7});
  add_ellipsoid(mesh, "drop", 2, {0.4, 0.4, 0.3}, {0.9, 0.8, 2});
  for (const SymmetryPlanes& at : {planes(mirror, ground, mirror), plane(2, ground, -0.1)}) {
    ConductorOptions options = at_planes(at);
    options.interfaces = {"drop"};
    options.media = {{"drop", 5, 1}};
    options.applied.charges = {{{2.2, 1.5, 1.4}, 1e-10}};
    const ConductorSolution solution = solve_conductors(mesh, options, {{10.0}});
    REQUIRE(solution.converged);
    const Forces forces = conductor_forces(mesh, options, solution, 0);
    REQUIRE(forces.on_charges.size() == 1);

    // Images are groups of their own, conductors at potentials of their signs.
    std::vector<double> sign, given;
    SurfaceMesh whole = with_mirrored(mesh, at, sign);
    ConductorOptions all = options;
    all.planes = {};
    all.applied = solution.applied;
    const std::size_t n = mesh.triangles.size();
    for (std::size_t first = 0; first < sign.size(); first += n) {
      given.push_back(10 * sign[first]);
      if (first == 0) continue;
      for (const char* name : {"ball ", "drop "})
        add_group(whole, (name + std::to_string(first / n)).c_str());
      all.interfaces.push_back(whole.groups.back().name);
      all.media.push_back({whole.groups.back().name, 5, 1});
      for (std::size_t t = first; t < first + n; ++t)
        whole.group_of[t] += static_cast<int>(2 * (first / n));
    }
    const ConductorSolution exact = solve_conductors(whole, all, {given});
    REQUIRE(exact.converged);
    const Forces expected =
        conductor_forces(whole, all, exact, 0, {{{"ball"}, {"ball"}}, {{"drop"}, {"drop"}}});
    for (std::size_t b = 0; b < 2; ++b) {
      CAPTURE(forces.bodies[b].name);
      const double size = norm(expected.bodies[b].force);
      CHECK(norm(forces.bodies[b].force - expected.bodies[b].force) < 1e-5 * size);
      CHECK(norm(forces.bodies[b].torque - expected.bodies[b].torque) < 1e-5 * size);
      CHECK(norm(forces.bodies[b].stress_force - expected.bodies[b].stress_force) < 1e-5 * size);
    }
    CHECK(norm(forces.on_charges[0] - expected.on_charges[0]) <
          1e-5 * norm(expected.on_charges[0]));
    const double images = static_cast<double>(sign.size()) / static_cast<double>(n);
    CHECK(conductor_energy(mesh, options, solution, 0).total() ==
          Approx(conductor_energy(whole, all, exact, 0).total() / images).epsilon(1e-6));
  }
  const SurfaceMesh half = part_above(sphere(2), 2);
  const ConductorOptions options = at_planes(plane(2, mirror));
  const ConductorSolution solution = solve_conductors(half, options, {{1.0}});
  CHECK_THROWS_WITH(conductor_forces(half, options, solution, 0),
                    contains("touches a symmetry plane"));
}

TEST_CASE("images of charges, dipoles and lines are the sources seen in the planes") {
  const SymmetryPlanes at = planes(ground, mirror, ground, {0.1, -0.2, 0.3});
  const Panels panels = make_panels(sphere(1, 1, {3, 3, 3}), at);
  AppliedField sources;
  sources.charges = {{{1, 2, 3}, 1e-10, 2}};
  sources.dipoles = {{{2, 1, 1}, {1e-10, -2e-10, 5e-11}}};
  sources.lines = {{{0.5, 1, 1}, {1.5, 0.3, 2}, 1e-10}};
  const AppliedField all = with_images(sources, panels);
  for (const Vec3d& x : {Vec3d{0.7, 0.4, 0.9}, Vec3d{3, 1, 0.3}, Vec3d{0.1, 2, 2}}) {
    double potential = 0;
    Vec3d e{};
    for (int m = 0; m < 8; ++m) {
      Vec3d seen = x, direction{1, 1, 1};
      for (int axis = 0; axis < 3; ++axis)
        if (m >> axis & 1) {
          seen[axis] = 2 * at.at[axis]->offset - x[axis];
          direction[axis] = -1;
        }
      const double sign = ((m & 1) + (m >> 2 & 1)) % 2 == 0 ? 1 : -1;
      const Vec3d of_image = sources.field(seen, 1);
      potential += sign * sources.potential(seen, 1);
      for (int axis = 0; axis < 3; ++axis) e[axis] += sign * direction[axis] * of_image[axis];
    }
    CHECK(all.potential(x, 1) == Approx(potential).margin(1e-12));
    CHECK(norm(all.field(x, 1) - e) < 1e-11);
    if (x.x == 0.1 || x.z == 0.3) CHECK(std::abs(potential) < 1e-12);
  }
  sources.lines[0].from.y = -1;
  CHECK_THROWS_WITH(with_images(sources, panels), contains("not on the mesh's side"));
}

TEST_CASE("what cannot be at a plane is refused in a sentence") {
  const SurfaceMesh half = part_above(sphere(2), 2);
  const auto refused = [&](const ConductorOptions& options, const char* saying) {
    CHECK_THROWS_WITH(solve_conductors(half, options, {{1.0}}), contains(saying));
  };
  ConductorOptions options = at_planes(plane(2, ground));
  refused(options, "touches a ground plane and is at 1 V");
  options.floating = {"sphere"};
  refused(options, "floats and touches a ground plane");
  options = at_planes(plane(2, mirror));
  options.applied.uniform = {0, 0, 1};
  refused(options, "a uniform field along z cannot be at the mirror plane z = 0");
  options.applied = {};
  options.applied.charges = {{{0, 0, -2}, 1e-12}};
  refused(options, "not on the mesh's side of the mirror plane z = 0");
  options = at_planes(plane(2, ground));
  options.applied.uniform = {0, 1, 0};
  refused(options, "has to be across that plane");
  options = at_planes(plane(0, ground));
  refused(options, "has panels behind the ground plane x");
  options = at_planes(plane(2, mirror));
  options.op.processor = Processor::gpu;
  refused(options, "symmetry planes run on the CPU");
}

}  // namespace fmbem::test::planes_tests
