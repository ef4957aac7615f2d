// Media with losses against closed forms.
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/problems/images.hpp"
#include "fmbem/problems/solve_lossy.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/dielectric_forms.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/reflected_surfaces.hpp"

namespace fmbem::test::lossy_tests {

namespace {

constexpr double pi = std::numbers::pi;
constexpr Complex i_unit{0, 1};

/// What a group is: a conductor of that number, or an interface, and its media.
struct LossyGroup {
  int conductor;
  Complex behind, ahead;
};

LossyConditions conditions_of(const SurfaceMesh& mesh, const Panels& panels,
                              const std::vector<LossyGroup>& groups,
                              const std::vector<bool>& floats) {
  LossyConditions result;
  result.floats = floats;
  result.names.assign(floats.size(), "some conductor");
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const LossyGroup& group = groups[mesh.group_of[panels.input_index[i]]];
    using Kind = PanelConditions::Kind;
    result.kind.push_back(group.conductor < 0 ? Kind::flux : Kind::potential);
    result.behind.push_back(group.behind);
    result.ahead.push_back(group.ahead);
    result.conductor.push_back(group.conductor);
  }
  return result;
}

/// Of conductors at potentials, or with charges.
LossyData data_of(const LossyConditions& conditions, const std::vector<Complex>& given) {
  LossyData data{{}, given};
  for (std::size_t i = 0; i < conditions.kind.size(); ++i)
    data.given.push_back(conditions.conductor[i] < 0 || conditions.is_floating(i)
                             ? 0
                             : given[conditions.conductor[i]]);
  return data;
}

/// Over 4πε₀, of all panels, or those of a conductor.
Complex charge_of(const Panels& panels, const std::vector<Complex>& density,
                  const LossyConditions* conditions = nullptr, int conductor = 0) {
  Complex sum = 0;
  for (std::size_t i = 0; i < panels.size(); ++i)
    if (!conditions || conditions->conductor[i] == conductor) sum += panels.area(i) * density[i];
  return sum / (4 * pi);
}

LayerOptions tight() {
  LayerOptions options;
  options.solver.tolerance = 1e-9;
  return options;
}

double order(double coarse, double fine) { return std::log2(coarse / fine); }

const std::vector<Complex>& permittivities() {
  static const std::vector<Complex> all{{4, -3}, {0, -1}, {0, -50}, {1e6, -1e6}, {1e-3, -1e-3}};
  return all;
}

}  // namespace

TEST_CASE("a conducting sphere in a lossy coat has its complex capacitance") {
  for (const Complex permittivity : permittivities()) {
    if (sanitized && permittivity != permittivities()[0]) break;
    double error[2];
    for (const int level : {2, 3}) {
      SurfaceMesh mesh;
      add_ellipsoid(mesh, "conductor", level, {1, 1, 1});
      add_ellipsoid(mesh, "coat", level, {2, 2, 2});
      const Panels panels = make_panels(mesh);
      const auto conditions = conditions_of(
          mesh, panels, {{0, permittivity, permittivity}, {-1, permittivity, 1}}, {false});
      LossySystem system(panels, conditions, {}, 1);
      const LossySolution solution =
          solve_lossy(system, {data_of(conditions, {1.0}), data_of(conditions, {i_unit})}, tight());
      CAPTURE(permittivity, level, solution.solves[0].iterations);
      REQUIRE(solution.solves[0].converged);
      CHECK(solution.solves[0].iterations <= 14);
      const auto free = system.free_charge(solution.sigma[0]);
      const Complex charge = charge_of(panels, free, &conditions),
                    exact = 1.0 / (0.5 / permittivity + 0.5);
      error[level - 2] = std::abs(charge / exact - 1.0);
      // What leaves the conductor arrives at infinity.
      CHECK(std::abs(charge - charge_of(panels, solution.sigma[0])) < 1e-6 * std::abs(charge));
      // Potentials of i V have i times the charge.
      const Complex turned = charge_of(panels, system.free_charge(solution.sigma[1]), &conditions);
      CHECK(std::abs(turned - i_unit * charge) < 1e-6 * std::abs(charge));
    }
    CAPTURE(permittivity, error[0], error[1]);
    CHECK(error[1] < 1.3e-2);
    CHECK(order(error[0], error[1]) == Approx(1.9).margin(0.25));
  }
}

TEST_CASE("a lossy sphere and a lossy coat of another one in a uniform field") {
  for (const Complex e : permittivities()) {
    if (sanitized && e != permittivities()[0]) break;
    double error[2], of_coated[2];
    for (const int level : {2, 3}) {
      const SurfaceMesh mesh = sphere(level);
      const Panels panels = make_panels(mesh);
      const auto conditions = conditions_of(mesh, panels, {{-1, e, 1}}, {});
      LossySystem system(panels, conditions, {{.uniform = {0, 0, 2}}}, 1);
      const LossySolution solution = solve_lossy(system, {data_of(conditions, {})}, tight());
      REQUIRE(solution.solves[0].converged);
      CHECK(std::abs(charge_of(panels, solution.sigma[0])) < 1e-9);
      // Inside the field is uniform; outside there is a dipole.
      const Complex k = (e - 1.0) / (e + 2.0);
      const std::vector<Vec3d> points{{0.2, 0.3, -0.4}, {0.5, 1, 1.5}};
      const ComplexField field = system.field(solution.sigma[0], points);
      const double r3 = std::pow(norm(points[1]), 3);
      error[level - 2] =
          larger_error(std::abs(field.potential[0] + 2 * points[0].z * (1.0 - k)),
                       std::abs(field.potential[1] + 2 * points[1].z * (1.0 - k / r3)));
      CHECK(std::abs(field.e[0].z - 2.0 * (1.0 - k)) < 0.1 * std::abs(1.0 - k) + 0.1);

      // A core of 3 within radius 0.7 in a coat of e: the sphere's permittivity is
      // e (1 + 2 f q)/(1 − f q), q = (3 − e)/(3 + 2e), f = 0.7³ [Maxwell].
      SurfaceMesh coated;
      add_ellipsoid(coated, "core", level, {0.7, 0.7, 0.7});
      add_ellipsoid(coated, "coat", level, {1, 1, 1});
      const Panels both = make_panels(coated);
      const auto media = conditions_of(coated, both, {{-1, 3, e}, {-1, e, 1}}, {});
      LossySystem of_both(both, media, {{.uniform = {0, 0, 1}}}, 1);
      const LossySolution solved = solve_lossy(of_both, {data_of(media, {})}, tight());
      REQUIRE(solved.solves[0].converged);
      const double f = 0.343;
      const Complex q = (3.0 - e) / (3.0 + 2.0 * e), whole = e * (1.0 + 2 * f * q) / (1.0 - f * q),
                    dipole = 4 * pi * (whole - 1.0) / (whole + 2.0);
      Complex moment = 0;
      for (std::size_t i = 0; i < both.size(); ++i)
        moment += solved.sigma[0][i] * both.area(i) * both.centroid(i).z;
      of_coated[level - 2] = std::abs(moment - dipole) / (4 * pi);
    }
    CAPTURE(e, error[0], error[1], of_coated[0], of_coated[1]);
    CHECK(error[1] < 0.06);
    CHECK(order(error[0], error[1]) > 1.5);
    CHECK(of_coated[1] < 0.06);
    CHECK(order(of_coated[0], of_coated[1]) > 1.5);
  }
}

TEST_CASE("iω times the charge is the current, and what floats has what is given") {
  // A sphere of 1 m in a medium: Q = 4πε̃ and iωQ = 4π(κ + iωε).
  const double omega = 2e6, conductivity = 1e-5;
  const Complex e = lossy_permittivity(5, conductivity, omega);
  const SurfaceMesh mesh = sphere(4);
  const Panels panels = make_panels(mesh);
  const auto conditions = conditions_of(mesh, panels, {{0, e, e}}, {false});
  LossySystem system(panels, conditions, {}, 1);
  const auto leaves = leaves_of_unknowns(panels, 2 * panels.size());
  CHECK(leaves.back() == static_cast<std::int64_t>(2 * panels.size()));
  CHECK(leaves.size() == 2 * panels.leaves() + 1);
  const LossySolution solution = solve_lossy(system, {data_of(conditions, {1.0})}, tight());
  const Complex charge = 4 * pi * epsilon_0 *
                         charge_of(panels, system.free_charge(solution.sigma[0]), &conditions),
                exact = 4 * pi * (conductivity + i_unit * omega * 5.0 * epsilon_0);
  CHECK(std::abs(i_unit * omega * charge / exact - 1.0) < 3e-3);

  auto free = conditions;
  free.floats = {true};
  LossySystem floating(panels, free, {{.uniform = {0, 0, 1}}}, 1);
  const LossySolution found = solve_lossy(floating, {data_of(free, {charge})}, tight());
  std::vector<Complex> potential{0.0};
  floating.find_potentials(found.sigma[0], true, potential);
  CHECK(std::abs(potential[0] - 1.0) < 1e-6);
}

TEST_CASE("a charge outside and inside a lossy sphere") {
  // Kirkwood's series, of a charge of 4πε₀ on the z axis; points are where it is.
  const auto series = [](Complex e, double d, Vec3d x) {
    const double r = norm(x), cosine = x.z / r;
    Complex sum = 1.0 / (norm(x - Vec3d{0, 0, d}) * (d < 1 ? e : 1.0));
    double legendre = 1, before = 0;
    for (int n = 0; n < 200; ++n) {
      const Complex both = static_cast<double>(n) * e + (n + 1.0);
      sum +=
          legendre * (d < 1 ? (n + 1.0) * (e - 1.0) / both * std::pow(d * r, n) / e
                            : static_cast<double>(n) * (1.0 - e) / both / std::pow(d * r, n + 1));
      const double next = ((2 * n + 1) * cosine * legendre - n * before) / (n + 1);
      before = legendre;
      legendre = next;
    }
    return sum;
  };
  const Complex e{3, -4};
  for (const double distance : {0.5, 1.8}) {
    double error[2];
    for (const int level : {2, 3}) {
      const SurfaceMesh mesh = sphere(level);
      const Panels panels = make_panels(mesh);
      const auto conditions = conditions_of(mesh, panels, {{-1, e, 1}}, {});
      const AppliedField charge{.charges = {{{0, 0, distance}, 4 * pi * epsilon_0}}};
      LossySystem system(panels, conditions,
                         in_lossy_media(charge, {.charges = {distance < 1 ? e : 1.0}}), 1);
      const LossySolution solution = solve_lossy(system, {data_of(conditions, {})}, tight());
      REQUIRE(solution.solves[0].converged);
      // Gauss: what is bound on the sphere and at the charge.
      CHECK(std::abs(charge_of(panels, solution.sigma[0]) -
                     (distance < 1 ? 1.0 - 1.0 / e : Complex(0))) < 1e-7);
      const double r = distance < 1 ? 0.6 : 1.6;
      const std::vector<Vec3d> points{{r, 0, 0}, {0.6 * r, 0.8 * r, 0}, {0, 0, -r}};
      const ComplexField field = system.field(solution.sigma[0], points);
      error[level - 2] = 0;
      for (std::size_t k = 0; k < points.size(); ++k)
        error[level - 2] = larger_error(
            error[level - 2], std::abs(field.potential[k] - series(e, distance, points[k])));
    }
    CAPTURE(distance, error[0], error[1]);
    CHECK(error[1] < 0.01);
    CHECK(order(error[0], error[1]) > 1.5);
  }
}

TEST_CASE("sheets between lossy media, and a sphere half in one") {
  // Of a disk in the border of two half spaces half is in each.
  const Complex below{7, -2}, above{1, -5};
  const SurfaceMesh mesh = disk(3);
  const Panels panels = make_panels(mesh);
  const auto vacuum = conditions_of(mesh, panels, {{0, 1, 1}}, {false}),
             between = conditions_of(mesh, panels, {{0, below, above}}, {false});
  const auto charge = [&](const LossyConditions& conditions) {
    LossySystem system(panels, conditions, {}, 1);
    const LossySolution solution = solve_lossy(system, {data_of(conditions, {1.0})}, tight());
    return charge_of(panels, system.free_charge(solution.sigma[0]), &conditions);
  };
  CHECK(std::abs(charge(between) / charge(vacuum) - (below + above) / 2.0) < 1e-6);

  const SurfaceMesh immersed = half_immersed_sphere(3, 3);
  const Panels of_sphere = make_panels(immersed);
  const auto media =
      conditions_of(immersed, of_sphere, {{0, 1, 1}, {0, below, below}, {-1, below, 1}}, {false});
  LossySystem system(of_sphere, media, {}, 1);
  const LossySolution solution = solve_lossy(system, {data_of(media, {1.0})}, tight());
  REQUIRE(solution.solves[0].converged);
  CHECK(std::abs(charge_of(of_sphere, system.free_charge(solution.sigma[0]), &media) /
                     ((1.0 + below) / 2.0) -
                 1.0) < 1e-2);
}

TEST_CASE("half of a lossy sphere on a plane is that sphere") {
  const SurfaceMesh whole = sphere(3), half = part_above(whole, 2);
  for (const PlaneKind kind : {PlaneKind::mirror, PlaneKind::ground}) {
    const AppliedField applied{.uniform =
                                   kind == PlaneKind::mirror ? Vec3d{1, 0, 0} : Vec3d{0, 0, 1}};
    const std::vector<Vec3d> points{{0.2, 0.1, 0.5}, {1, 1, 1}};
    const auto field = [&](const SurfaceMesh& mesh, const Panels& panels) {
      const auto conditions = conditions_of(mesh, panels, {{-1, {2, -7}, 1}}, {});
      LossySystem system(panels, conditions, {with_images(applied, panels)}, 1);
      return system.field(solve_lossy(system, {data_of(conditions, {})}, tight()).sigma[0], points);
    };
    const ComplexField a = field(half, make_panels(half, plane(2, kind))),
                       b = field(whole, make_panels(whole));
    for (std::size_t k = 0; k < points.size(); ++k)
      CHECK(std::abs(a.potential[k] - b.potential[k]) < 1e-7);
  }
}

TEST_CASE("lossy media that cannot be are refused") {
  const SurfaceMesh mesh = sphere(1);
  const Panels panels = make_panels(mesh);
  const auto refused = [&](const LossyGroup& group, bool floats, const char* saying) {
    CHECK_THROWS_WITH(LossySystem(panels, conditions_of(mesh, panels, {group}, {floats}), {}, 1),
                      contains(saying));
  };
  refused({-1, {1, 1}, 1}, false, "an imaginary part that is not positive");
  refused({-1, {-1, 0}, 1}, false, "must have a real part that is not negative");
  refused({-1, 0, 0}, false, "no medium on either side");
  refused({-1, {NAN, 0}, 1}, false, "the permittivity");
  refused({0, 2, 1}, true, "floats between two media");
  CHECK_THROWS_WITH(in_lossy_media({.charges = {{{0, 0, 3}, 1}}}, {}), contains("the media of 0"));
  CHECK_THROWS_AS(in_lossy_media({.charges = {{{0, 0, 3}, 1}}}, {.charges = {0}}), InputError);
  CHECK_THROWS_AS(lossy_permittivity(1, 1, 0), InputError);
}

}  // namespace fmbem::test::lossy_tests
