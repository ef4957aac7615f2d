// Treecodes and hybrids for Yukawa's kernel: their expansions at points against closed forms, and
// their results against sums that share nothing with them.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/cpu/backend.hpp"
#include "fmbem/fmm/cpu/pass.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/plan_impl.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/hybrid_tree.hpp"
#include "tests/unit/fmm/instruction_sets.hpp"
#include "tests/unit/fmm/long_sum.hpp"
#include "tests/unit/fmm/m2p_sums.hpp"
#include "tests/unit/fmm/method_results.hpp"
#include "tests/unit/larger_error.hpp"

namespace fmbem::test::yukawa_methods_tests {

using fmm::Method;
using fmm::Plan;
using fmm::PlanOptions;
using fmm::Yukawa;

namespace {

using Long = long double;
using LongVec = Vec3<Long>;

/// h_n(z) = z^{n+1} k_n(z)/(2n−1)!! in closed form: e^{−z} Σ_k (n+k)!/(k!(n−k)!) z^{n−k}/2^k over
/// (2n−1)!! [DLMF 10.49.12].
Long irregular_factor(int n, Long z) {
  Long term = 1, sum = 0;  // (n+k)!/(k!(n−k)! 2^k (2n−1)!!) z^{n−k}, from k = 0 on
  for (int k = 1; k <= n; ++k) term *= z / (2 * k - 1);
  for (int k = 0; k <= n; ++k) {
    sum += term;
    term *= static_cast<Long>(n + k + 1) * (n - k) / (2 * (k + 1) * z);
  }
  return std::exp(-z) * sum;
}

/// T_i(x) for degrees up to p.
std::vector<Long> irregular_functions(int p, Long kappa, LongVec x) {
  std::vector<Long> values(fmm::harmonic_count(p));
  fmm::regular_harmonics(x, p, values.data());
  const Long r = std::sqrt(x.x * x.x + x.y * x.y + x.z * x.z);
  for (int n = 0; n <= p; ++n)
    for (int m = -n; m <= n; ++m)
      values[fmm::harmonic_index(n, m)] *=
          irregular_factor(n, kappa * r) / std::pow(r, static_cast<Long>(2 * n + 1));
  return values;
}

/// Errors of potentials and gradients at some targets are within the tolerance.
void check_plan(const Points& y, const Points& x, const PlanOptions& options) {
  const bool same = &x == &y;
  const Plan plan = same ? Plan(x, options) : Plan(y, x, options);
  const std::vector<double> q = signed_charges(y.size(), 5);
  Results r(x.size());
  plan.evaluate({.charges = q}, r.fields());
  const RelativeErrors errors =
      errors_by_long_sum(y, x, q, options.kappa, 0, r.potential, r.gradient, 13);
  CAPTURE(options.kappa, options.tolerance, name_of(options.method), options.theta.value_or(0),
          plan.info().order, plan.info().levels, plan.info().m2p_pairs, plan.info().m2l_pairs);
  CHECK(errors.potential <= options.tolerance);
  CHECK(errors.gradient <= options.tolerance);
}

/// Methods with the θ that they are tried with.
std::vector<std::pair<Method, double>> methods_with_theta() {
  return {{Method::treecode, 0.3},
          {Method::treecode, 0.5},
          {Method::treecode, 0.7},
          {Method::hybrid, 0.6},
          {Method::hybrid, 0.8660254}};
}

void check_cloud(const std::string& cloud, double kappa_side, double tolerance, std::size_t n) {
  const Points points = points_by_name(cloud, n, 1);
  const double kappa = kappa_side / extent(points);
  CAPTURE(cloud, kappa_side);
  for (const auto& [method, theta] : methods_with_theta())
    check_plan(points, points,
               {.tolerance = tolerance,
                .kappa = kappa,
                .gradient = true,
                .max_leaf = 20,
                .method = method,
                .theta = theta});
}

}  // namespace

TEMPLATE_TEST_CASE("M2P of Yukawa's kernel sums irregular functions and their gradients", "", float,
                   double) {
  const int p = GENERATE(1, 4, 9), count = 80;
  const double kappa = GENERATE(1e-3, 1.0, 12.0);
  const bool gradient = GENERATE(false, true);
  CAPTURE(p, kappa, gradient);
  const fmm::ParityOrder order(p);
  std::vector<TestType> moments;
  for (const double value : signed_charges(order.count, 1))
    moments.push_back(static_cast<TestType>(value));
  const fmm::HarmonicTable<TestType> table(order);
  const fmm::RaisedMoments<TestType> raised(order);
  std::vector<TestType> slots(4 * raised.table().slots());
  if (gradient)
    raised.write(kappa, moments.data(), slots.data());
  else
    for (int slot = 0; slot < table.slots(); ++slot)
      if (table.position[slot] >= 0) slots[slot] = moments[table.position[slot]];
  M2pSums<TestType> at(cube_points(count, 2));
  const auto& [place, sums] = at;
  const double per_side = 2;
  const fmm::M2pSource<TestType> source{
      {0.75, -1.5, 0.625}, static_cast<TestType>(per_side), slots.data()};
  const auto field = [&](LongVec d) {  // in sides of the box
    const std::vector<Long> functions = irregular_functions(p, kappa, d);
    Long sum = 0;
    for (int i = 0; i < order.count; ++i)
      sum += moments[i] * functions[fmm::harmonic_index(order.degree[i], order.azimuth[i])];
    return per_side * sum;
  };
  for (const auto& [kernels, pairs] : all_kernels<TestType, Yukawa>()) {
    CAPTURE(kernels.name);
    pairs.m2p(Yukawa{kappa}, fmm::steps_of(gradient ? raised.table() : table), source,
              at.targets(0, gradient));
    double error = 0, size = 0, gradient_error = 0, gradient_size = 0;
    for (int t = 0; t < count; ++t) {
      LongVec d;
      for (int axis = 0; axis < 3; ++axis)
        d[axis] = per_side * (static_cast<Long>(place[axis][t]) + source.shift[axis]);
      const Long exact = field(d);
      error = std::max(error, static_cast<double>(std::abs(sums[0][t] - exact)));
      size = std::max(size, static_cast<double>(std::abs(exact)));
      for (int axis = 0; axis < 3 && gradient; ++axis) {
        constexpr Long h = 1e-5L;
        LongVec above = d, below = d;
        above[axis] += h;
        below[axis] -= h;
        const Long slope = per_side * (field(above) - field(below)) / (2 * h);
        gradient_error =
            std::max(gradient_error, static_cast<double>(std::abs(sums[axis + 1][t] - slope)));
        gradient_size = std::max(gradient_size, static_cast<double>(std::abs(slope)));
      }
    }
    // e^{−z} multiplies by z the rounding of z; slopes by differences have some nine digits.
    const double bound = 100 * (1 + kappa) * std::numeric_limits<TestType>::epsilon();
    CHECK(error < bound * size);
    if (gradient) CHECK(gradient_error < std::max(bound, 1e-8) * gradient_size);
  }
}

TEMPLATE_TEST_CASE("P2L of Yukawa's kernel sums irregular functions", "", float, double) {
  const int p = GENERATE(1, 7), count = 48;
  const double kappa = GENERATE(1e-3, 1.0, 12.0);
  CAPTURE(p, kappa);
  const fmm::ParityOrder order(p);
  const fmm::HarmonicTable<TestType> table(order);
  const Points sources = cube_points(count, 3);
  const std::vector<double> q = signed_charges(count, 4);
  std::vector<TestType> inverted[3], weights;
  std::vector<Long> exact(fmm::harmonic_count(p));
  for (std::size_t j = 0; j < sources.size(); ++j) {
    const Vec3d y = sources[j] + Vec3d{0.8, -1.9, 0.3};
    for (int axis = 0; axis < 3; ++axis)
      inverted[axis].push_back(static_cast<TestType>(y[axis] / norm2(y)));
    weights.push_back(static_cast<TestType>(q[j] / norm(y)));
    const std::vector<Long> functions = irregular_functions(p, kappa, {y.x, y.y, y.z});
    for (std::size_t i = 0; i < exact.size(); ++i) exact[i] += q[j] * functions[i];
  }
  double size = 0;
  for (const Long value : exact) size = std::max(size, static_cast<double>(std::abs(value)));
  for (const auto& [kernels, pairs] : all_kernels<TestType, Yukawa>()) {
    CAPTURE(kernels.name);
    std::vector<TestType> slots(table.slots());
    pairs.p2l(Yukawa{kappa}, fmm::steps_of(table), count, inverted[0].data(), inverted[1].data(),
              inverted[2].data(), weights.data(), slots.data());
    double largest = 0;
    for (int slot = 0; slot < table.slots(); ++slot) {
      const int place = table.position[slot];
      if (place < 0) continue;
      const int i = fmm::harmonic_index(order.degree[place], order.azimuth[place]);
      largest = larger_error(largest, static_cast<double>(std::abs(slots[slot] - exact[i])));
    }
    CHECK(largest < 30 * (1 + 3 * kappa) * std::numeric_limits<TestType>::epsilon() * size);
  }
}

TEST_CASE("treecodes and hybrids of Yukawa's kernel meet their tolerance") {
  for (const std::string cloud : {"cube", "sphere", "plummer", "scales"})
    for (const double kappa_side : {0.1, 6.0, 60.0, 1000.0})
      check_cloud(cloud, kappa_side, 1e-3, 1200);
  check_cloud("sphere", 6, 1e-6, 1200);
}

TEST_CASE("treecodes and hybrids of Yukawa's kernel meet their tolerance, to many digits",
          "[long][accuracy]") {
  for (const std::string cloud : {"cube", "sphere", "plummer", "scales"})
    for (const double kappa_side : {0.1, 1.0, 6.0, 60.0, 1000.0})
      for (const double tolerance : {1e-6, 1e-9}) check_cloud(cloud, kappa_side, tolerance, 2500);
}

TEST_CASE("Yukawa treecodes and hybrids of other targets, dipoles and several charge vectors") {
  const Points y = plummer_points(800, 6), x = cube_points(500, 7);
  const Sources sources(y.size(), 3, true, 8);
  const double kappa = GENERATE(0.5, 8.0);
  Results exact(3 * x.size());
  fmm::direct_sum(y, x, sources.strengths(), exact.fields(), kappa);
  for (const auto& [method, theta] : methods_with_theta())
    for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
      const double tolerance = precision == Precision::single_precision ? 1e-4 : 1e-6;
      CAPTURE(kappa, name_of(method), theta, tolerance);
      const Plan plan(y, x,
                      {.tolerance = tolerance,
                       .precision = precision,
                       .kappa = kappa,
                       .gradient = true,
                       .dipoles = true,
                       .max_leaf = 20,
                       .method = method,
                       .theta = theta});
      const Errors errors(run(plan, sources.strengths()), exact);
      CHECK(errors.potential < tolerance);
      CHECK(errors.gradient < tolerance);
      // Potentials alone take other expansions.
      std::vector<double> alone(3 * x.size());
      plan.evaluate(sources.strengths(), {.potential = alone});
      double difference = 0, size = 0;
      for (std::size_t i = 0; i < alone.size(); ++i) {
        difference = std::hypot(difference, alone[i] - exact.potential[i]);
        size = std::hypot(size, exact.potential[i]);
      }
      CHECK(difference < tolerance * size);
    }
}

TEST_CASE("treecodes and hybrids of Yukawa's kernel are Laplace's as κ vanishes") {
  // In the same tree, and with the same lists: by what kernels cost, plans would have others.
  const Method method = GENERATE(Method::treecode, Method::hybrid);
  const double theta = GENERATE(0.6, 0.8660254);
  CAPTURE(name_of(method), theta);
  const Points points = plummer_points(1500, 9);
  const Sources sources(points.size(), 1, false, 10);
  fmm::HybridCosts costs = usual_costs();
  costs.pair = costs.near_box = costs.box = 1e-8;  // expansions wherever boxes are far
  fmm::PointTree tree = method == Method::treecode ? tree_without_lists(points, points, 10)
                                                   : hybrid_tree(points, points, 10, theta, costs);
  if (method == Method::treecode) tree.make_lists();
  const auto results = [&](double kappa) {
    Results r(points.size());
    fmm::Seconds seconds;
    fmm::make_cpu_backend(
        tree, {.order = 8, .kappa = kappa, .reach = 30, .method = method, .theta = theta})
        ->evaluate(sources.strengths(), r.fields(), fmm::Direction::forward, seconds);
    return r;
  };
  const Errors errors(results(1e-14), results(0));
  CHECK(errors.potential < 1e-12);
  CHECK(errors.gradient < 1e-12);
}

TEST_CASE("Yukawa treecodes and hybrids across a gap") {
  const Points y = cube_points(1000, 11);
  Points x = cube_points(300, 12);
  for (Vec3d& at : x) at += Vec3d{2, 0.5, 0};
  for (const double kappa : {0.3, 3.0, 8.0})
    for (const auto& [method, theta] : methods_with_theta())
      for (const double tolerance : {1e-3, 1e-5}) {
        if (kappa > 3 && (theta > 0.6 || tolerance < 1e-4)) continue;
        check_plan(y, x,
                   {.tolerance = tolerance,
                    .kappa = kappa,
                    .gradient = true,
                    .max_leaf = 60,
                    .method = method,
                    .theta = theta});
      }
  const PlanOptions beyond{
      .tolerance = 1e-9, .kappa = 30, .max_leaf = 40, .method = Method::treecode, .theta = 0.7};
  CHECK_THROWS_WITH(Plan(y, x, beyond), contains("take the method direct"));
}

TEST_CASE("Yukawa treecodes and hybrids have no pairs beyond the reach") {
  const Points points = cube_points(4000, 13);
  const Method method = GENERATE(Method::treecode, Method::hybrid);
  PlanOptions options{.tolerance = 1e-3, .kappa = 0, .max_leaf = 8, .method = method};
  std::int64_t before = std::numeric_limits<std::int64_t>::max();
  for (const double kappa : {0.0, 60.0, 1000.0, 1e10}) {
    options.kappa = kappa;
    const fmm::PlanInfo info = Plan(points, options).info();
    const std::int64_t pairs = info.near_pairs + info.m2p_pairs + info.m2l_rows;
    CAPTURE(name_of(method), kappa);
    CHECK(pairs < before + (kappa == 1e10));
    before = pairs;
  }
}

TEST_CASE("Yukawa treecodes and hybrids with any κ") {
  Points points = cube_points(700, 14);
  points.push_back(points[3] + Vec3d{1e-9, 0, 0});  // a pair that κ = 1e9 leaves
  const std::vector<double> q = signed_charges(points.size(), 15);
  for (const double kappa : {1e5, 1e9, 1e20, 1e60, 1e300})
    for (const auto& [method, theta] : methods_with_theta()) {
      CAPTURE(kappa, name_of(method), theta);
      const Plan plan(points, {.tolerance = 1e-6,
                               .kappa = kappa,
                               .gradient = true,
                               .order = 9,
                               .max_leaf = 5,
                               .method = method,
                               .theta = theta});
      Results exact(points.size());
      fmm::direct_sum(points, points, {.charges = q}, exact.fields(), kappa);
      const Results r = run(plan, {.charges = q});
      double size = 0, slope = 0;
      for (std::size_t i = 0; i < points.size(); ++i) {
        size = std::max(size, std::abs(exact.potential[i]));
        slope = std::max(slope, norm(exact.gradient[i]));
      }
      for (std::size_t i = 0; i < points.size(); ++i) {
        CHECK(std::abs(r.potential[i] - exact.potential[i]) <= 1e-6 * size);
        CHECK(norm(r.gradient[i] - exact.gradient[i]) <= 1e-6 * slope);
      }
    }
}

TEST_CASE("Yukawa treecodes and hybrids move") {
  const Method method = GENERATE(Method::treecode, Method::hybrid);
  const Points points = cube_points(1500, 16), elsewhere = plummer_points(1500, 17);
  const std::vector<double> q = signed_charges(points.size(), 18);
  Plan plan(points, {.tolerance = 1e-6, .kappa = 3, .gradient = true, .method = method});
  for (const Points& to : {cube_points(1500, 19), elsewhere}) {
    plan.move(to);
    Results exact(points.size());
    fmm::direct_sum(to, to, {.charges = q}, exact.fields(), 3);
    const Errors errors(run(plan, {.charges = q}), exact);
    CHECK(errors.potential < 1e-6);
    CHECK(errors.gradient < 1e-6);
  }
}

TEST_CASE("Yukawa treecodes and hybrids give the same bits for any number of threads",
          "[threads]") {
  const Points points = plummer_points(1000, 20);
  const std::vector<double> q = signed_charges(points.size(), 21);
  for (const auto& [method, theta] : methods_with_theta())
    for (const double tolerance : {1e-3, 5e-7})
      check_bits_of_threads(points, q,
                            {.tolerance = tolerance,
                             .kappa = 0.5,
                             .gradient = true,
                             .max_leaf = 20,
                             .method = method,
                             .theta = theta});
}

TEST_CASE("automatic takes hybrids for Yukawa's kernel, too") {
  const Points points = cube_points(30'000, 22);
  const PlanOptions options{
      .tolerance = 1e-4, .kappa = 6, .max_leaf = 1000, .method = Method::automatic};
  CHECK(Plan(points, options).info().method == Method::hybrid);
}

TEST_CASE("what treecodes and hybrids of Yukawa's kernel do not have is refused") {
  const Points points = cube_points(10, 23);
  for (const Method method : {Method::treecode, Method::hybrid}) {
    const std::string name = fmm::name_of(method);
    CHECK_THROWS_WITH(
        Plan(points, {.kappa = 1, .method = method, .expansion = fmm::Expansion::cartesian}),
        contains("Cartesian expansions are of Laplace's kernel"));
    CHECK_THROWS_WITH(Plan(points, {.kappa = 1, .hessian = true, .method = method}),
                      contains("a " + name + " has no second derivatives"));
    const PlanOptions options{.kappa = 1, .order = 3, .method = method};
    CHECK_THROWS_WITH(fmm::check_options(options, Processor::gpu),
                      contains("a " + name + " has no Yukawa's kernel on the GPU"));
    CHECK(Plan(points, options).info().expansion == fmm::Expansion::spherical);
  }
}

}  // namespace fmbem::test::yukawa_methods_tests
