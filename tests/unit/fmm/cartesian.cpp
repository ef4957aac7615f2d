// Cartesian expansions: harmonics in monomials, and treecodes and hybrids with them.
#include <cmath>
#include <string>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/expansion/cartesian.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/method_results.hpp"

using namespace fmbem;
using namespace fmbem::test;
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

TEST_CASE("Cartesian expansions are the same series as spherical ones") {
  const int order = GENERATE(1, 2, 3, 4, 5, 6), count = GENERATE(1, 2);
  const Method method = GENERATE(Method::treecode, Method::hybrid);
  const bool gradient = GENERATE(true, false);
  CAPTURE(order, count, fmm::name_of(method), gradient);
  const Points y = plummer_points(2000, 2), x = cube_points(900, 3);
  const Sources sources(y.size(), count, true, 4);
  PlanOptions options{.tolerance = 1e-9,
                      .gradient = gradient,
                      .dipoles = true,
                      .order = order,
                      .max_leaf = 10,
                      .method = method,
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
  const Results spherical = results(Expansion::spherical), cartesian = results(Expansion::cartesian);
  const Errors errors(cartesian, spherical);
  CHECK(errors.potential < 1e-13);
  if (gradient) CHECK(errors.gradient < 1e-13);
}

TEST_CASE("Cartesian treecodes are within the bound and converge") {
  const std::string cloud = GENERATE("cube", "sphere", "plummer");
  const double theta = GENERATE(0.3, 0.6);
  const int order = GENERATE(1, 2, 3, 4, 5, 6);
  CAPTURE(cloud, theta, order);
  const Points points = points_by_name(cloud, 1500, 5);
  const std::vector<double> q(points.size(), 1.0);
  std::vector<double> exact(points.size()), u(points.size());
  fmm::direct_sum(points, points, {.charges = q}, {.potential = exact});
  const Plan plan(points, {.tolerance = 1e-12,
                           .order = order,
                           .max_leaf = 10,
                           .method = Method::treecode,
                           .theta = theta,
                           .expansion = Expansion::cartesian});
  plan.evaluate({.charges = q}, {.potential = u});
  double largest = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    largest = std::max(largest, std::abs(u[i] - exact[i]) / exact[i]);
  CHECK(largest > 1e-13);
  CHECK(largest < std::pow(theta, order + 1) * (1 + theta) / (1 - theta));
}

TEST_CASE("Cartesian expansions of high order are refused") {
  const Points points = cube_points(10, 6);
  const auto refused = [&](const PlanOptions& options, const std::string& sentence) {
    CHECK_THROWS_AS(Plan(points, options), InputError);
    CHECK_THROWS_WITH(Plan(points, options), contains(sentence));
  };
  refused({.order = 7, .method = Method::treecode, .expansion = Expansion::cartesian},
          "Cartesian expansions have orders up to 6");
  refused({.tolerance = 1e-12, .method = Method::hybrid, .expansion = Expansion::cartesian},
          "Cartesian expansions have orders up to 6");
  refused({.method = Method::fmm, .expansion = Expansion::spherical}, "treecode's or a hybrid's");
}
