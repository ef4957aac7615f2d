// Cartesian expansions: harmonics in monomials, and treecodes and hybrids with them.
#include "fmbem/fmm/expansion/cartesian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/cpu/backend.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/instruction_sets.hpp"
#include "tests/unit/fmm/m2p_sums.hpp"
#include "tests/unit/fmm/method_results.hpp"
#include "tests/unit/larger_error.hpp"

namespace fmbem::test::cartesian_tests {

using fmm::Expansion;
using fmm::Method;
using fmm::Plan;
using fmm::PlanOptions;

TEST_CASE("harmonics in monomials are the harmonics") {
  const int p = GENERATE(1, 2, 3, 4, 5, 6);
  const fmm::ParityOrder order(p);
  const std::vector<fmm::CartesianTerm> terms = fmm::cartesian_terms(order);
  for (const Vec3d x : cube_points(5, 1)) {
    std::vector<double> monomials(fmm::monomial_count(p)), found(order.count),
        harmonics(order.count);
    for (int i = 0; i <= p; ++i)
      for (int j = 0; i + j <= p; ++j)
        for (int k = 0; i + j + k <= p; ++k)
          monomials[fmm::monomial_index(p, i, j, k)] =
              std::pow(x.x, i) * std::pow(x.y, j) * std::pow(x.z, k);
    for (const fmm::CartesianTerm& term : terms)
      found[term.position] += term.value * monomials[term.monomial];
    fmm::regular_harmonics(x, p, harmonics.data());
    for (int k = 0; k < order.count; ++k)
      CHECK(std::abs(found[order.position[k]] - harmonics[k]) < 1e-13);
  }
}

TEMPLATE_TEST_CASE("M2P of monomials is a polynomial at the inverted point", "", float, double) {
  // u = F(ξ)/|d|, ξ = d/|d|², over the side, and ∇u by ∂ξ_a/∂d_b = (δ_ab − 2 d_a d_b/|d|²)/|d|².
  const int p = GENERATE(1, 2, 3, 4, 5, 6), count = 80;
  const bool gradient = GENERATE(false, true);
  CAPTURE(p, gradient);
  std::vector<TestType> values;
  for (const double value : signed_charges(fmm::monomial_count(p), 12))
    values.push_back(static_cast<TestType>(value));
  M2pSums<TestType> at(cube_points(count, 13));
  const auto& [place, sums] = at;
  const fmm::M2pSource<TestType> source{{1.5, -2, 1.25}, 2, values.data()};
  for (const auto& [kernels, pairs] : all_kernels<TestType>()) {
    CAPTURE(kernels.name);
    REQUIRE(count % kernels.lanes == 0);
    kernels.m2p_cartesian(p, source, at.targets(1, gradient));
    for (int t = 0; t < count; ++t) {
      Vec3d d;
      for (int axis = 0; axis < 3; ++axis)
        d[axis] = 2 * (static_cast<double>(place[axis][t]) + source.shift[axis]);
      const double r2 = dot(d, d), r = std::sqrt(r2);
      const Vec3d xi = d / r2;
      double f = 0;
      Vec3d df{};
      for (int i = 0; i <= p; ++i)
        for (int j = 0; i + j <= p; ++j)
          for (int k = 0; i + j + k <= p; ++k) {
            const double c = values[fmm::monomial_index(p, i, j, k)], x = std::pow(xi.x, i),
                         y = std::pow(xi.y, j), z = std::pow(xi.z, k);
            f += c * x * y * z;
            if (i > 0) df.x += c * i * std::pow(xi.x, i - 1) * y * z;
            if (j > 0) df.y += c * j * x * std::pow(xi.y, j - 1) * z;
            if (k > 0) df.z += c * k * x * y * std::pow(xi.z, k - 1);
          }
      const double bound = 100 * std::numeric_limits<TestType>::epsilon();
      CHECK(std::abs(sums[0][t] - (1 + 2 * f / r)) < bound);
      if (!gradient) continue;
      const Vec3d of_inversion = (df - d * (2 * dot(d, df) / r2)) / r2,
                  exact = 4 * (of_inversion / r - d * (f / (r2 * r)));
      for (int axis = 0; axis < 3; ++axis)
        CHECK(std::abs(sums[axis + 1][t] - (1 + exact[axis])) < bound);
    }
  }
}

TEST_CASE("Cartesian treecodes are the same series as spherical ones") {
  const int order = GENERATE(1, 2, 3, 4, 5, 6), count = GENERATE(1, 2);
  const bool gradient = GENERATE(true, false);
  CAPTURE(order, count, gradient);
  const Points y = plummer_points(2000, 2), x = cube_points(900, 3);
  const Sources sources(y.size(), count, true, 4);
  PlanOptions options{.tolerance = 1e-9,
                      .gradient = gradient,
                      .dipoles = true,
                      .order = order,
                      .max_leaf = 10,
                      .method = Method::treecode,
                      .theta = 0.7};
  const auto results = [&](Expansion expansion) {
    options.expansion = expansion;
    const Plan plan(y, x, options);
    CHECK(plan.info().expansion == expansion);
    Results r(count * x.size());
    plan.evaluate(sources.strengths(),
                  {r.potential, gradient ? std::span<Vec3d>(r.gradient) : std::span<Vec3d>()});
    return r;
  };
  const Results spherical = results(Expansion::spherical),
                cartesian = results(Expansion::cartesian);
  const Errors errors(cartesian, spherical);
  CHECK(errors.potential < 1e-13);
  if (gradient) CHECK(errors.gradient < 1e-13);
}

TEST_CASE("Cartesian hybrids are the same series as spherical ones") {
  // With the same lists: by what M2P costs, plans would have others.
  const int order = GENERATE(1, 2, 3, 4, 5, 6), count = GENERATE(1, 2);
  CAPTURE(order, count);
  const double theta = 0.7;
  const Points points = plummer_points(2000, 2);
  const Sources sources(points.size(), count, false, 4);
  fmm::PointTree tree{.scale = 1, .sources_are_targets = true};
  const Cube root{{-25, -25, -25}, 51.3};
  tree.sources = fmm::sort_points(points, 1, root);
  tree.octree = fmm::build_octree(root, tree.sources, tree.sources, 10);
  fmm::make_hybrid_lists(tree, theta,
                         {.pair = 1e-6,
                          .near_source = 1e-9,
                          .near_box = 1e-8,
                          .m2l_row = 1,
                          .m2l_pair = 1,
                          .m2p_target = 1e-8,
                          .p2l_source = 1e-8,
                          .box = 1e-8});
  CHECK(!tree.lists.hybrid.m2p.sources.empty());
  const auto results = [&](Expansion expansion) {
    const fmm::Accuracy accuracy{
        .order = order, .method = Method::hybrid, .theta = theta, .expansion = expansion};
    Results r(count * points.size());
    fmm::Seconds seconds;
    fmm::make_cpu_backend(tree, accuracy)
        ->evaluate(sources.strengths(), r.fields(), fmm::Direction::forward, seconds);
    return r;
  };
  const Errors errors(results(Expansion::cartesian), results(Expansion::spherical));
  CHECK(errors.potential > 0);  // monomials were summed
  CHECK(errors.potential < 1e-13);
  CHECK(errors.gradient < 1e-13);
}

TEST_CASE("Cartesian treecodes are within their bounds at each target") {
  // Of a charge at distance ≤ θ d from a box's centre, d away, the terms of degree n > p are at
  // most θⁿ/d, their gradients (n + 1) θⁿ/d², as n(n+1) P_n² + (1 − t²) P_n'² ≤ n(n+1); and 1/d is
  // at most (1 + θ)/|x − y|.
  const std::string cloud = GENERATE("cube", "sphere", "plummer");
  const double theta = GENERATE(0.3, 0.6);
  const int order = GENERATE(1, 2, 3, 4, 5, 6);
  CAPTURE(cloud, theta, order);
  const Points points = points_by_name(cloud, 1000, 5);
  const std::vector<double> q(points.size(), 1.0);
  Results exact(points.size());
  fmm::direct_sum(points, points, {.charges = q}, exact.fields());
  const Plan plan(points, {.tolerance = 1e-12,
                           .gradient = true,
                           .order = order,
                           .max_leaf = 10,
                           .method = Method::treecode,
                           .theta = theta,
                           .expansion = Expansion::cartesian});
  const Results found = run(plan, {.charges = q});
  const double beyond = std::pow(theta, order + 1) / (1 - theta),
               gradients_beyond = beyond * (order + 1 + 1 / (1 - theta));
  double potential = 0, gradient = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    double squares = 0;  // Σ 1/(4π|x − y|²)
    for (const Vec3d y : points)
      if (const double r = norm(points[i] - y); r > 0)
        squares += 1 / (4 * std::numbers::pi * r * r);
    potential = larger_error(
        potential, std::abs(found.potential[i] - exact.potential[i]) / exact.potential[i]);
    gradient = larger_error(gradient, norm(found.gradient[i] - exact.gradient[i]) / squares);
  }
  CHECK(potential > 1e-13);  // something was far
  CHECK(potential < beyond * (1 + theta));
  CHECK(gradient < gradients_beyond * (1 + theta) * (1 + theta));
}

TEST_CASE("Cartesian treecodes and hybrids in single precision, of several charge vectors",
          "[long][cases]") {
  const std::string cloud = GENERATE("cube", "sphere", "plummer");
  const Method method = GENERATE(Method::treecode, Method::hybrid);
  const double tolerance = GENERATE(1e-2, 1e-3);
  CAPTURE(cloud, fmm::name_of(method), tolerance);
  const Points points = points_by_name(cloud, sanitized ? 1000 : 2500, 7);
  const Sources sources(points.size(), 3, false, 8);
  const Plan plan(points, {.tolerance = tolerance,
                           .precision = Precision::single_precision,
                           .gradient = true,
                           .max_leaf = 20,
                           .method = method,
                           .expansion = Expansion::cartesian});
  Results exact(3 * points.size());
  fmm::direct_sum(points, points, sources.strengths(), exact.fields());
  const Errors errors(run(plan, sources.strengths()), exact);
  CHECK(errors.potential < tolerance);
  CHECK(errors.gradient < tolerance);
}

TEST_CASE("Cartesian expansions are taken where they are there") {
  const Points points = cube_points(100, 9);
  for (const Method method : {Method::treecode, Method::hybrid})
    for (const int order : {1, 6, 7})
      CHECK(Plan(points, {.order = order, .method = method}).info().expansion ==
            (order > 6 ? Expansion::spherical : Expansion::cartesian));
}

TEST_CASE("Cartesian expansions give the same bits for any number of threads", "[threads]") {
  const Points points = plummer_points(3000, 10);
  const std::vector<double> q = signed_charges(points.size(), 11);
  const Method method = GENERATE(Method::treecode, Method::hybrid);
  const Precision precision = GENERATE(Precision::single_precision, Precision::double_precision);
  check_bits_of_threads(points, q,
                        {.precision = precision,
                         .gradient = true,
                         .order = 4,
                         .max_leaf = 20,
                         .method = method,
                         .theta = 0.5,
                         .expansion = Expansion::cartesian});
}

TEST_CASE("Cartesian expansions are refused where they are not there") {
  const Points points = cube_points(10, 6);
  const auto refused = [&](const PlanOptions& options, const std::string& sentence) {
    CHECK_THROWS_AS(Plan(points, options), InputError);
    CHECK_THROWS_WITH(Plan(points, options), contains(sentence));
  };
  refused({.order = 7, .method = Method::treecode, .expansion = Expansion::cartesian},
          "Cartesian expansions have orders up to 6");
  refused({.tolerance = 1e-12, .method = Method::hybrid, .expansion = Expansion::cartesian},
          "Cartesian expansions have orders up to 6");
  for (const Method method : {Method::automatic, Method::direct, Method::fmm})
    refused({.method = method, .expansion = Expansion::spherical},
            "the expansions to choose are a treecode's or a hybrid's");
}

}  // namespace fmbem::test::cartesian_tests
