#include "tests/unit/known_solutions.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "tests/unit/closed_forms.hpp"

namespace fmbem::test {
namespace {

/// Pₙ and its derivative at t, by the recurrence of Bonnet.
std::pair<double, double> legendre(int n, double t) {
  double p = 1, before = 0, slope = 0, slope_before = 0;
  for (int k = 0; k < n; ++k) {
    const double next = ((2 * k + 1) * t * p - k * before) / (k + 1);
    const double next_slope = slope_before + (2 * k + 1) * p;
    before = p, p = next;
    slope_before = slope, slope = next_slope;
  }
  return {p, slope};
}

/// rᵏ Pₙ(x̂·a) and its gradient.
Harmonic zonal(int n, double power, Vec3d axis) {
  return {[=](Vec3d x) {
            const double r = norm(x);
            return std::pow(r, power) * legendre(n, dot(x, axis) / r).first;
          },
          [=](Vec3d x) {
            const double r = norm(x), t = dot(x, axis) / r;
            const auto [p, slope] = legendre(n, t);
            return std::pow(r, power - 1) * (power * p / r * x + slope * (axis - t / r * x));
          }};
}

double length_without_mean(std::vector<double>& values) {
  double mean = 0, square = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  for (double& v : values) {
    v -= mean;
    square += v * v;
  }
  return std::sqrt(square);
}

}  // namespace

Harmonic field_of(const std::vector<Charge>& charges) {
  return {[charges](Vec3d x) {
            double sum = 0;
            for (const auto& [place, q] : charges) sum += q / norm(x - place);
            return sum;
          },
          [charges](Vec3d x) {
            Vec3d sum{};
            for (const auto& [place, q] : charges)
              sum += -q / std::pow(norm2(x - place), 1.5) * (x - place);
            return sum;
          }};
}

Harmonic regular_harmonic(int n, Vec3d axis) { return zonal(n, n, axis); }
Harmonic irregular_harmonic(int n, Vec3d axis) { return zonal(n, -n - 1, axis); }

std::vector<Charge> charges_outside_unit_sphere() {
  return {{{1.2, -0.9, 0.8}, 1}, {{-0.4, 1.7, -0.6}, -2}, {{0.1, 0.3, -2.2}, 1.5}};
}

std::vector<Charge> charges_inside_unit_sphere() {
  return {{{0.3, -0.2, 0.25}, 1}, {{-0.35, 0.2, 0.1}, -0.6}, {{0.05, 0.3, -0.3}, 0.8}};
}

std::vector<Charge> charges_outside_torus(double ring, double tube) {
  const double far = ring + 2.5 * tube;
  return {{{0.1 * ring, -0.1 * ring, 0.2 * tube}, 1},
          {{0.8 * far, 0.6 * far, 0.5 * tube}, -1.5},
          {{-0.5 * ring, 0.6 * ring, 2.2 * tube}, 0.7}};
}

std::vector<Charge> charges_inside_torus(double ring, double tube) {
  std::vector<Charge> charges{{{ring, 0.2 * tube, 0.3 * tube}, 1},
                              {{-0.6 * ring, 0.8 * ring, -0.3 * tube}, -0.5}};
  constexpr int n = 40;
  for (int k = 0; k < n; ++k) {
    const double angle = 2 * std::numbers::pi * k / n;
    charges.push_back({{ring * std::cos(angle), ring * std::sin(angle), 0.1 * tube}, 2.0 / n});
  }
  return charges;
}

double halves_at_opposite_potentials(Vec3d x) {
  const double r = norm(x), t = x.z / r;
  // P_{n−1}(0), n odd: P₀(0) = 1, P_{k+2}(0) = −(k + 1)/(k + 2) P_k(0).
  double at_zero = 1, sum = 0, before = 0, p = 1;
  for (int n = 1; n < 2000; ++n) {
    const double next = ((2 * n - 1) * t * p - (n - 1) * before) / n;
    before = p, p = next;
    if (n % 2 == 0) continue;
    const double after = -at_zero * n / (n + 1);
    sum += (at_zero - after) * std::pow(r, r < 1 ? n : -n - 1) * p;
    at_zero = after;
  }
  return sum;
}

double charge_over_dielectric(double above, double below, double height, Vec3d x) {
  const double apart = norm(x - Vec3d{0, 0, height}), from_image = norm(x + Vec3d{0, 0, height});
  if (x.z < 0) return 2 / (above + below) / apart;
  return (1 / apart + (above - below) / (above + below) / from_image) / above;
}

double force_between_spheres(double a, double b, double c, double q1, double q2) {
  const auto energy = [&](double apart) {
    const SquareMatrix m = two_spheres_exactly(a, b, apart);
    const double det = m(0, 0) * m(1, 1) - m(0, 1) * m(1, 0);
    return 0.5 * (m(1, 1) * q1 * q1 - 2 * m(0, 1) * q1 * q2 + m(0, 0) * q2 * q2) / det;
  };
  const double h = 2e-3 * (c - a - b);
  return (8 * (energy(c - h) - energy(c + h)) - (energy(c - 2 * h) - energy(c + 2 * h))) / (12 * h);
}

double force_on_charge_at_sphere(double permittivity, double a, double d) {
  const double e = permittivity;
  double sum = 0;
  for (int n = 1; n < 4000; ++n)
    sum -= n * (n + 1.0) * (e - 1) / (n * (e + 1) + 1) * std::pow(a / d, 2 * n + 1) / (d * d);
  return sum;
}

Likeness likeness(std::vector<double> computed, std::vector<double> exact) {
  const double length = length_without_mean(computed), exact_length = length_without_mean(exact);
  double square = 0;
  for (std::size_t i = 0; i < computed.size(); ++i) {
    const double d = computed[i] / length - exact[i] / exact_length;
    square += d * d;
  }
  return {std::sqrt(square), length / exact_length};
}

SurfaceMesh split_in_two(SurfaceMesh mesh, const std::function<bool(Vec3d)>& is_upper) {
  mesh.groups = {{"upper", 1}, {"lower", 2}};
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto& [a, b, c] = mesh.triangles[t];
    const Vec3d centroid = (mesh.vertices[a] + mesh.vertices[b] + mesh.vertices[c]) / 3.0;
    mesh.group_of[t] = is_upper(centroid) ? 0 : 1;
  }
  return mesh;
}

}  // namespace fmbem::test
