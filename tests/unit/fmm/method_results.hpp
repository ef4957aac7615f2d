#pragma once

// What tests of methods compare: results of plans with those of direct sums.
#include <algorithm>
#include <cmath>
#include <vector>

#include <omp.h>

#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/plan.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/results.hpp"
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

/// Of the potential of unit charges at the points, the largest relative error of a target: charges
/// of one sign cannot hide an error behind others.
inline double largest_error(const fmm::Plan& plan, const Points& points) {
  const std::vector<double> q(points.size(), 1.0);
  std::vector<double> u(points.size()), exact(points.size());
  fmm::direct_sum(points, points, {.charges = q}, {.potential = exact});
  plan.evaluate({.charges = q}, {.potential = u});
  double largest = 0;
  for (std::size_t i = 0; i < u.size(); ++i)
    largest = std::max(largest, std::abs(u[i] - exact[i]) / exact[i]);
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

}  // namespace fmbem::test
