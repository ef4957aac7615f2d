// Potentials of charges and dipoles at points on the GPU against exact integrals on the CPU.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "fmbem/bem/layer/cuda/potential_at_points.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"
#include "fmbem/bem/near/yukawa_integrals.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/bem/field_points.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::cuda_potentials_tests {

using cuda::bem::layer_potential;

namespace {

using Points = std::vector<Vec3d>;

/// Σ_j σ_j V_j + μ_j K_j at points by exact integrals; and Σ_j |σ_j| V_j + |μ_j|/2, what errors are
/// relative to: V as it is, and K, whose norm counts as 1/2, near a panel.
struct Exact {
  Vector potential, size;

  Exact(const Panels& panels, const Vector& sigma, const Vector& mu, const Points& points,
        double kappa)
      : potential(points.size()), size(points.size()) {
    const auto n = static_cast<std::int64_t>(points.size());
    double largest = 0;
    for (const double m : mu) largest = larger_error(largest, std::abs(m));
#pragma omp parallel for schedule(dynamic, 4)
    for (std::int64_t i = 0; i < n; ++i) {
      const Vec3d x = points[i] - panels.origin;
      const double rounding = surface_rounding(panels, x);
      size[i] = 0.5 * largest;
      for (std::size_t j = 0; j < panels.size(); ++j) {
        const Triangle t = panels.triangle(j);
        double v = 0, k = 0;
        if (kappa == 0) {
          v = panel_potential(t, x);
          k = triangle_double_layer(t, x);
        } else {
          const YukawaIntegrals both = yukawa_integrals(t, x, kappa, rounding);
          v = both.potential;
          k = both.double_layer;
        }
        if (on_triangle(t, x, rounding)) k = 0;
        potential[i] += sigma[j] * v + mu[j] * k;
        size[i] += std::abs(sigma[j]) * v;
      }
    }
  }
};

double error_of(const Vector& potential, const Exact& exact) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < potential.size(); ++i) {
    error = std::hypot(error, potential[i] - exact.potential[i]);
    size = std::hypot(size, exact.size[i]);
  }
  return error / size;
}

/// The dipoles of a body: some constant part, as potentials on a surface have, and another of mixed
/// sign.
Vector dipoles_on(const Panels& panels) {
  Vector mu = signed_charges(panels.size(), 3);
  for (double& m : mu) m = 1 + 0.3 * m;
  return mu;
}

}  // namespace

TEST_CASE("potentials of charges and dipoles on the GPU agree with exact integrals") {
  if (!gpu_is_there()) return;
  const std::vector<SurfaceMesh> meshes{sphere(4, 0.01, {3, 4, 5}), bracket(7), long_plate(4, 150)};
  for (std::size_t body = 0; body < meshes.size(); ++body) {
    const Panels panels = make_panels(meshes[body]);
    const Vector sigma = signed_charges(panels.size(), 2), mu = dipoles_on(panels);
    const Points points = points_about(panels, 500);
    for (const double of_extent : {0.0, 2.0, 40.0}) {
      const double kappa = of_extent / panels.extent;
      const Exact exact(panels, sigma, mu, points, kappa);
      for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-9}) {
        const double error =
            error_of(layer_potential(panels, {sigma, mu}, points, {tolerance, kappa}), exact);
        CAPTURE(body, of_extent, tolerance, error);
        CHECK(error <= tolerance);
      }
    }
  }
}

TEST_CASE("potentials on the GPU of charges alone, of dipoles alone, and of nothing") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(sphere(3));
  const Vector none(panels.size()), sigma = signed_charges(panels.size(), 4), mu(panels.size(), 1);
  const Points points = points_about(panels, 300);
  for (const double kappa : {0.0, 3.0}) {
    constexpr double tolerance = 1e-7;
    const auto found = [&](const Vector& s, const Vector& m) {
      return layer_potential(panels, {s, m}, points, {tolerance, kappa});
    };
    CHECK(error_of(found(sigma, none), {panels, sigma, none, points, kappa}) <= tolerance);
    CHECK(error_of(found(none, mu), {panels, none, mu, points, kappa}) <= tolerance);
    CHECK(found(none, none) == Vector(points.size()));
    CHECK(found(sigma, mu) == found(sigma, mu));
  }
}

TEST_CASE("potentials at points that do not fit the GPU together are those of all at once") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(cube(10));
  const Vector sigma = signed_charges(panels.size(), 5), mu = dipoles_on(panels);
  const Points points = points_about(panels, 700);
  for (const double kappa : {0.0, 4.0}) {
    const Exact exact(panels, sigma, mu, points, kappa);
    // Parts have trees of other scales, which dipoles follow.
    CHECK(error_of(layer_potential(panels, {sigma, mu}, points, {1e-6, kappa, 150}), exact) <=
          1e-6);
  }
}

TEST_CASE("potential_at() goes to the GPU where pairs are many") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(sphere(4));
  const Points points = points_about(panels, 40'000, -3);
  REQUIRE(points.size() * panels.size() / 2 > 30'000'000);
  const Vector sigma = signed_charges(panels.size(), 6), mu = dipoles_on(panels);
  std::vector<std::int32_t> some(panels.size() / 2);
  std::iota(some.begin(), some.end(), 100);
  constexpr double tolerance = 1e-6;
  Vector charges(panels.size()), dipoles(panels.size());
  for (const std::int32_t j : some) {
    charges[j] = sigma[j];
    dipoles[j] = mu[j];
  }
  const Points few(points.begin(), points.begin() + 200);
  for (const double kappa : {0.0, 2.0}) {
    Vector here = potential_at(panels, some, {sigma, mu}, points, tolerance, kappa, Processor::gpu);
    CHECK(here == layer_potential(panels, {charges, dipoles}, points, {tolerance, kappa}));
    here.resize(few.size());
    CHECK(error_of(here, {panels, charges, dipoles, few, kappa}) <= tolerance);
  }
}

TEST_CASE("potentials on the GPU refuse what is not finite") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(sphere(1));
  Vector sigma(panels.size(), 1.0);
  const Vector mu = sigma;
  Points points(5, Vec3d{2, 0, 0});
  points[3].y = std::numeric_limits<double>::infinity();
  CHECK_THROWS_WITH(layer_potential(panels, {sigma, mu}, points, {1e-4}),
                    contains("point 3 is not finite"));
  points[3].y = 0;
  sigma[2] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(layer_potential(panels, {sigma, mu}, points, {1e-4}), InputError);
}

}  // namespace fmbem::test::cuda_potentials_tests
