// Treecodes and hybrids for Yukawa's kernel on the CPU: their expansions at points against closed
// forms, and what they have of the CPU alone. Plans of both backends: yukawa_method_plans.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fmbem/fmm/cpu/backend.hpp"
#include "fmbem/fmm/cpu/pass.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/hybrid_tree.hpp"
#include "tests/unit/fmm/instruction_sets.hpp"
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

TEST_CASE("Yukawa treecodes and hybrids give the same bits for any number of threads",
          "[threads]") {
  const Points points = plummer_points(1000, 20);
  const std::vector<double> q = signed_charges(points.size(), 21);
  for (const auto& [method, theta] : {std::pair(Method::treecode, 0.3),
                                      {Method::treecode, 0.7},
                                      {Method::hybrid, 0.6},
                                      {Method::hybrid, 0.8660254}})
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
    CHECK(Plan(points, {.kappa = 1, .order = 3, .method = method}).info().expansion ==
          fmm::Expansion::spherical);
  }
}

}  // namespace fmbem::test::yukawa_methods_tests
