// Forces, torques and energies against closed forms.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/conductor_forces.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/dielectric_forms.hpp"
#include "tests/unit/force_forms.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::forces_tests {

namespace {

constexpr double unit_capacitance = 4 * std::numbers::pi * epsilon_0;  // of 1 m

ConductorOptions to_tolerance(double tolerance = 1e-8) {
  ConductorOptions options;
  options.solver.tolerance = tolerance;
  return options;
}

double order(double coarse, double fine) { return std::log2(std::abs(coarse / fine)); }

/// The radius of the sphere inscribed in sphere(level), which itself is inscribed in that of 1:
/// what belongs to the panels is between what belongs to these.
double inner_radius(int level) {
  double least = 1;
  for (const Triangle& t : triangles_of(make_panels(sphere(level))))
    least = std::min(least, std::abs(dot(t.normal, t.vertex[0])));
  return least;
}

SurfaceMesh two_spheres(int level, double a, double b, double c) {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "first", level, {a, a, a}, {0, 0.5, -2});
  add_ellipsoid(mesh, "second", level, {b, b, b}, {0.6 * c, 0.5, -2 + 0.8 * c});
  return mesh;
}

Forces forces_of(const SurfaceMesh& mesh, const ConductorOptions& options,
                 const std::vector<double>& given, const std::vector<BodyOfGroups>& bodies = {}) {
  const ConductorSolution solution = solve_conductors(mesh, options, {given});
  REQUIRE(solution.converged);
  return conductor_forces(mesh, options, solution, 0, bodies);
}

}  // namespace

TEST_CASE("two charged conducting spheres, far apart and close", "[long][accuracy]") {
  struct Case {
    double a, b, c, v_b;
  };
  const double r = inner_radius(3);
  for (const Case& s : {Case{1, 0.5, 4, -0.5}, Case{1, 1, 2.3, -1}, Case{1, 0.7, 2, 0.4}}) {
    const double exact = unit_capacitance * force_of_spheres(s.a, s.b, s.c, 1, s.v_b);
    const double bound =
        std::abs(1 - unit_capacitance * force_of_spheres(r * s.a, r * s.b, s.c, 1, s.v_b) / exact);
    double error[2], stress_error[2];
    for (const int level : {2, 3}) {
      const Forces forces =
          forces_of(two_spheres(level, s.a, s.b, s.c), to_tolerance(), {1, s.v_b});
      const BodyForce &first = forces.bodies[0], &second = forces.bodies[1];
      const Vec3d along{0.6, 0, 0.8};
      CAPTURE(s.c, level, first.error);
      CHECK(norm(first.force + second.force) < 1e-5 * std::abs(exact));
      CHECK(norm(cross(along, second.force)) < 0.01 * std::abs(exact));
      CHECK(norm(first.torque) < 0.02 * std::abs(exact) * s.a);
      CHECK(first.error < 1e-4 * std::abs(exact));
      error[level - 2] = dot(second.force, along) / exact - 1;
      stress_error[level - 2] = dot(second.stress_force, along) / exact - 1;
    }
    CAPTURE(s.c, error[0], error[1], stress_error[0], stress_error[1]);
    CHECK(std::abs(error[1]) < bound);
    CHECK(order(error[0], error[1]) > 1.5);
    CHECK(std::abs(stress_error[1]) < 3 * bound);
    CHECK(order(stress_error[0], stress_error[1]) > 0.8);
  }
}

TEST_CASE("forces do not depend on the unit of length, and grow with a medium's permittivity") {
  SurfaceMesh mesh = two_spheres(2, 1, 0.5, 2);
  const Forces in_metres = forces_of(mesh, to_tolerance(), {1, -1});
  mesh.scale_to_m = 1e-3;
  const Forces in_millimetres = forces_of(mesh, to_tolerance(), {1, -1});
  ConductorOptions in_oil = to_tolerance();
  in_oil.permittivity = 2.5;
  const Forces oil = forces_of(mesh, in_oil, {1, -1});
  for (int b = 0; b < 2; ++b) {
    const BodyForce &one = in_metres.bodies[b], &other = in_millimetres.bodies[b];
    // ε₀ V² times numbers; charges and torques have a length.
    CHECK(norm(one.force - other.force) < 1e-9 * norm(one.force));
    CHECK(norm(one.stress_force - other.stress_force) < 1e-9 * norm(one.force));
    CHECK(norm(1e-3 * one.torque - other.torque) < 1e-12 * norm(one.force));
    CHECK(other.charge == Approx(1e-3 * one.charge));
    CHECK(oil.bodies[b].permittivity == 2.5);
    CHECK(norm(2.5 * other.force - oil.bodies[b].force) < 1e-6 * norm(oil.bodies[b].force));
  }
}

TEST_CASE("a point charge and a dielectric sphere, in vacuum and in a medium") {
  for (const double medium : {1.0, 2.0})
    for (const double permittivity : {4.0, 0.5, 80.0}) {
      const double distance = 1.6, r = inner_radius(3);
      const double over_unit = force_at_dielectric_sphere(permittivity, medium, distance),
                   exact = unit_capacitance * over_unit;
      const double bound = std::abs(
          1 - force_at_dielectric_sphere(permittivity, medium, distance / r) / (r * r) / over_unit);
      ConductorOptions options = to_tolerance();
      options.permittivity = medium;
      options.interfaces = {"sphere"};
      options.media = {{"sphere", permittivity, medium}};
      options.applied.charges = {{{0, 0, distance}, unit_capacitance, medium}};
      double error[2], stress_error[2];
      for (const int level : {2, 3}) {
        const Forces forces = forces_of(sphere(level), options, {});
        REQUIRE(forces.bodies.size() == 1);
        CHECK(norm(forces.bodies[0].force + forces.on_charges[0]) < 1e-5 * std::abs(exact));
        CHECK(std::abs(forces.bodies[0].charge) < 1e-6 * unit_capacitance);
        error[level - 2] = forces.on_charges[0].z / exact - 1;
        stress_error[level - 2] = -forces.bodies[0].stress_force.z / exact - 1;
      }
      CAPTURE(medium, permittivity, error[0], error[1], stress_error[0], stress_error[1]);
      CHECK(std::abs(error[1]) < bound);
      CHECK(order(error[0], error[1]) > 1.5);
      CHECK(std::abs(stress_error[1]) < 3 * bound);
      CHECK(order(stress_error[0], stress_error[1]) > 0.8);
    }
}

TEST_CASE("a point charge and a conducting sphere, with their energy") {
  const double d = 1.5, r = inner_radius(3);
  for (const double charge : {0.0, 0.7}) {
    ConductorOptions options = to_tolerance();
    options.floating = {"sphere"};
    // Of a sphere of radius a and charges Q and q = 1, over 4πε₀.
    const auto force = [&](double a) { return force_at_charged_sphere(charge, d / a) / (a * a); };
    const auto energy = [&](double a) {
      return charge * charge / (2 * a) + charge / d - 0.5 * a * a * a / (d * d * (d * d - a * a));
    };
    const double exact = unit_capacitance * force(1);
    double error[2], energy_error[2];
    for (const int level : {2, 3}) {
      const SurfaceMesh mesh = sphere(level);
      options.applied.charges = {{{0, d, 0}, unit_capacitance}};
      const ConductorSolution solution =
          solve_conductors(mesh, options, {{charge * unit_capacitance}});
      const Forces forces = conductor_forces(mesh, options, solution, 0);
      error[level - 2] = forces.on_charges[0].y / exact - 1;
      CHECK(norm(forces.bodies[0].force + forces.on_charges[0]) < 1e-5 * std::abs(exact));
      energy_error[level - 2] =
          conductor_energy(mesh, options, solution, 0).total() / unit_capacitance - energy(1);
    }
    CAPTURE(charge, error[0], error[1], energy_error[0], energy_error[1]);
    // The force on a charge Q does not depend on the radius at first, and the two parts of the
    // force work against each other.
    CHECK(std::abs(error[1] * exact) <
          unit_capacitance * std::abs(force_at_charged_sphere(0, d) -
                                      force_at_charged_sphere(0, d / r) / (r * r)));
    CHECK(order(error[0], error[1]) > 1.5);
    CHECK(std::abs(energy_error[1]) <
          std::abs(energy(1) - energy(r)) + 0.5 * charge * charge * (1 / r - 1));
    CHECK(order(energy_error[0], energy_error[1]) > 1.5);
  }
}

TEST_CASE("a conducting sphere in a uniform field: qE, and no force without a charge") {
  const Vec3d field{1, -2, 2}, centre{0.5, 3, -1};
  const double charge = 0.4 * unit_capacitance;
  ConductorOptions options = to_tolerance(1e-9);
  options.floating = {"sphere"};
  options.applied.uniform = field;
  double stress_error[2];
  for (const int level : {2, 3}) {
    const SurfaceMesh mesh = sphere(level, 1, centre);
    const ConductorSolution solution = solve_conductors(mesh, options, {{0.0}, {charge}});
    const BodyForce none = conductor_forces(mesh, options, solution, 0).bodies[0];
    const double size = unit_capacitance * norm2(field);
    CHECK(norm(none.force) < 1e-7 * size);
    CHECK(norm(none.torque) < 1e-6 * size);
    CHECK(norm(none.stress_force) < 1e-6 * size);
    // −½ p·E, p = 4πε₀ a³ E; and with a charge Q its own Q²/2a, and Q φ.
    const double r = inner_radius(level), of_moment = -0.5 * size,
                 slack = -of_moment * (1 - r * r * r) + 0.5 * charge * 0.4 * (1 / r - 1),
                 with_charge = of_moment + 0.5 * charge * 0.4 - charge * dot(field, centre);
    CHECK(std::abs(conductor_energy(mesh, options, solution, 0).total() - of_moment) < slack);
    CHECK(std::abs(conductor_energy(mesh, options, solution, 1).total() - with_charge) < slack);

    const Vec3d about{0, 1, 0};
    const BodyForce charged =
        conductor_forces(mesh, options, solution, 1, {{{"ball", about}, {"sphere"}}}).bodies[0];
    CHECK(charged.name == "ball");
    CHECK(norm(charged.force - charge * field) < 1e-7 * charge * norm(field));
    CHECK(norm(charged.torque - cross(centre - about, charge * field)) < 1e-6 * size);
    stress_error[level - 2] = norm(charged.stress_force - charge * field) / (charge * norm(field));
  }
  CAPTURE(stress_error[0], stress_error[1]);
  CHECK(stress_error[1] < 1 - std::pow(inner_radius(3), 3));
  CHECK(order(stress_error[0], stress_error[1]) > 0.8);
}

TEST_CASE("the torque on a dielectric spheroid in a uniform field") {
  const double angle = 0.6, permittivity = 5, c = 2,
               exact = unit_capacitance * torque_on_spheroid(permittivity, c, angle);
  ConductorOptions options = to_tolerance();
  options.interfaces = {"spheroid"};
  options.media = {{"spheroid", permittivity, 1}};
  options.applied.uniform = {std::sin(angle), 0, std::cos(angle)};
  double error[2], stress_error[2];
  for (const int level : {2, 3}) {
    SurfaceMesh mesh;
    add_ellipsoid(mesh, "spheroid", level, {1, 1, c}, {3, 1, -2});
    const BodyForce force = forces_of(mesh, options, {}).bodies[0];
    CHECK(norm(force.force) < 1e-6 * std::abs(exact));
    CHECK(std::hypot(force.torque.x, force.torque.z) < 1e-3 * std::abs(exact));
    error[level - 2] = force.torque.y / exact - 1;
    stress_error[level - 2] = force.stress_torque.y / exact - 1;
  }
  CAPTURE(error[0], error[1], stress_error[0], stress_error[1]);
  // Moments are of the volume.
  const double bound = 1 - std::pow(inner_radius(3), 3);
  CHECK(std::abs(error[1]) < bound);
  CHECK(order(error[0], error[1]) > 1.4);
  CHECK(std::abs(stress_error[1]) < 3 * bound);
  CHECK(order(stress_error[0], stress_error[1]) > 0.8);
}

TEST_CASE("two open disks: the derivative of their capacitance") {
  const double gap = 0.5, h = 1e-3;
  // C of the capacitor is half of Q/V of a disk at ±V, over 4πε₀.
  const auto energy = [](double g) { return disk_of_two(g, -1); };
  const double exact =
      unit_capacitance * (energy(gap + h) - energy(gap - h)) / (2 * h);  // ½ (V² + V²) C′
  SurfaceMesh mesh = disk(3), other = disk(3);
  const int upper = add_group(mesh, "upper"), first = static_cast<int>(mesh.vertices.size());
  for (const Vec3d& v : other.vertices) add_vertex(mesh, v + Vec3d{0, 0, gap});
  for (const auto& [a, b, c] : other.triangles)
    add_triangle(mesh, first + a, first + b, first + c, upper);
  const Forces forces = forces_of(mesh, to_tolerance(), {1, -1});
  CAPTURE(forces.bodies[1].force.z, exact);
  CHECK(forces.bodies[1].force.z == Approx(exact).epsilon(0.04));
  CHECK(norm(forces.bodies[0].force + forces.bodies[1].force) < 1e-5 * std::abs(exact));
  CHECK(std::isnan(forces.bodies[1].stress_force.z));
}

TEST_CASE("bodies a fiftieth of their panels apart, of any densities", "[long][accuracy]") {
  // The same charges on panels that are split into sixteen: their edges, along which E is infinite,
  // are others, and the gap is a twelfth of them.
  const double gap = 0.005;
  SurfaceMesh mesh;
  const int lower = add_group(mesh, "lower"), upper = add_group(mesh, "upper");
  add_grid(mesh, lower, 4, {}, {1, 0, 0}, {0, 1, 0});
  add_grid(mesh, upper, 3, {0.1, -0.05, gap}, {1, 0, 0}, {0, 1, 0});
  std::vector<double> density = signed_charges(mesh.triangles.size(), 6);
  BodyForce found[2][2];
  for (const int splits : {0, 2}) {
    for (int k = 0; k < splits; ++k) {
      std::vector<double> finer;
      std::vector<int> groups;
      for (std::size_t i = 0; i < density.size(); ++i) {
        finer.insert(finer.end(), 4, density[i]);
        groups.insert(groups.end(), 4, mesh.group_of[i]);
      }
      mesh.triangles = split_into_four(mesh.triangles, mesh.vertices);
      density = finer;
      mesh.group_of = groups;
    }
    const Panels panels = make_panels(mesh);
    std::vector<int> body_of;
    for (const std::int64_t i : panels.input_index) body_of.push_back(mesh.group_of[i]);
    const std::vector<char> is_interface(panels.size(), 0);
    const std::vector<double> one(panels.size(), 1.0), sigma = panels.from_input_order(density);
    const std::vector<Body> bodies{{"lower", Vec3d{}}, {"upper", Vec3d{}}};
    const Forces forces = find_forces(
        {{panels, body_of, is_interface, one, one}, sigma, bodies, {}, 1}, {.tolerance = 1e-5});
    // Not all cancels: forces are of 0.1 of what acts on the panels.
    const double size = epsilon_0 * 0.05;
    for (int b = 0; b < 2; ++b) found[splits / 2][b] = forces.bodies[b];
    CAPTURE(splits, norm(forces.bodies[0].force) / epsilon_0);
    CHECK(forces.bodies[0].error < 1e-3 * size);
    CHECK(norm(forces.bodies[0].force + forces.bodies[1].force) < 1e-4 * size);
    CHECK(norm(forces.bodies[0].torque + forces.bodies[1].torque) < 1e-4 * size);
  }
  for (int b = 0; b < 2; ++b) {
    CHECK(norm(found[0][b].force - found[1][b].force) < 1e-4 * epsilon_0 * 0.05);
    CHECK(norm(found[0][b].torque - found[1][b].torque) < 1e-4 * epsilon_0 * 0.05);
  }
}

TEST_CASE("what lies in a dielectric body belongs to it") {
  ConductorOptions options = to_tolerance();
  options.interfaces = {"coat"};
  options.media = {{"conductor", 3, 3}, {"coat", 3, 1}};
  options.applied.charges = {{{0, 0, 2.5}, unit_capacitance, 1},
                             {{1.2, 0, 0}, 0.3 * unit_capacitance, 3}};
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "conductor", 2, {0.8, 0.8, 0.8}, {0.1, 0, 0});
  add_ellipsoid(mesh, "coat", 2, {1.5, 1.5, 1.5});
  const Forces forces = forces_of(mesh, options, {0.5});
  REQUIRE(forces.bodies.size() == 2);
  const BodyForce &conductor = forces.bodies[0], &coat = forces.bodies[1];
  CHECK(conductor.permittivity == 3);
  CHECK(coat.permittivity == 1);
  // The coat with the conductor and the charge in it, against the charge outside.
  const double size = norm(forces.on_charges[0]);
  CHECK(norm(coat.force + forces.on_charges[0]) < 1e-5 * size);
  CHECK(norm(conductor.force) > 0.01 * size);
  // The same bodies as one, by name.
  const Forces joined = forces_of(mesh, options, {0.5}, {{{"all"}, {"conductor", "coat"}}});
  CHECK(norm(joined.bodies[0].force - coat.force) < 1e-5 * size);
  CHECK(norm(joined.bodies[0].stress_force - coat.stress_force) < 1e-5 * size);
  CHECK(coat.charge == Approx(joined.bodies[0].charge));

  // Alone in a uniform field the force is that on its free charge, all of which is inside.
  options.applied.charges.erase(options.applied.charges.begin());
  options.applied.uniform = {0, 2, 0};
  options.floating = {"conductor"};
  const double charge = 0.2 * unit_capacitance;
  const BodyForce alone = forces_of(mesh, options, {charge}).bodies[1];
  CHECK(alone.charge == Approx(0.5 * unit_capacitance).epsilon(1e-6));
  CHECK(norm(alone.force - Vec3d{0, 2 * 0.5 * unit_capacitance, 0}) < 1e-6 * unit_capacitance);
}

TEST_CASE("a shell of a dielectric has its cavity outside, with what is in there") {
  ConductorOptions options = to_tolerance();
  options.interfaces = {"inner", "outer"};
  options.media = {{"inner", 1, 4}, {"outer", 4, 1}};
  options.applied.charges = {{{0.2, 0, 0.1}, unit_capacitance, 1}};
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "inner", 2, {0.7, 0.7, 0.7});
  add_ellipsoid(mesh, "outer", 2, {1, 1, 1});
  const BodyOfGroups shell{{"shell"}, {"inner", "outer"}};
  const Forces forces = forces_of(mesh, options, {}, {shell});
  const double size = norm(forces.on_charges[0]);
  CHECK(size > 0.1 * unit_capacitance);
  CHECK(norm(forces.bodies[0].force + forces.on_charges[0]) < 1e-5 * size);
  CHECK(norm(forces.bodies[0].stress_force - forces.bodies[0].force) < 0.2 * size);

  // With a core of another medium it has a force where that belongs to it.
  options.media = {{"inner", 2, 4}, {"outer", 4, 1}};
  CHECK_THROWS_WITH(forces_of(mesh, options, {}, {shell}),
                    contains("has a medium of relative permittivity 1 around it and encloses one "
                             "of 2: give it its outer surface alone"));
  CHECK(forces_of(mesh, options, {}, {{{"shell"}, {"outer"}}}).bodies.size() == 1);
}

TEST_CASE("forces that are not defined, and bodies that are not there") {
  const SurfaceMesh mesh = two_spheres(1, 1, 1, 3);
  const ConductorOptions options = to_tolerance();
  const ConductorSolution solution = solve_conductors(mesh, options, {{1, 0}});
  const auto refused = [&](const std::vector<BodyOfGroups>& bodies, const char* saying) {
    CHECK_THROWS_AS(conductor_forces(mesh, options, solution, 0, bodies), InputError);
    CHECK_THROWS_WITH(conductor_forces(mesh, options, solution, 0, bodies), contains(saying));
  };
  refused({{{"a"}, {"third"}}}, "no group \"third\"");
  refused({{{"a"}, {"first"}}, {{"b"}, {"first"}}}, "belongs to two bodies, \"a\" and \"b\"");
  refused({{{"a"}, {}}}, "the body \"a\" has no panels");
  CHECK_THROWS_WITH(conductor_forces(mesh, options, solution, 1), contains("no problem 1"));
  CHECK_THROWS_WITH(conductor_forces(mesh, options, solution, 0, {}, {.tolerance = 0.5}),
                    contains("tolerance of forces"));

  const SurfaceMesh immersed = half_immersed_sphere(2, 2);
  ConductorOptions two_media = to_tolerance();
  two_media.conductors = {{"sphere", {"upper", "lower"}}};
  two_media.interfaces = {"border"};
  two_media.media = {{"lower", 3, 3}, {"border", 3, 1}};
  const ConductorSolution of_immersed = solve_conductors(immersed, two_media, {{1}});
  CHECK_THROWS_WITH(conductor_forces(immersed, two_media, of_immersed, 0),
                    contains("borders on media of relative permittivities 1 to 3"));
}

}  // namespace fmbem::test::forces_tests
