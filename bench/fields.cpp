// Prints the tables of docs/accuracy.md of fields near surfaces, of the discrete density against
// the textbook in long double and of the solved problem against the body, and of forces against
// closed forms.
// fmbem-bench-fields [LEVEL]: up to this many refinements of an octahedron (default 5).
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "bench/main.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/problems/conductor_field.hpp"
#include "fmbem/problems/conductor_forces.hpp"
#include "tests/unit/force_forms.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/textbook_field.hpp"

using namespace fmbem;
using namespace fmbem::test;

namespace {

const double unit_capacitance = natural_capacitance(1);

/// A place in a panel a fifth of the way at least from its edges.
Vec3d place_in(const Triangle& t, Uniform& uniform) {
  const double a = uniform(0.2, 0.4), b = uniform(0.2, 0.4);
  return a * t.vertex[0] + b * t.vertex[1] + (1 - a - b) * t.vertex[2];
}

/// Points off panels by that times the root of a panel's area.
std::vector<Vec3d> points_off(const Panels& panels, double distance, std::size_t count) {
  Uniform uniform(1);
  std::vector<Vec3d> points;
  for (std::size_t k = 0; k < count; ++k) {
    const Triangle t = panels.triangle(static_cast<std::size_t>(uniform(0, 0.999) * panels.size()));
    points.push_back(panels.origin + place_in(t, uniform) +
                     (distance * std::sqrt(t.area)) * t.normal);
  }
  return points;
}

void print_discrete() {
  std::printf("| surface | distance / h | φ | E | ∇E |\n|---|---|---|---|---|\n");
  struct Surface {
    const char* name;
    SurfaceMesh mesh;
  };
  for (const Surface& s :
       {Surface{"sphere, 512 panels", sphere(3)}, Surface{"cube, 588 panels", cube(7)},
        Surface{"plate of panels 1 : 100", long_plate(2, 100)}}) {
    const Panels panels = make_panels(s.mesh);
    const std::vector<double> sigma = signed_charges(panels.size(), 2);
    for (const double distance : near_distances) {
      const std::vector<Vec3d> points = points_off(panels, distance, 60);
      const Field field = evaluate_field(panels, sigma, points, {.gradient_of_e = true});
      double worst[3] = {};
      for (std::size_t i = 0; i < points.size(); ++i) {
        const TextbookField exact = textbook_field(panels, sigma, points[i]);
        worst[0] = larger_error(worst[0], exact.error_of_potential(field.potential[i]));
        worst[1] = larger_error(worst[1], exact.error_of_e(field.e[i]));
        worst[2] = larger_error(worst[2], exact.error_of_gradient(field.gradient_of_e[i]));
      }
      std::printf("| %s | %.0e | %.0e | %.0e | %.0e |\n", s.name, distance, worst[0], worst[1],
                  worst[2]);
      std::fflush(stdout);
    }
  }
}

/// A sphere at 1 V with a charge outside, whose density is of all degrees.
namespace charged_sphere {

constexpr Vec3d place{0, 0, 2}, image{0, 0, 0.5};
double potential(Vec3d x) { return 1 / norm(x) + 1 / norm(x - place) - 0.5 / norm(x - image); }
Vec3d field(Vec3d x) {
  const auto of_charge = [](Vec3d d) { return (1 / (norm2(d) * norm(d))) * d; };
  return of_charge(x) + of_charge(x - place) - 0.5 * of_charge(x - image);
}

/// Relative root mean square errors of φ and E at points of which `exact` says where on the body or
/// off it they stand.
struct Errors {
  double potential, field;
};
Errors errors_of(const ConductorSolution& solution, const std::vector<Vec3d>& points,
                 const std::vector<Vec3d>& exact) {
  const Field found = conductor_field(solution, 0, points, {.side = Side::positive});
  double error[2] = {}, size[2] = {};
  for (std::size_t i = 0; i < points.size(); ++i) {
    error[0] += std::pow(found.potential[i] - potential(exact[i]), 2);
    error[1] += norm2(found.e[i] - field(exact[i]));
    size[0] += std::pow(potential(exact[i]), 2);
    size[1] += norm2(field(exact[i]));
  }
  return {std::sqrt(error[0] / size[0]), std::sqrt(error[1] / size[1])};
}

}  // namespace charged_sphere

void print_against_body(int most) {
  std::printf("\n| distance | panels | φ | order | E | order |\n|---|---|---|---|---|---|\n");
  ConductorOptions options;
  options.solver.tolerance = 1e-8;
  options.applied.charges = {{charged_sphere::place, unit_capacitance}};
  std::vector<ConductorSolution> solutions;
  for (int level = 2; level <= most; ++level)
    solutions.push_back(solve_conductors(sphere(level), options, {{1}}));
  struct Row {
    const char* name;
    double distance;  ///< off the body, in h or in its radius
    bool in_h, on_panels;
  };
  for (const Row& row :
       {Row{"on the panels, outside", 0, true, true}, Row{"on the body", 0, true, false},
        Row{"1e-6 h", 1e-6, true, false}, Row{"0.01 h", 0.01, true, false},
        Row{"0.1 h", 0.1, true, false}, Row{"h", 1, true, false}, Row{"0.3", 0.3, false, false}}) {
    double before[2] = {};
    for (const ConductorSolution& solution : solutions) {
      Uniform uniform(3);
      std::vector<Vec3d> points, exact;
      for (int k = 0; k < 400; ++k) {
        const Triangle t = solution.panels.triangle(
            static_cast<std::size_t>(uniform(0, 0.999) * solution.panels.size()));
        const Vec3d on = solution.panels.origin + place_in(t, uniform);
        const double off = row.distance * (row.in_h ? std::sqrt(t.area) : 1);
        exact.push_back(((1 + off) / norm(on)) * on);
        points.push_back(row.on_panels ? on : exact.back());
      }
      const auto now = charged_sphere::errors_of(solution, points, exact);
      std::printf("| %s | %zu |", row.name, solution.panels.size());
      for (const auto& [error, last] :
           {std::pair(now.potential, &before[0]), std::pair(now.field, &before[1])}) {
        std::printf(*last > 0 ? " %.1e | %.1f |" : " %.1e | |", error, std::log2(*last / error));
        *last = error;
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  }
}

struct ForceCase {
  std::string name;
  double exact;  ///< of the component along `along`, or of the torque about it
  std::function<SurfaceMesh(int)> mesh;
  ConductorOptions options;
  std::vector<double> given;
  std::size_t body;
  Vec3d along;
  bool torque = false;
};

void print_forces(int most) {
  std::printf(
      "\n| what | panels | force | order | by Maxwell's stress | order | action + reaction |\n"
      "|---|---|---|---|---|---|---|\n");
  std::vector<ForceCase> cases;
  ConductorOptions plain;
  plain.solver.tolerance = 1e-8;
  const auto spheres = [](double apart) {
    return [apart](int level) {
      SurfaceMesh mesh = sphere(level);
      add_ellipsoid(mesh, "second", level, {0.5, 0.5, 0.5}, {0, 0, apart});
      return mesh;
    };
  };
  for (const double apart : {4.0, 1.7})
    cases.push_back({"spheres of radii 1 and 0.5, " + std::string(apart > 2 ? "4" : "1.7") +
                         " apart, at 1 and −0.5 V",
                     force_of_spheres(1, 0.5, apart, 1, -0.5),
                     spheres(apart),
                     plain,
                     {1, -0.5},
                     1,
                     {0, 0, 1}});
  const auto one = [](int level) { return sphere(level); };
  for (const double medium : {1.0, 2.0}) {
    ConductorOptions options = plain;
    options.permittivity = medium;
    options.interfaces = {"sphere"};
    options.media = {{"sphere", 4, medium}};
    options.applied.charges = {{{0, 0, 1.6}, unit_capacitance, medium}};
    cases.push_back({medium > 1 ? "the same in ε = 2" : "dielectric sphere, ε = 4, and a charge",
                     -force_at_dielectric_sphere(4, medium, 1.6),
                     one,
                     options,
                     {},
                     0,
                     {0, 0, 1}});
  }
  {
    ConductorOptions options = plain;
    options.floating = {"sphere"};
    options.applied.charges = {{{0, 0, 1.5}, unit_capacitance}};
    cases.push_back({"conducting sphere without charge, and a charge",
                     -force_at_charged_sphere(0, 1.5),
                     one,
                     options,
                     {0},
                     0,
                     {0, 0, 1}});
    options.applied = {.uniform = {0, 0, 1}};
    cases.push_back({"conducting sphere with a charge in a uniform field",
                     1,
                     one,
                     options,
                     {unit_capacitance},
                     0,
                     {0, 0, 1}});
  }
  {
    ConductorOptions options = plain;
    options.interfaces = {"spheroid"};
    options.media = {{"spheroid", 5, 1}};
    options.applied.uniform = {std::sin(0.6), 0, std::cos(0.6)};
    cases.push_back({"dielectric spheroid 2 : 1, ε = 5, in a uniform field: torque",
                     torque_on_spheroid(5, 2, 0.6),
                     [](int level) {
                       SurfaceMesh mesh;
                       add_ellipsoid(mesh, "spheroid", level, {1, 1, 2});
                       return mesh;
                     },
                     options,
                     {},
                     0,
                     {0, 1, 0},
                     true});
  }
  for (const ForceCase& c : cases) {
    double before[2] = {};
    for (int level = 2; level <= most; ++level) {
      const SurfaceMesh mesh = c.mesh(level);
      const ConductorSolution solution = solve_conductors(mesh, c.options, {c.given});
      const Forces forces = conductor_forces(mesh, c.options, solution, 0);
      const BodyForce& f = forces.bodies[c.body];
      const double values[2] = {dot(c.torque ? f.torque : f.force, c.along),
                                dot(c.torque ? f.stress_torque : f.stress_force, c.along)};
      Vec3d sum{};
      for (const BodyForce& body : forces.bodies) sum += body.force;
      for (const Vec3d& force : forces.on_charges) sum += force;
      std::printf("| %s | %zu |", c.name.c_str(), solution.panels.size());
      for (int k = 0; k < 2; ++k) {
        const double error = std::abs(values[k] / unit_capacitance / c.exact - 1);
        std::printf(before[k] > 0 ? " %.1e | %.1f |" : " %.1e | |", error,
                    std::log2(before[k] / error));
        before[k] = error;
      }
      if (norm2(c.options.applied.uniform) > 0)
        std::printf(" |\n");
      else
        std::printf(" %.0e |\n", norm(sum) / std::abs(unit_capacitance * c.exact));
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Fields near surfaces against the textbook and the body, and forces");
  int most = 5;
  app.add_option("LEVEL", most, "the most refinements of an octahedron")
      ->capture_default_str()
      ->check(bench::between(2, 11));
  return bench::run_main(app, argc, argv, [&] {
    print_discrete();
    print_against_body(most);
    print_forces(most);
  });
}
