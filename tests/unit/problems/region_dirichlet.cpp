// Dirichlet data by Green's identity and by a double layer, against harmonic functions.
#include "fmbem/problems/region_dirichlet.hpp"

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/reflected_surfaces.hpp"

namespace fmbem::test::region_dirichlet_tests {

namespace {

/// Radii 1 and 0.4, of 4 n² panels.
SurfaceMesh torus(int n) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "torus");
  const double turn = 2 * std::numbers::pi;
  for (int i = 0; i < 2 * n; ++i)
    for (int j = 0; j < n; ++j) {
      const double along = turn * i / (2 * n), around = turn * j / n;
      const double r = 1 + 0.4 * std::cos(around);
      add_vertex(mesh, {r * std::cos(along), r * std::sin(along), 0.4 * std::sin(around)});
    }
  const auto at = [&](int i, int j) { return i % (2 * n) * n + j % n; };
  for (int i = 0; i < 2 * n; ++i)
    for (int j = 0; j < n; ++j) {
      add_triangle(mesh, at(i, j), at(i + 1, j), at(i + 1, j + 1), group);
      add_triangle(mesh, at(i, j), at(i + 1, j + 1), at(i, j + 1), group);
    }
  return mesh;
}

struct Harmonic {
  std::function<double(Vec3d)> u;
  std::function<Vec3d(Vec3d)> gradient;
};

Harmonic exponential() {
  return {[](Vec3d x) { return std::exp(x.x) * std::cos(x.y); },
          [](Vec3d x) {
            return Vec3d{std::exp(x.x) * std::cos(x.y), -std::exp(x.x) * std::sin(x.y), 0};
          }};
}

/// 1/|x − place|
Harmonic charge_at(Vec3d place) {
  return {[place](Vec3d x) { return 1 / norm(x - place); },
          [place](Vec3d x) {
            const Vec3d d = x - place;
            return -1 / (norm2(d) * norm(d)) * d;
          }};
}

/// z/r³
Harmonic dipole() {
  return {[](Vec3d x) { return x.z / std::pow(norm(x), 3); },
          [](Vec3d x) {
            const double r = norm(x);
            return 1 / (r * r * r) * Vec3d{0, 0, 1} - 3 * x.z / std::pow(r, 5) * x;
          }};
}

struct Case {
  std::string name;
  std::function<SurfaceMesh(int level)> mesh;
  RegionSide side;
  Harmonic harmonic;
  double charge;  ///< over 4π, of what u is the potential of out there
};

std::vector<Case> cases() {
  const auto ball = [](int level) { return sphere(level + 2); };
  const auto ring = [](int level) { return torus(10 << level); };
  return {{"inside a sphere", ball, RegionSide::behind, exponential(), 0},
          {"outside a sphere, a dipole", ball, RegionSide::ahead, dipole(), 0},
          {"outside a sphere, a charge", ball, RegionSide::ahead, charge_at({0.2, 0.1, -0.3}), 1},
          {"inside a torus", ring, RegionSide::behind, exponential(), 0},
          {"outside a torus", ring, RegionSide::ahead, charge_at({0.95, 0.2, 0.05}), 1}};
}

/// Points of the region, away from its boundary.
std::vector<Vec3d> points_of(const Case& of) {
  std::vector<Vec3d> points;
  for (const Vec3d& x : sphere_points(30, 1)) {
    const double angle = std::atan2(x.y, x.x);
    if (of.side == RegionSide::ahead)
      points.push_back(2.2 * x);
    else if (of.name == "inside a torus")
      points.push_back(Vec3d{std::cos(angle), std::sin(angle), 0} + 0.2 * x);
    else
      points.push_back(0.6 * x);
  }
  return points;
}

std::vector<double> values_of(const Panels& panels, const std::function<double(Vec3d)>& u) {
  std::vector<double> g;
  for (std::size_t i = 0; i < panels.size(); ++i)
    g.push_back(u(panels.centroid(i) + panels.origin));
  return g;
}

DirichletOptions of(DirichletFormulation formulation) {
  DirichletOptions options;
  options.formulation = formulation;
  options.solver.tolerance = 1e-9;
  return options;
}
const char* name_of(DirichletFormulation formulation) {
  return formulation == DirichletFormulation::direct ? "direct" : "second kind";
}
constexpr DirichletFormulation both[] = {DirichletFormulation::direct,
                                         DirichletFormulation::second_kind};

double order(double coarse, double fine) { return std::log2(coarse / fine); }

double charge_of(const Panels& panels, const std::vector<double>& density) {
  double sum = 0;
  for (std::size_t i = 0; i < panels.size(); ++i) sum += panels.area(i) * density[i];
  return sum / (4 * std::numbers::pi);
}

}  // namespace

TEST_CASE("harmonic functions inside and outside a sphere and a torus, with their orders") {
  for (const Case& c : cases())
    for (const DirichletFormulation formulation : both) {
      double of_u[2], of_e[2], of_flux[2];
      for (const int level : {0, 1}) {
        const Panels panels = make_panels(c.mesh(level));
        const std::vector<RegionSide> side(panels.size(), c.side);
        RegionDirichlet problem(panels, side, of(formulation));
        const DirichletSolution s = problem.solve({values_of(panels, c.harmonic.u)})[0];
        CAPTURE(c.name, name_of(formulation), level, s.report.iterations);
        REQUIRE(s.report.converged);
        CHECK(s.report.iterations <= 18);
        CHECK(problem.completed() ==
              (c.side == RegionSide::ahead && formulation == DirichletFormulation::second_kind));
        const std::vector<Vec3d> points = points_of(c);
        const Field field = dirichlet_field(panels, s, points);
        double u = 0, size_u = 0, e = 0, size_e = 0, flux = 0, size_flux = 0;
        for (std::size_t k = 0; k < points.size(); ++k) {
          u += std::pow(field.potential[k] - c.harmonic.u(points[k]), 2);
          size_u += std::pow(c.harmonic.u(points[k]), 2);
          e += norm2(field.e[k] + c.harmonic.gradient(points[k]));
          size_e += norm2(c.harmonic.gradient(points[k]));
        }
        of_u[level] = std::sqrt(u / size_u);
        of_e[level] = std::sqrt(e / size_e);
        // Gauss: a double layer has no charge.
        CHECK(charge_of(panels, s.sigma) == Approx(c.charge).margin(level == 0 ? 0.02 : 5e-3));
        if (formulation == DirichletFormulation::second_kind) continue;
        for (std::size_t i = 0; i < panels.size(); ++i) {
          const Triangle t = panels.triangle(i);
          const double exact = dot(c.harmonic.gradient(t.centroid + panels.origin), t.normal);
          flux += t.area * std::pow(s.normal_derivative[i] - exact, 2);
          size_flux += t.area * exact * exact;
        }
        of_flux[level] = std::sqrt(flux / size_flux);
        // Green's identity: nothing beyond the boundary.
        const Case beyond{c.name == "inside a torus" ? "" : c.name, c.mesh,
                          c.side == RegionSide::ahead ? RegionSide::behind : RegionSide::ahead,
                          c.harmonic, 0};
        if (c.name.find("sphere") == std::string::npos) continue;
        const Field nothing = dirichlet_field(panels, s, points_of(beyond));
        for (const double value : nothing.potential)
          CHECK(std::abs(value) < 20 * of_u[level] * std::sqrt(size_u / points.size()));
      }
      CAPTURE(c.name, name_of(formulation), of_u[0], of_u[1], of_e[0], of_e[1]);
      CHECK(of_u[1] < 5e-3);
      CHECK(order(of_u[0], of_u[1]) == Approx(2).margin(0.4));
      CHECK(of_e[1] < 1e-2);
      CHECK(order(of_e[0], of_e[1]) > 1.6);
      if (formulation == DirichletFormulation::second_kind) continue;
      CAPTURE(of_flux[0], of_flux[1]);
      CHECK(of_flux[1] < 0.08);
      CHECK(order(of_flux[0], of_flux[1]) > 0.9);
    }
}

TEST_CASE("between two spheres, and with several data at once") {
  // u = a + b/r with u = 1 within and 3 without: b = −4, a = 5 at radii 1 and 2.
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "inner", 3, {1, 1, 1});
  add_ellipsoid(mesh, "outer", 3, {2, 2, 2});
  const Panels panels = make_panels(mesh);
  std::vector<RegionSide> side;
  std::vector<double> g;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const bool is_outer = norm(panels.centroid(i) + panels.origin) > 1.5;
    side.push_back(is_outer ? RegionSide::behind : RegionSide::ahead);
    g.push_back(is_outer ? 3 : 1);
  }
  const std::vector<double> constant(panels.size(), 2.0);
  const std::vector<Vec3d> points{{1.5, 0, 0}, {0.7, 0.8, 0.9}};
  for (const DirichletFormulation formulation : both) {
    RegionDirichlet problem(panels, side, of(formulation));
    const auto solutions = problem.solve({g, constant});
    CHECK(problem.completed() == (formulation == DirichletFormulation::second_kind ? 1 : 0));
    const Field field = dirichlet_field(panels, solutions[0], points),
                of_constant = dirichlet_field(panels, solutions[1], points);
    for (std::size_t k = 0; k < points.size(); ++k) {
      CHECK(field.potential[k] == Approx(5 - 4 / norm(points[k])).epsilon(2e-2));
      CHECK(of_constant.potential[k] == Approx(2).epsilon(1e-2));
      CHECK(norm(of_constant.e[k]) < 2e-2);
    }
  }
}

TEST_CASE("values on the boundary are the data, from the side of the region") {
  const Panels panels = make_panels(sphere(3));
  const std::vector<double> g = values_of(panels, exponential().u);
  for (const DirichletFormulation formulation : both)
    for (const RegionSide where : {RegionSide::behind, RegionSide::ahead}) {
      const std::vector<RegionSide> side(panels.size(), where);
      const DirichletSolution s = RegionDirichlet(panels, side, of(formulation)).solve({g})[0];
      std::vector<Vec3d> points;
      for (std::size_t i = 0; i < panels.size(); i += 50)
        points.push_back(panels.centroid(i) + panels.origin);
      const Field field =
          dirichlet_field(panels, s, points,
                          {.side = where == RegionSide::ahead ? Side::positive : Side::negative});
      for (std::size_t k = 0; k < points.size(); ++k)
        CHECK(field.potential[k] == Approx(g[50 * k]).epsilon(1e-7));
    }
}

TEST_CASE(
    "halves of spheres on planes are those spheres, and the FMM does as the dense operators") {
  const SurfaceMesh whole = sphere(3), half = part_above(whole, 2);
  for (const PlaneKind kind : {PlaneKind::mirror, PlaneKind::ground})
    for (const RegionSide where : {RegionSide::behind, RegionSide::ahead})
      for (const DirichletFormulation formulation : both) {
        const auto u = [&](Vec3d x) {
          return kind == PlaneKind::ground ? x.z * (1 + x.x) : 1 + x.x + x.z * x.z;
        };
        const Panels all = make_panels(whole), some = make_panels(half, plane(2, kind));
        DirichletOptions options = of(formulation);
        RegionDirichlet of_half(some, std::vector<RegionSide>(some.size(), where), options);
        if (kind == PlaneKind::mirror && where == RegionSide::behind)
          options.op.kind = OperatorOptions::Choice::fmm;
        RegionDirichlet of_whole(all, std::vector<RegionSide>(all.size(), where), options);
        CHECK(of_half.completed() == (formulation == DirichletFormulation::second_kind &&
                                      where == RegionSide::ahead && kind == PlaneKind::mirror));
        const auto a = of_half.solve({values_of(some, u)})[0],
                   b = of_whole.solve({values_of(all, u)})[0];
        REQUIRE(a.report.converged);
        const double r = where == RegionSide::ahead ? 2 : 0.5;
        const std::vector<Vec3d> points{{0.1 * r, 0.3 * r, 0.8 * r}, {0.6 * r, -0.2 * r, 0.1 * r}};
        const Field x = dirichlet_field(some, a, points), y = dirichlet_field(all, b, points);
        for (std::size_t k = 0; k < points.size(); ++k) {
          CHECK(x.potential[k] == Approx(y.potential[k]).epsilon(1e-7).margin(1e-8));
          CHECK(norm(x.e[k] - y.e[k]) < 1e-6);
        }
      }
}

TEST_CASE("boundaries that are open or have the region on both sides are refused") {
  const Panels open = make_panels(plate(2)), ball = make_panels(sphere(1));
  CHECK_THROWS_WITH(RegionDirichlet(open, std::vector<RegionSide>(open.size(), RegionSide::behind)),
                    contains("is not closed"));
  std::vector<RegionSide> side(ball.size(), RegionSide::behind);
  side[3] = RegionSide::ahead;
  CHECK_THROWS_WITH(RegionDirichlet(ball, side), contains("on both of its sides"));
  side.pop_back();
  CHECK_THROWS_AS(RegionDirichlet(ball, side), InputError);
  side.assign(ball.size(), RegionSide::behind);
  RegionDirichlet problem(ball, side);
  CHECK_THROWS_AS(problem.solve({{1.0, 2.0}}), InputError);
}

}  // namespace fmbem::test::region_dirichlet_tests
