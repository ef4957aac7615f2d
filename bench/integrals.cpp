// Prints how accurate the panel integrals are by distance: the closed form alone, every rule, and
// panel_potential(), which chooses between them; and the constants C of the rules of far_rules().
// The reference is a Gauss rule of 26 x 26 points, which is exact from three radii on (to 1e-11
// from one and a half).
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

#include "bench/main.hpp"
#include "fmbem/bem/near/far_rules.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/space/quadrature.hpp"
#include "tests/unit/larger_error.hpp"

using namespace fmbem;

namespace {

double by_rule(const TriangleRule& rule, const Triangle& t, Vec3d x) {
  const Vec3d d = t.vertex[0] - x, e1 = t.vertex[1] - t.vertex[0], e2 = t.vertex[2] - t.vertex[0];
  long double sum = 0;
  for (std::size_t q = 0; q < rule.weight.size(); ++q)
    sum += rule.weight[q] / norm(d + rule.xi[q] * e1 + rule.eta[q] * e2);
  return static_cast<double>(inv_4pi * t.area * sum);
}

/// Triangles of all shapes: well shaped, random, and slivers down to a height of 1e-4.
Triangle random_triangle(std::mt19937_64& random, int kind) {
  std::uniform_real_distribution<double> uniform;
  const double height = kind == 0   ? 0.86
                        : kind == 1 ? 0.05 + uniform(random)
                                    : std::pow(10, -4 * uniform(random));
  return make_triangle({0, 0, 0}, {1, 0, 0}, {kind == 0 ? 0.5 : uniform(random), height, 0});
}

Vec3d gradient_by_rule(const TriangleRule& rule, const Triangle& t, Vec3d x) {
  const Vec3d d = t.vertex[0] - x, e1 = t.vertex[1] - t.vertex[0], e2 = t.vertex[2] - t.vertex[0];
  Vec3d sum{};
  for (std::size_t q = 0; q < rule.weight.size(); ++q) {
    const Vec3d r = d + rule.xi[q] * e1 + rule.eta[q] * e2;
    sum += (rule.weight[q] / std::pow(norm(r), 3)) * r;
  }
  return inv_4pi * t.area * sum;
}

Symmetric3d hessian_by_rule(const TriangleRule& rule, const Triangle& t, Vec3d x) {
  const Vec3d d = t.vertex[0] - x, e1 = t.vertex[1] - t.vertex[0], e2 = t.vertex[2] - t.vertex[0];
  Symmetric3d sum{};
  for (std::size_t q = 0; q < rule.weight.size(); ++q) {
    const Vec3d r = d + rule.xi[q] * e1 + rule.eta[q] * e2;
    const double r2 = norm2(r), w = rule.weight[q] / std::pow(r2, 2.5);
    sum += w * Symmetric3d{3 * r.x * r.x - r2, 3 * r.x * r.y, 3 * r.x * r.z,
                           3 * r.y * r.y - r2, 3 * r.y * r.z, 3 * r.z * r.z - r2};
  }
  return (inv_4pi * t.area) * sum;
}

/// The largest error (distance/radius)^(degree + 1) of each rule, at some distances.
void print_constants(const TriangleRule& reference) {
  constexpr std::array<double, 4> distances{1.5, 2, 3, 5};
  std::printf("\n| points | degree |");
  for (const double d : distances) std::printf(" %g radii |", d);
  for (const double d : distances) std::printf(" gradient, %g |", d);
  for (const double d : distances) std::printf(" second derivatives, %g |", d);
  std::printf("\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  // A tolerance that only the last rule reaches at 1.5 radii, so that all rules are there.
  for (const FarRule& far : far_rules(1e-9, FarKernel::potential)) {
    std::printf("| %zu | %d |", far.rule.weight.size(), far.degree);
    std::array<double, distances.size()> potential{}, gradient{}, hessian{};
    std::mt19937_64 random(2);
    std::normal_distribution<double> normal;
    for (int k = 0; k < 3000; ++k) {
      const Triangle t = random_triangle(random, k % 3);
      Vec3d d{normal(random), normal(random), k % 2 ? 0 : normal(random)};
      for (std::size_t i = 0; i < distances.size(); ++i) {
        const Vec3d x = t.centroid + (distances[i] * t.radius / norm(d)) * d;
        const double scale = std::pow(distances[i], far.degree + 1);
        const Vec3d exact = gradient_by_rule(reference, t, x);
        potential[i] = test::larger_error(
            potential[i], scale * std::abs(by_rule(far.rule, t, x) / by_rule(reference, t, x) - 1));
        gradient[i] = test::larger_error(
            gradient[i], scale * norm(gradient_by_rule(far.rule, t, x) - exact) / norm(exact));
        const Symmetric3d second = hessian_by_rule(reference, t, x);
        hessian[i] = test::larger_error(
            hessian[i],
            scale * std::sqrt(norm2(hessian_by_rule(far.rule, t, x) - second) / norm2(second)));
      }
    }
    for (const double c : potential) std::printf(" %.1e |", c);
    for (const double c : gradient) std::printf(" %.1e |", c);
    for (const double c : hessian) std::printf(" %.1e |", c);
    std::printf("\n");
  }
}

/// By distance.
void print_errors(const TriangleRule& reference) {
  constexpr std::array<int, 7> points{2, 3, 4, 5, 6, 7, 9};
  std::array<TriangleRule, points.size()> rules;
  for (std::size_t k = 0; k < rules.size(); ++k) rules[k] = collapsed_gauss(points[k]);

  std::printf("| distance / radius | closed form | same, slivers |");
  for (const int n : points) std::printf(" %d x %d |", n, n);
  std::printf(" panel_potential | ns |\n|---|---|---|");
  for (std::size_t k = 0; k < rules.size() + 2; ++k) std::printf("---|");
  std::printf("\n");

  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (const double ratio : {3., 5., 7., 12., 30., 200., 1000., 1e4}) {
    std::array<double, points.size()> worst{};
    double closed = 0, closed_sliver = 0, chosen = 0, seconds = 0;
    const int samples = 6000;
    for (int k = 0; k < samples; ++k) {
      const Triangle t = random_triangle(random, k % 3);
      const bool in_plane = k % 2;
      Vec3d d{normal(random), normal(random), in_plane ? 0 : normal(random)};
      if (k % 5 == 0) d = t.vertex[k % 3] - t.centroid;
      const Vec3d x = t.centroid + (ratio * t.radius / norm(d)) * d;
      const double exact = by_rule(reference, t, x);
      double& worst_closed = k % 3 == 2 ? closed_sliver : closed;
      worst_closed =
          test::larger_error(worst_closed, std::abs(triangle_potential(t, x) / exact - 1));
      for (std::size_t r = 0; r < rules.size(); ++r)
        worst[r] = test::larger_error(worst[r], std::abs(by_rule(rules[r], t, x) / exact - 1));
      const auto start = std::chrono::steady_clock::now();
      double sum = 0;
      for (int repeat = 0; repeat < 20; ++repeat) sum += panel_potential(t, x);
      seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      chosen = test::larger_error(chosen, std::abs(sum / 20 / exact - 1));
    }
    std::printf("| %g | %.0e | %.0e |", ratio, closed, closed_sliver);
    for (const double error : worst) std::printf(" %.0e |", error);
    std::printf(" %.0e | %.0f |\n", chosen, 1e9 * seconds / (20.0 * samples));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("How accurate the panel integrals are by distance");
  return bench::run_main(app, argc, argv, [] {
    const TriangleRule reference = collapsed_gauss(26);
    print_errors(reference);
    print_constants(reference);
  });
}
