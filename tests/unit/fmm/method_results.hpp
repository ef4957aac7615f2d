#pragma once

// What tests of methods compare: results of plans with those of direct sums.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <omp.h>

#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/plan.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/results.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test {

using Points = std::vector<Vec3d>;

inline Results run(const fmm::Plan& plan, const fmm::Strengths& strengths, bool hessian = false) {
  Results r(strengths.count * plan.targets(), hessian);
  plan.evaluate(strengths, r.fields());
  return r;
}

/// Relative L2 errors of the first `count` results.
struct Errors {
  Errors(const Results& r, const Results& exact) {
    double du = 0, u = 0, dg = 0, g = 0;
    for (std::size_t i = 0; i < exact.potential.size(); ++i) {
      du = std::hypot(du, r.potential[i] - exact.potential[i]);
      u = std::hypot(u, exact.potential[i]);
      dg = std::hypot(dg, norm(r.gradient[i] - exact.gradient[i]));
      g = std::hypot(g, norm(exact.gradient[i]));
    }
    potential = du / u;
    gradient = dg / g;
  }
  double potential, gradient;
};

/// Of charges and dipoles, `count` right-hand sides of each.
struct Sources {
  Sources(std::size_t n, int right_hand_sides, bool with_dipoles, std::uint64_t seed)
      : charges(signed_charges(right_hand_sides * n, seed)), count(right_hand_sides) {
    if (with_dipoles) dipoles = random_dipoles(right_hand_sides * n, seed + 1);
  }
  fmm::Strengths strengths() const { return {charges, dipoles, count}; }

  std::vector<double> charges;
  Points dipoles{};
  int count;
};

/// Errors of a plan at its first targets, against the compensated direct sum.
inline Errors errors_of(const fmm::Plan& plan, const Sources& sources, const Points& y,
                        const Points& x, double softening = 0, double kappa = 0) {
  Results exact(sources.count * x.size());
  fmm::direct_sum(y, x, sources.strengths(), exact.fields(), kappa, softening);
  return {run(plan, sources.strengths()), exact};
}

/// At each of the points the error of a potential of charges of mixed sign is at most
/// θ^(p+1) (1 + θ)/(1 − θ) of Σ|q|/|x − y| (docs/theory.md), and something of it is an expansion's.
/// evaluate(q, u) computes the potential.
inline void check_bound_of_expansions(const Points& points, std::uint64_t seed, double theta,
                                      int order, auto&& evaluate) {
  const std::vector<double> q = signed_charges(points.size(), seed);
  std::vector<double> sizes(q);
  for (double& size : sizes) size = std::abs(size);
  std::vector<double> exact(points.size()), size(points.size()), u(points.size());
  fmm::direct_sum(points, points, {.charges = q}, {.potential = exact});
  fmm::direct_sum(points, points, {.charges = sizes}, {.potential = size});
  evaluate(q, u);
  const double bound = std::pow(theta, order + 1) * (1 + theta) / (1 - theta);
  double largest = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    largest = larger_error(largest, std::abs(u[i] - exact[i]) / size[i]);
  CHECK(largest > 1e-15);  // something was far
  CHECK(largest < bound + 1e-12);
}

/// The bound of a treecode; make(points, options) makes plans.
inline void check_bound_of_treecode(const Points& points, std::uint64_t seed, double theta,
                                    int order, auto&& make) {
  const fmm::PlanOptions options{.tolerance = 1e-12,
                                 .order = order,
                                 .max_leaf = 10,
                                 .method = fmm::Method::treecode,
                                 .theta = theta};
  check_bound_of_expansions(points, seed, theta, order, [&](const auto& q, auto& u) {
    make(points, options).evaluate({.charges = q}, {.potential = u});
  });
}

/// A direct plan of sources, which are the targets, or at other ones, has the results of the direct
/// sum; make(points, options) and make(sources, targets, options) make plans.
inline void check_direct_plan(const Sources& sources, const Points& y, const Points& x, bool same,
                              double tolerance, double softening, auto&& make) {
  const fmm::PlanOptions options{.tolerance = tolerance,
                                 .gradient = true,
                                 .dipoles = !sources.dipoles.empty(),
                                 .method = fmm::Method::direct,
                                 .softening = softening};
  const fmm::Plan plan = same ? make(y, options) : make(y, x, options);
  CHECK(plan.info().method == fmm::Method::direct);
  CHECK(plan.info().near_pairs == static_cast<std::int64_t>(y.size() * plan.targets()));
  const Errors errors = errors_of(plan, sources, y, same ? y : x, softening);
  CHECK(errors.potential < tolerance);
  CHECK(errors.gradient < tolerance);
}

/// Of the potential of unit charges at the points, the largest relative error of a target: charges
/// of one sign cannot hide an error behind others.
inline double largest_error(const fmm::Plan& plan, const Points& points) {
  const std::vector<double> q(points.size(), 1.0);
  std::vector<double> u(points.size()), exact(points.size());
  fmm::direct_sum(points, points, {.charges = q}, {.potential = exact});
  plan.evaluate({.charges = q}, {.potential = u});
  double largest = 0;
  for (std::size_t i = 0; i < u.size(); ++i)
    largest = larger_error(largest, std::abs(u[i] - exact[i]) / exact[i]);
  return largest;
}

/// A plan's results are the same bits with one thread and with three.
inline void check_bits_of_threads(const Points& points, const std::vector<double>& charges,
                                  const fmm::PlanOptions& options) {
  const int before = omp_get_max_threads();
  const auto results = [&](int threads) {
    omp_set_num_threads(threads);
    return run(fmm::Plan(points, options), {.charges = charges});
  };
  const Results one = results(1), three = results(3);
  omp_set_num_threads(before);
  CHECK(one.potential == three.potential);
  CHECK(one.gradient == three.gradient);
}

}  // namespace fmbem::test
