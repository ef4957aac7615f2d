// Second derivatives on the GPU, beyond what the tests of both backends have
// (tests/unit/fmm/hessian.cpp).
#include <cmath>
#include <string>
#include <vector>

#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/tree/morton_bits.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/cuda/on_device.hpp"
#include "tests/unit/fmm/results.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::cuda_hessian_tests {

using cuda::DeviceArray;
using cuda::make_fmm_plan;
using fmm::PlanOptions;

namespace {

using Points = std::vector<Vec3d>;
using Hessians = std::vector<Symmetric3d>;

/// ‖a − b‖ / ‖b‖.
double difference(const Hessians& a, const Hessians& b) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    error += norm2(a[i] - b[i]);
    size += norm2(b[i]);
  }
  return std::sqrt(error / size);
}

Hessians exact_hessians(const Points& y, const Points& x, const fmm::Strengths& strengths,
                        double kappa = 0, double softening = 0) {
  Hessians h(strengths.count * x.size());
  fmm::direct_sum(y, x, strengths, {.hessian = h}, kappa, softening);
  return h;
}

Hessians hessians(const fmm::Plan& plan, const fmm::Strengths& strengths) {
  Hessians h(strengths.count * plan.targets());
  plan.evaluate(strengths, {.hessian = h});
  return h;
}

}  // namespace

TEST_CASE("second derivatives on the GPU are those on the CPU") {
  if (!gpu_is_there()) return;
  const Points points = points_by_name(GENERATE("cube", "sphere"), 3000, 31);
  const auto q = signed_charges(points.size(), 32);
  const Points d = random_dipoles(points.size(), 33);
  const double kappa = GENERATE(0.0, 4.0);
  for (const double tolerance : {1e-3, 1e-5}) {
    const PlanOptions options{.tolerance = tolerance,
                              .kappa = kappa,
                              .gradient = true,
                              .dipoles = true,
                              .hessian = true,
                              .max_leaf = 40};
    Results here(points.size(), true), there(points.size(), true);
    make_fmm_plan(points, options).evaluate({q, d, 1}, here.fields());
    fmm::Plan(points, options).evaluate({q, d, 1}, there.fields());
    // Each is off by less than the tolerance.
    CHECK(difference(here.hessian, there.hessian) <= 2 * tolerance);
    // (∇² − κ²) u = 0 ties them to the potentials; a trace is at most √3 norms.
    double error = 0, size = 0, of_potential = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Symmetric3d h = here.hessian[i];
      error = std::hypot(error, h.xx + h.yy + h.zz - kappa * kappa * here.potential[i]);
      size = std::hypot(size, std::sqrt(norm2(h)));
      of_potential = std::hypot(of_potential, here.potential[i]);
    }
    CHECK(error <= tolerance * (std::sqrt(3.0) * size + kappa * kappa * of_potential));
  }
}

TEST_CASE("second derivatives on the GPU of close and of coinciding points") {
  if (!gpu_is_there()) return;
  Points points = cube_points(3000, 34);
  for (int k = 0; k < 100; ++k) {
    points.push_back(points[k] + std::pow(10.0, -2 - k % 3) * Vec3d{0.6, 0, 0.8});
    points.push_back(points[500 + k]);
  }
  const auto q = signed_charges(points.size(), 35);
  const Points d = random_dipoles(points.size(), 36);
  for (const double kappa : {0.0, 5.0}) {
    const Hessians exact = exact_hessians(points, points, {q, d, 1}, kappa);
    const fmm::Plan plan = make_fmm_plan(
        points,
        {.tolerance = 1e-8, .kappa = kappa, .dipoles = true, .hessian = true, .max_leaf = 60});
    const Hessians h = hessians(plan, {q, d, 1});
    // The near field has all bits, the closest pairs' too, which are 1e6 times the rest. What is
    // off by the tolerance is the far field, which is that of points without a close neighbour.
    double rest = 0;
    for (std::size_t i = 100; i < 3000; ++i) rest = std::hypot(rest, std::sqrt(norm2(exact[i])));
    for (std::size_t i = 0; i < points.size(); ++i)
      REQUIRE(std::sqrt(norm2(h[i] - exact[i])) <=
              1e-12 * std::sqrt(norm2(exact[i])) + 1e-8 * rest);
  }
}

TEST_CASE("second derivatives of direct sums on the GPU, softened too") {
  if (!gpu_is_there()) return;
  const Points y = plummer_points(2500, 37), x = cube_points(900, 38);
  const auto q = signed_charges(2 * y.size(), 39);
  const Points d = random_dipoles(2 * y.size(), 40);
  for (const bool dipoles : {false, true})
    for (const double softening : {0.0, 0.05})
      for (const double tolerance : {1e-4, 1e-12}) {
        PlanOptions options{.tolerance = tolerance, .gradient = true, .dipoles = dipoles};
        options.hessian = true;
        options.method = fmm::Method::direct;
        options.softening = softening;
        const fmm::Strengths strengths{q, dipoles ? std::span<const Vec3d>(d) : std::span<Vec3d>(),
                                       2};
        const fmm::Plan plan = make_fmm_plan(y, x, options);
        CHECK(plan.info().method == fmm::Method::direct);
        const Hessians exact = exact_hessians(y, x, strengths, 0, softening);
        // In double precision, whatever the tolerance: rounding of 2500 terms, one by one.
        CHECK(difference(hessians(plan, strengths), exact) <= 1e-12);
        // Behind potentials and gradients, which stay as they are.
        Results all(2 * x.size(), true), fewer(2 * x.size());
        plan.evaluate(strengths, all.fields());
        plan.evaluate(strengths, fewer.fields());
        CHECK(all.hessian == hessians(plan, strengths));
        CHECK(all.potential == fewer.potential);
        CHECK(all.gradient == fewer.gradient);
      }
}

TEST_CASE("second derivatives in trees of many scales, and by the third law") {
  if (!gpu_is_there()) return;
  const Points points = points_by_name("scales", 6000, 41);
  const auto q = signed_charges(points.size(), 42);
  const Hessians exact = exact_hessians(points, points, {.charges = q});
  for (const double tolerance : {1e-4, 1e-8}) {
    PlanOptions options{.tolerance = tolerance, .hessian = true, .max_leaf = 40};
    const fmm::Plan plan = make_fmm_plan(points, options);
    CHECK(plan.info().levels > deepest_level + 1);
    const Hessians h = hessians(plan, {.charges = q});
    CHECK(difference(h, exact) <= tolerance);
    options.third_law = fmm::ThirdLaw::always;  // of potentials alone
    const fmm::Plan mutual = make_fmm_plan(points, options);
    std::vector<double> u(points.size()), v(points.size());
    Hessians with_u(points.size());
    mutual.evaluate({.charges = q}, {.potential = u, .hessian = with_u});
    mutual.evaluate({.charges = q}, {.potential = v});
    CHECK(with_u == h);
    CHECK(u == v);
  }
}

TEST_CASE("second derivatives in device memory, in both precisions, by stages and after a move") {
  if (!gpu_is_there()) return;
  const Points points = cube_points(5000, 43), elsewhere = sphere_points(5000, 44);
  const auto q = signed_charges(3 * points.size(), 45);
  const PlanOptions options{.tolerance = 1e-6, .hessian = true, .max_leaf = 50};
  const DeviceArray<Vec3d> places = on_device(points), moved = on_device(elsewhere);
  const DeviceArray<double> charges = on_device(q);
  DeviceArray<Symmetric3d> to(3 * points.size());
  const auto all = [](const DeviceArray<Vec3d>& of) {
    return cuda::DevicePoints{of.data(), of.size()};
  };
  cuda::FmmPlan plan(all(places), all(places), options);
  const Hessians h = hessians(make_fmm_plan(points, options), {q, {}, 3});
  const cuda::DeviceStrengths strengths{charges.data(), nullptr, 3};
  for (int k = 0; k < 3; ++k) {  // as it is, captured, and the captured graph again
    plan.evaluate(strengths, {nullptr, nullptr, to.data()});
    plan.wait();
    CHECK(on_host(to) == h);
  }
  plan.evaluate_stages(strengths, {nullptr, nullptr, to.data()});
  CHECK(on_host(to) == h);

  const std::vector<float> in_float(q.begin(), q.begin() + points.size());
  const std::vector<double> rounded(in_float.begin(), in_float.end());
  const DeviceArray<float> float_charges = on_device(in_float);
  DeviceArray<Symmetric3<float>> float_to(points.size());
  plan.evaluate({float_charges.data(), nullptr, 1}, {nullptr, nullptr, float_to.data()});
  plan.wait();
  const std::vector<Symmetric3<float>> rough = on_host(float_to);
  const Hessians of_rounded = hessians(make_fmm_plan(points, options), {.charges = rounded});
  for (std::size_t i = 0; i < rough.size(); ++i)
    for (int k = 0; k < 6; ++k) REQUIRE(rough[i][k] == static_cast<float>(of_rounded[i][k]));

  plan.move(all(moved), all(moved));
  plan.evaluate(strengths, {nullptr, nullptr, to.data()});
  plan.wait();
  CHECK(difference(on_host(to), exact_hessians(elsewhere, elsewhere, {q, {}, 3})) <= 1e-6);
  CHECK_THROWS_WITH(
      cuda::FmmPlan(all(places), all(places)).evaluate(strengths, {nullptr, nullptr, to.data()}),
      contains("was not made for second derivatives"));
}

}  // namespace fmbem::test::cuda_hessian_tests
