// The closed forms of boundary value problems, each by what it has to satisfy: Laplace's equation
// by differences, its boundary conditions, limits that are known otherwise.
#include "tests/unit/known_solutions.hpp"

#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "tests/unit/catch.hpp"
#include "tests/unit/closed_forms.hpp"
#include "tests/unit/dielectric_forms.hpp"
#include "tests/unit/grounded_ball.hpp"
#include "tests/unit/layered_sphere.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::known_solutions_tests {

namespace {

using Function = std::function<double(Vec3d)>;

/// Along an axis of length 1, by differences of fourth order.
double slope(const Function& f, Vec3d x, Vec3d axis, double h = 1e-3) {
  return (8 * (f(x + h * axis) - f(x - h * axis)) - (f(x + 2 * h * axis) - f(x - 2 * h * axis))) /
         (12 * h);
}

/// At x + side·0, from that side alone, by differences of fourth order.
double slope_from(const Function& f, Vec3d x, Vec3d axis, double side, double h = 1e-3) {
  const auto at = [&](double k) { return f(x + side * (k + 1e-6) * h * axis); };
  return side * (-25 * at(0) + 48 * at(1) - 36 * at(2) + 16 * at(3) - 3 * at(4)) / (12 * h);
}

double laplacian(const Function& f, Vec3d x, double h = 4e-3) {
  double sum = 0;
  for (const Vec3d& axis : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}})
    sum += (16 * (f(x + h * axis) + f(x - h * axis)) - (f(x + 2 * h * axis) + f(x - 2 * h * axis)) -
            30 * f(x)) /
           (12 * h * h);
  return sum;
}

/// ∇²φ = 0 and the gradient is that of φ, at points of that distance from the origin.
void check_harmonic(const Harmonic& harmonic, double r) {
  for (const Vec3d& s : sphere_points(5, 3)) {
    const Vec3d x = r * s;
    CHECK(laplacian(harmonic.potential, x) == Approx(0).margin(2e-6));
    for (const Vec3d& axis : {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}})
      CHECK(dot(axis, harmonic.gradient(x)) ==
            Approx(slope(harmonic.potential, x, axis)).margin(1e-8));
  }
}

Function real_part(const std::function<Complex(Vec3d)>& f) {
  return [=](Vec3d x) { return f(x).real(); };
}

/// φ and ε ∂φ/∂r are the same on both sides of every radius, and φ is harmonic between them; the
/// flux of complex permittivities by its real and imaginary part.
void check_layers(const LayeredSphere& sphere, const std::function<Complex(Vec3d)>& potential) {
  const Function real = real_part(potential),
                 imaginary = [&](Vec3d x) { return potential(x).imag(); };
  const auto gradient = [&](Vec3d x, double side) {
    const Vec3d axis = x / norm(x);
    return Complex(slope_from(real, x, axis, side), slope_from(imaginary, x, axis, side));
  };
  for (std::size_t k = 0; k < sphere.radius.size(); ++k) {
    for (const Vec3d& s : sphere_points(4, 8)) {
      const Vec3d x = sphere.radius[k] * s, step = 1e-9 * s;
      const Complex inside = sphere.permittivity[k] * gradient(x, -1),
                    outside = sphere.permittivity[k + 1] * gradient(x, 1);
      CAPTURE(k, inside, outside);
      CHECK(std::abs(potential(x - step) - potential(x + step)) < 1e-7);
      CHECK(std::abs(inside - outside) < 1e-5 * (1 + std::abs(inside)));
      CHECK(laplacian(real, 1.05 * x) == Approx(0).margin(1e-4));
    }
  }
}

}  // namespace

TEST_CASE("harmonics and fields of charges satisfy Laplace's equation") {
  const Vec3d axis{0.48, 0.6, 0.64};
  for (const int n : {0, 1, 2, 5}) {
    const Harmonic in = regular_harmonic(n, axis), out = irregular_harmonic(n, axis);
    check_harmonic(in, 0.7);
    check_harmonic(out, 1.4);
    for (const Vec3d& x : sphere_points(5, 2)) {
      const double value = in.potential(x);
      CHECK(out.potential(x) == Approx(value).margin(1e-14));
      CHECK(dot(x, in.gradient(x)) == Approx(n * value).margin(1e-13));
      CHECK(dot(x, out.gradient(x)) == Approx(-(n + 1) * value).margin(1e-13));
    }
  }
  CHECK(regular_harmonic(5, axis).potential(axis) == Approx(1));
  check_harmonic(field_of(charges_outside_unit_sphere()), 0.9);
  check_harmonic(field_of(charges_inside_unit_sphere()), 1.1);
}

TEST_CASE("charges of solutions lie on the side that they should, away from the surface") {
  const double ring = 2, tube = 0.8;
  const auto from_circle = [&](Vec3d x) { return std::hypot(std::hypot(x.x, x.y) - ring, x.z); };
  for (const auto& [place, q] : charges_outside_unit_sphere()) CHECK(norm(place) > 1.5);
  for (const auto& [place, q] : charges_inside_unit_sphere()) CHECK(norm(place) < 0.55);
  for (const auto& [place, q] : charges_outside_torus(ring, tube))
    CHECK(from_circle(place) > 1.5 * tube);
  for (const auto& [place, q] : charges_inside_torus(ring, tube))
    CHECK(from_circle(place) < 0.5 * tube);
}

TEST_CASE("half of a sphere at 1 and half at -1") {
  const Function f = halves_at_opposite_potentials;
  for (const double z : {1.05, 1.5, 4.0}) {  // [Jackson 1999, 2.7]
    const double exact = 1 - (z * z - 1) / (z * std::sqrt(z * z + 1));
    CHECK(f({0, 0, z}) == Approx(exact).epsilon(1e-12));
    CHECK(f({0, 0, -z}) == Approx(-exact).epsilon(1e-12));
    CHECK(f({0, 0, 1 / z}) == Approx(z * exact).epsilon(1e-12));  // Kelvin's inversion
  }
  for (const Vec3d& s : sphere_points(5, 4)) {
    CHECK(laplacian(f, 0.6 * s) == Approx(0).margin(1e-6));
    CHECK(laplacian(f, 1.5 * s) == Approx(0).margin(1e-6));
    if (std::abs(s.z) > 0.3) {
      CHECK(f(0.98 * s) == Approx(s.z > 0 ? 1 : -1).margin(0.1));
      CHECK(f(1.02 * s) == Approx(s.z > 0 ? 1 : -1).margin(0.1));
    }
  }
}

TEST_CASE("a charge over a dielectric half space") {
  const double above = 2, below = 5, height = 0.7;
  const Function f = [&](Vec3d x) { return charge_over_dielectric(above, below, height, x); };
  const Vec3d up{0, 0, 1};
  for (const double x : {0.0, 0.4, 3.0}) {
    const Vec3d at{x, -0.2, 0};
    CHECK(f(at + 1e-9 * up) == Approx(f(at - 1e-9 * up)).epsilon(1e-7));
    CHECK(above * slope_from(f, at, up, 1) ==
          Approx(below * slope_from(f, at, up, -1)).epsilon(1e-5));
  }
  CHECK(laplacian(f, {0.3, 0.2, 1.9}) == Approx(0).margin(1e-6));
  CHECK(laplacian(f, {0.3, 0.2, -0.9}) == Approx(0).margin(1e-6));
  CHECK(1e-6 * f({0, 1e-6, height}) == Approx(1 / above).epsilon(1e-5));
  CHECK(charge_over_dielectric(1, 1e12, 1, {0.5, 0, 0}) == Approx(0).margin(1e-11));
}

TEST_CASE("forces between two spheres, and between a charge and a sphere") {
  CHECK(force_between_spheres(1, 2, 300, 3, -5) == Approx(-15 / 9e4).epsilon(1e-5));
  CHECK(force_between_spheres(1, 2, 4, 1, 0.5) ==
        Approx(force_between_spheres(2, 1, 4, 0.5, 1)).epsilon(1e-9));
  // A charge at an isolated conducting sphere [Jackson 1999, 2.3], as a sphere that is small.
  const auto isolated = [](double a, double d, double of_sphere, double q) {
    const double s = d * d - a * a;
    return q / (d * d) * (of_sphere - q * a * a * a * (2 * d * d - a * a) / (d * s * s));
  };
  for (const double of_sphere : {0.0, 0.3, 2.0})
    CHECK(force_between_spheres(1, 1e-3, 2, of_sphere, 1) ==
          Approx(isolated(1, 2, of_sphere, 1)).epsilon(1e-7).margin(1e-7));
  CHECK(force_between_spheres(1, 1, 2.05, 1, 0.2) < 0);  // like charges that attract

  for (const double d : {1.2, 2.0}) {
    for (const double e : {0.2, 4.0, 80.0}) {
      const Function reaction = [&](Vec3d x) {
        return charge_at_sphere(e, d, x) - 1 / norm(x - Vec3d{0, 0, d});
      };
      CHECK(force_on_charge_at_sphere(e, 1, d) ==
            Approx(-slope(reaction, {0, 0, d}, {0, 0, 1})).epsilon(1e-7));
    }
    CHECK(force_on_charge_at_sphere(1e12, 1, d) == Approx(isolated(1, d, 0, 1)).epsilon(1e-9));
    CHECK(force_on_charge_at_sphere(7, 3, 3 * d) ==
          Approx(force_on_charge_at_sphere(7, 1, d) / 9).epsilon(1e-12));
  }
}

TEST_CASE("layers of a sphere in a uniform field") {
  const LayeredSphere ball{{1}, {4, 1}}, shell{{0.8, 1}, {1, 7, 1}},
      cell{{0.9, 1, 1.3}, {{70, -30}, {5, -0.2}, {20, -4}, {80, -10}}};
  for (const Vec3d& s : sphere_points(5, 6)) {
    for (const double r : {0.5, 0.9, 1.6}) {
      CHECK(ball.in_uniform_field(r * s).real() == Approx(sphere_in_field(4, r * s)));
      CHECK(shell.in_uniform_field(r * s).real() == Approx(shell_in_field(7, 0.8, r * s)));
    }
  }
  const auto in_cell = [&](Vec3d x) { return cell.in_uniform_field(x); };
  check_layers(cell, in_cell);

  // A coated sphere acts as one of ε₂ (b³/a³ + 2k)/(b³/a³ − k), k = (ε₁ − ε₂)/(ε₁ + 2ε₂) [Jones
  // 1995, appendix C].
  const Complex core{3, -20}, coat{8, -0.5}, medium{80, -2};
  const double ratio = std::pow(1 / 0.6, 3);
  const Complex k = (core - coat) / (core + 2.0 * coat),
                seen = coat * (ratio + 2.0 * k) / (ratio - k),
                moment = (seen - medium) / (seen + 2.0 * medium);
  const LayeredSphere coated{{0.6, 1}, {core, coat, medium}};
  for (const double z : {1.2, 3.0})
    CHECK(std::abs(coated.in_uniform_field({0, 0, z}) - (-z + moment / (z * z))) < 1e-13);
}

TEST_CASE("a charge and a dipole in a layered sphere") {
  const LayeredSphere ball{{1}, {4, 1}};
  for (const Vec3d& s : sphere_points(5, 7))
    for (const double r : {0.4, 1.3})
      CHECK(ball.of_charge({0, 0, 0.7}, r * s).real() ==
            Approx(charge_at_sphere(4, 0.7, r * s)).epsilon(1e-12));

  const LayeredSphere head{{0.87, 0.92, 1}, {1, 1.0 / 80, 1, 0}};
  const Vec3d place{0.2, -0.3, 0.5}, moment{0.6, 0.1, -0.4};
  const auto potential = [&](Vec3d x) { return head.of_dipole(place, moment, x); };
  const Function real = real_part(potential);
  const Vec3d across{0.36, 0.48, 0.8};
  for (const std::size_t k : {0, 1})  // the interfaces inside
    for (const Vec3d& s : sphere_points(4, 9)) {
      const Vec3d x = head.radius[k] * s;
      CHECK(real(x - 1e-9 * s) == Approx(real(x + 1e-9 * s)).margin(1e-6));
      CHECK(head.permittivity[k].real() * slope_from(real, x, s, -1, 2e-3) ==
            Approx(head.permittivity[k + 1].real() * slope_from(real, x, s, 1, 2e-3)).margin(1e-5));
    }
  double mean = 0;
  for (const auto& [t, w] : gauss_rule(30))
    for (int i = 0; i < 60; ++i) {
      const double ring = std::sqrt(1 - (2 * t - 1) * (2 * t - 1)),
                   angle = std::numbers::pi * i / 30;
      mean += w / 60 * real({ring * std::cos(angle), ring * std::sin(angle), 2 * t - 1});
    }
  CHECK(mean == Approx(0).margin(1e-12));
  for (const Vec3d& s : sphere_points(5, 10)) {
    CHECK(slope_from(real, s, s, -1) == Approx(0).margin(1e-7));  // no current leaves
    CHECK(laplacian(real, 0.8 * s, 2e-3) == Approx(0).margin(1e-3));
  }
  CHECK(real(0.9 * across) != Approx(real(0.95 * across)));

  // Alike everywhere: Σ (2n + 1)/n dⁿ Pₙ on the unit sphere has the sum 2/R − 2 − ln ((1 − x·p +
  // R)/2) [from the generating function], whose derivative by the place of the charge is the
  // dipole.
  const LayeredSphere alike{{0.87, 0.92, 1}, {0.33, 0.33, 0.33, 0}};
  for (const Vec3d& x : sphere_points(5, 11)) {
    const Function of_place = [&](Vec3d p) {
      const double apart = norm(x - p);
      return 2 / apart - std::log((1 - dot(x, p) + apart) / 2);
    };
    const double along = slope(of_place, place, moment / norm(moment)) * norm(moment) / 0.33;
    CHECK(alike.of_dipole(place, moment, x).real() == Approx(along).epsilon(1e-8).margin(1e-8));
  }
  // At the centre it is 3 p cos θ on the surface.
  CHECK(LayeredSphere{{1}, {1, 0}}.of_dipole({}, {0, 0, 1}, {0, 0.6, 0.8}).real() ==
        Approx(3 * 0.8));
}

TEST_CASE("likeness of potentials") {
  const std::vector<double> v{1, -2, 0.5, 3};
  std::vector<double> other;
  for (const double x : v) other.push_back(3 * x + 7);
  CHECK(likeness(other, v).rdm == Approx(0).margin(1e-14));
  CHECK(likeness(other, v).mag == Approx(3));
  for (double& x : other) x = -x;
  CHECK(likeness(other, v).rdm == Approx(2));
}

TEST_CASE("a ball before grounded and mirroring planes") {
  const auto none = Plane::none, ground = Plane::ground, mirror = Plane::mirror;
  const SquareMatrix two = two_spheres_exactly(1, 1, 3);
  CHECK(GroundedBall(1, {0, 0, 1.5}, {none, none, ground}).capacitance() ==
        Approx(two(0, 0) - two(0, 1)).epsilon(1e-12));
  CHECK(GroundedBall(1, {0, 1.5, 0}, {none, mirror, none}).capacitance() ==
        Approx(two(0, 0) + two(0, 1)).epsilon(1e-12));
  CHECK(GroundedBall(2, {4, 5, 6}, {none, none, none}).capacitance() == Approx(2));

  const GroundedBall corner(1, {1.6, 2, 1.8}, {ground, ground, ground}),
      mixed(1, {1.6, 2, 1.8}, {ground, mirror, none});
  for (const Vec3d& s : sphere_points(6, 12)) {
    CHECK(corner.potential(Vec3d{1.6, 2, 1.8} + s) == Approx(1).epsilon(1e-12));
    CHECK(mixed.potential(Vec3d{1.6, 2, 1.8} + s) == Approx(1).epsilon(1e-12));
  }
  for (const Vec3d& x : cube_points(6, 13)) {
    CHECK(corner.potential({5 * x.x, 0, 5 * x.z}) == Approx(0).margin(1e-12));
    CHECK(mixed.potential({0, 5 * x.y, 5 * x.z}) == Approx(0).margin(1e-12));
  }
  const Function f = [&](Vec3d x) { return corner.potential(x); },
                 g = [&](Vec3d x) { return mixed.potential(x); };
  CHECK(laplacian(f, {3.1, 3.3, 2.9}) == Approx(0).margin(1e-6));
  CHECK(laplacian(f, {1.6, 2, 2.9}) == Approx(0).margin(1e-6));
  CHECK(slope(g, {3.1, 0, 2.9}, {0, 1, 0}) == Approx(0).margin(1e-10));
  // Far from the planes 1/C = 1/a less the potential of the other charges.
  const double d = 40, far = GroundedBall(1, {d, d, d}, {ground, ground, ground}).capacitance();
  CHECK(
      1 / far ==
      Approx(1 - 3 / (2 * d) + 3 / (std::sqrt(8.0) * d) - 1 / (std::sqrt(12.0) * d)).epsilon(1e-5));
}

}  // namespace fmbem::test::known_solutions_tests
