// Plans and translations for Yukawa's kernel; yukawa.cpp has its P2P, P2M and L2P.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/symmetric3.hpp"
#include "fmbem/fmm/base/tasks.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/expansion/harmonic_samples.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/expansion/m2l_blocks.hpp"
#include "fmbem/fmm/expansion/yukawa_translations.hpp"
#include "fmbem/fmm/lists/near_lists.hpp"
#include "fmbem/fmm/plan.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/parity.hpp"
#include "tests/unit/fmm/results.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::yukawa_plan_tests {

using fmm::Plan;
using fmm::PlanOptions;
using fmm::Yukawa;

namespace {

using Points = std::vector<Vec3d>;

/// Relative in the L2 norm, of every so-manieth potential.
double error_of_potentials(const std::vector<double>& all, const std::vector<double>& exact,
                           std::size_t step = 1) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    error = std::hypot(error, all[i * step] - exact[i]);
    size = std::hypot(size, exact[i]);
  }
  return error / size;
}

/// Errors of a plan at some targets, relative in the L2 norm, are within its tolerance.
void check_errors(const Points& y, const Points& x, double kappa, double tolerance,
                  bool has_dipoles) {
  PlanOptions options{.tolerance = tolerance, .kappa = kappa, .gradient = true};
  options.dipoles = has_dipoles;
  const Plan plan = &x == &y ? Plan(x, options) : Plan(y, x, options);
  const std::vector<double> q = signed_charges(y.size(), 5);
  const Points d = has_dipoles ? random_dipoles(y.size(), 6) : Points();
  Results all(x.size());
  plan.evaluate({q, d, 1}, all.fields());

  Points some;
  const std::size_t step = x.size() / 200;
  for (std::size_t i = 0; i < x.size(); i += step) some.push_back(x[i]);
  Results exact(some.size());
  fmm::direct_sum(y, some, {q, d, 1}, exact.fields(), kappa);
  double gradient_error = 0, gradient_size = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    gradient_error = std::hypot(gradient_error, norm(all.gradient[i * step] - exact.gradient[i]));
    gradient_size = std::hypot(gradient_size, norm(exact.gradient[i]));
  }
  CAPTURE(kappa, tolerance, has_dipoles, plan.info().order, plan.info().levels);
  CHECK(error_of_potentials(all.potential, exact.potential, step) <= tolerance);
  CHECK(gradient_error <= tolerance * gradient_size);
}

/// exp(−κr)/r
double pair(double kappa, Vec3d x, Vec3d y) {
  const double r = norm(x - y);
  return std::exp(-kappa * r) / r;
}

Points within(double half_side, std::size_t n, std::uint64_t seed) {
  Points points = cube_points(n, seed);
  for (Vec3d& x : points) x = 2 * half_side * (x - Vec3d{0.5, 0.5, 0.5});
  return points;
}

std::vector<double> regular(double kappa, const fmm::ParityOrder& order, Vec3d x) {
  std::vector<double> harmonics(order.count), factors(order.p + 2), by_parity(order.count);
  fmm::regular_harmonics(x, order.p, harmonics.data());
  const double r2 = norm2(x);
  Yukawa{kappa}.regular_factors(&r2, order.p, factors.data());
  for (int i = 0; i < order.count; ++i)
    by_parity[i] = factors[order.degree[i]] *
                   harmonics[fmm::harmonic_index(order.degree[i], order.azimuth[i])];
  return by_parity;
}

/// (−1)^|bits|
double sign(int bits) { return __builtin_popcount(static_cast<unsigned>(bits)) % 2 ? -1 : 1; }

}  // namespace

TEST_CASE("direct sums of Yukawa's kernel have its potential, dipoles and gradients") {
  const Points y = cube_points(9, 1);
  const std::vector<double> q = signed_charges(9, 2);
  const Points d = random_dipoles(9, 3);
  const Vec3d x{0.3, 0.4, 1.7};
  constexpr double h = 1e-4, inv_4pi = 0.07957747154594767;
  for (const double kappa : {0.0, 0.7, 6.0}) {
    // Dipoles and gradients by differences of the sum of charges.
    const auto charges_at = [&](Vec3d at, const Points& places, const std::vector<double>& of) {
      double sum = 0;
      for (std::size_t j = 0; j < places.size(); ++j)
        sum += inv_4pi * of[j] * pair(kappa, at, places[j]);
      return sum;
    };
    const auto potential = [&](Vec3d at) {
      double sum = charges_at(at, y, q);
      for (std::size_t j = 0; j < y.size(); ++j)
        sum += inv_4pi * (pair(kappa, at, y[j] + h * d[j]) - pair(kappa, at, y[j] - h * d[j])) /
               (2 * h);
      return sum;
    };
    const auto exact_at = [&](Vec3d at) {
      Results exact(1, true);
      fmm::direct_sum(y, {&at, 1}, {q, d, 1}, exact.fields(), kappa);
      return exact;
    };
    const Results exact = exact_at(x);
    // The differences are off by h² times third derivatives, some 6 (1 + κ)³.
    const double bound = h * h * 6 * std::pow(1 + kappa, 3) + 1e-9;
    CHECK(std::abs(exact.potential[0] - potential(x)) < bound);
    for (int axis = 0; axis < 3; ++axis) {
      Vec3d step;
      step[axis] = h;
      CHECK(std::abs(exact.gradient[0][axis] - (potential(x + step) - potential(x - step)) /
                                                   (2 * h)) < 10 * (1 + kappa) * bound);
      const Vec3d slope =
          (1 / (2 * h)) * (exact_at(x + step).gradient[0] - exact_at(x - step).gradient[0]);
      for (int other = 0; other < 3; ++other)
        CHECK(std::abs(exact.hessian[0](axis, other) - slope[other]) <
              100 * (1 + kappa) * (1 + kappa) * bound);
    }
  }
}

TEST_CASE("Yukawa's M2L and M2M take moments to where the field is") {
  const fmm::ParityOrder order(26);
  // In the middle of their boxes, so that what is truncated is (0.3 √3/(2 − 0.3 √3))²⁷ = 4e-13.
  const Points sources = within(0.3, 12, 1), targets = within(0.3, 5, 2);
  const std::vector<double> q = signed_charges(sources.size(), 3);
  for (const double kappa : {1e-9, 0.5, 5.0, 30.0}) {
    std::vector<double> moments(order.count, 0.0);
    for (std::size_t j = 0; j < sources.size(); ++j) {
      const std::vector<double> r = regular(kappa, order, sources[j]);
      for (int i = 0; i < order.count; ++i) moments[i] += q[j] * r[i];
    }
    for (const int orbit : {6, 18, 25}) {
      std::array<std::vector<double>, 8> blocks;
      const int orbits[] = {orbit};
      const std::size_t numbers = static_cast<std::size_t>(order.count) * order.count;
      for (std::vector<double>& block : blocks) block.resize(numbers);
      make_m2l_blocks(Yukawa{kappa}, order, fmm::M2l::truncated, orbits,
                      [&](const fmm::M2lRows& part) { copy_rows(order, part, blocks[part.e]); });
      for (int h = 0; h < 8; h += 3) {
        const Vec3d shift = fmm::orbit_shift(orbit, h);
        if (fmm::boxes_touch(shift)) continue;
        std::vector<double> local(order.count, 0.0);
        for (int e = 0; e < 8; ++e) {
          const std::vector<double>& block = blocks[e];
          for (int i = 0; i < order.count; ++i)
            for (int j = 0; j < order.count; ++j)
              local[i] += block[static_cast<std::size_t>(i) * order.count + j] *
                          sign((e ^ order.parity[j]) & h) * moments[j];
        }
        for (const Vec3d& x : targets) {
          const std::vector<double> r = regular(kappa, order, x);
          double sum = 0, exact = 0, size = 0;
          for (int i = 0; i < order.count; ++i) sum += local[i] * r[i];
          // Mirror images go through a block together, and so round as the nearest of them does.
          const double gap = fmm::m2l_gap(orbit);
          for (std::size_t j = 0; j < sources.size(); ++j) {
            exact += q[j] * pair(kappa, x + shift, sources[j]);
            size += std::abs(q[j]) * std::exp(-kappa * gap) / gap;
          }
          CAPTURE(kappa, orbit, h);
          CHECK(std::abs(sum - exact) < 1e-11 * size);
        }
      }
    }
    // The moments of the parent, of which the sources' box is the child at the upper corner.
    const fmm::UpwardBlocks upward = fmm::upward_blocks(order, Yukawa{2 * kappa});
    std::vector<double> of_parent(order.count, 0.0);
    for (std::size_t j = 0; j < sources.size(); ++j) {
      const std::vector<double> r =
          regular(2 * kappa, order, 0.5 * sources[j] + Vec3d{0.25, 0.25, 0.25});
      for (int i = 0; i < order.count; ++i) of_parent[i] += q[j] * r[i];
    }
    for (int e = 0; e < 8; ++e)
      for (int i = order.begin[e]; i < order.begin[e + 1]; ++i) {
        double sum = 0, size = 0;
        for (int j = 0; j < order.count; ++j) {
          const double term =
              upward.block[e][static_cast<std::size_t>(i - order.begin[e]) * order.count + j] *
              moments[j];
          sum += term;
          size += std::abs(term);
        }
        // A shift takes R_i to all degrees: those beyond 26 do not count up to degree 12.
        if (order.degree[i] <= 12) CHECK(std::abs(sum - of_parent[i]) < 1e-11 * size);
      }
  }
}

TEST_CASE("Yukawa's M2M is the same made by many threads at once, whose samples end with them") {
  const fmm::ParityOrder order(6);
  const auto kernel = [](std::int64_t k) { return Yukawa{0.4 * static_cast<double>(k)}; };
  std::array<fmm::UpwardBlocks, 16> blocks;
  std::weak_ptr<const fmm::HarmonicSamples> samples;
  {
    const auto held = fmm::harmonic_samples(order.p);
    CHECK(held == fmm::harmonic_samples(order.p));
    samples = held;
    for_tasks(blocks.size(), [&](std::int64_t k) { blocks[k] = upward_blocks(order, kernel(k)); });
  }
  CHECK(samples.expired());
  for (std::size_t k = 0; k < blocks.size(); ++k)
    CHECK(blocks[k].block == upward_blocks(order, kernel(static_cast<std::int64_t>(k))).block);
}

TEST_CASE("plans for Yukawa's kernel keep the tolerance for every kappa", "[long][accuracy]") {
  using Case = std::pair<double, double>;
  const Case with =
      GENERATE(Case(1e-3, 1e-9), Case(1e-3, 6), Case(1e-3, 1000), Case(1e-6, 1e-9), Case(1e-6, 1),
               Case(1e-6, 6), Case(1e-6, 30), Case(1e-6, 1000), Case(1e-9, 6));
  const double tolerance = with.first, of_extent = with.second;
  for (const char* const name : {"cube", "ellipsoid", "plummer"}) {
    INFO(name);
    const Points points = points_by_name(name, 3000, 4);
    check_errors(points, points, of_extent / extent(points), tolerance, false);
  }
}

TEST_CASE("plans for Yukawa's kernel take dipoles, and targets that are not the sources") {
  constexpr double of_extent = 5;
  const Points sources = sphere_points(3000, 5), targets = cube_points(2000, 6);
  check_errors(sources, sources, of_extent / 2, 1e-6, true);
  check_errors(sources, targets, of_extent / 2, 1e-6, true);
}

TEST_CASE("clouds far apart need Yukawa's operators of few levels only") {
  constexpr double kappa = 1e-3;
  const Points cloud = cube_points(300, 7);
  Points others, points = cloud;
  for (const Vec3d& x : cloud) others.push_back(x + Vec3d{1000, 0, 0});
  points.insert(points.end(), others.begin(), others.end());
  const PlanOptions options{.kappa = kappa, .order = 10, .max_leaf = 150};
  const auto far = Plan(points, options).info();
  PlanOptions of_laplace = options;
  of_laplace.kappa = 0;
  const auto laplace = Plan(points, of_laplace).info();
  CHECK(far.levels >= 8);
  // One set of operators, as Laplace's, would be needed for each level if all of them had pairs.
  CHECK(far.operator_bytes < 3 * laplace.operator_bytes);
  check_errors(points, points, kappa, 1e-6, false);
  // Sources and targets apart: neither cloud has pairs of its own.
  CHECK(Plan(cloud, others, options).info().operator_bytes < 2 * laplace.operator_bytes);
  check_errors(cloud, others, kappa, 1e-6, true);
}

TEST_CASE("plans for Yukawa's kernel have second derivatives") {
  constexpr double tolerance = 1e-5;
  for (const double kappa : {1.0, 12.0}) {
    const Points points = cube_points(3000, 12);
    const Plan plan(points, {.tolerance = tolerance, .kappa = kappa, .hessian = true});
    const std::vector<double> q = signed_charges(points.size(), 13);
    std::vector<Symmetric3d> all(points.size()), exact(100);
    plan.evaluate({.charges = q}, {.hessian = all});
    fmm::direct_sum(points, std::span(points).first(100), {.charges = q}, {.hessian = exact},
                    kappa);
    double error = 0, size = 0;
    for (std::size_t i = 0; i < exact.size(); ++i)
      for (int entry = 0; entry < 6; ++entry) {
        error = std::hypot(error, all[i][entry] - exact[i][entry]);
        size = std::hypot(size, exact[i][entry]);
      }
    CAPTURE(kappa);
    CHECK(error <= tolerance * size);
  }
}

TEST_CASE("as kappa vanishes plans give what Laplace's do") {
  const Points points = cube_points(4000, 7);
  const std::vector<double> q = signed_charges(points.size(), 8);
  for (const double tolerance : {1e-4, 1e-10}) {
    Results yukawa(points.size()), laplace(points.size());
    // The same tree, whatever pairs cost.
    const PlanOptions options{
        .tolerance = tolerance, .gradient = true, .order = 8, .max_leaf = 60, .inflation = 1.05};
    PlanOptions with_kappa = options;
    with_kappa.kappa = 1e-14;
    Plan(points, with_kappa).evaluate({.charges = q}, yukawa.fields());
    Plan(points, options).evaluate({.charges = q}, laplace.fields());
    double error = 0, size = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      error = std::hypot(error, norm(yukawa.gradient[i] - laplace.gradient[i]));
      size = std::hypot(size, norm(laplace.gradient[i]));
    }
    CHECK(error < (tolerance == 1e-4 ? 1e-5 : 1e-12) * size);
  }
}

TEST_CASE("a power of two as the unit of length, with kappa, changes no bit") {
  const Points points = cube_points(2000, 9);
  Points small = points;
  for (Vec3d& x : small) x = 0x1p-30 * x;
  const std::vector<double> q = signed_charges(points.size(), 10);
  std::vector<double> u(points.size()), v(points.size());
  PlanOptions options{.tolerance = 1e-6, .kappa = 3, .order = 7, .max_leaf = 40};
  Plan(points, options).evaluate({.charges = q}, {.potential = u});
  options.kappa = 0x3p30;
  Plan(small, options).evaluate({.charges = q}, {.potential = v});
  for (double& value : v) value *= 0x1p-30;
  CHECK(u == v);
}

TEST_CASE("a kappa that is negative or no number is refused") {
  const Points points = cube_points(10, 11);
  for (const double kappa :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_AS(Plan(points, PlanOptions{.kappa = kappa}), InputError);
}

TEST_CASE("potentials of Yukawa's kernel alone, in single precision, keep the tolerance",
          "[long][accuracy]") {
  const Points points = cube_points(6000, 8);
  const std::vector<double> q = signed_charges(points.size(), 5);
  for (const double kappa : {6.0, 200.0, 1000.0}) {
    for (const double tolerance : {1e-3, 1e-6}) {
      const Plan plan(points, {.tolerance = tolerance, .kappa = kappa});
      Results all(points.size()), exact(points.size());
      plan.evaluate({q, {}, 1}, {all.potential, {}, {}});
      fmm::direct_sum(points, points, {q, {}, 1}, {exact.potential, {}, {}}, kappa);
      CAPTURE(kappa, tolerance);
      CHECK(error_of_potentials(all.potential, exact.potential) <= tolerance);
    }
  }
}

/// Tolerances that Laplace's potentials meet with the lowest order that may do.
TEST_CASE("screened potentials of many points keep a tolerance that Laplace's just meet",
          "[long][accuracy]") {
  using Case = std::pair<const char*, double>;
  const auto [name, of_extent] = GENERATE(Case("cube", 12), Case("cube", 25), Case("plummer", 60));
  const Points points = points_by_name(name, 200'000, 1);
  const std::vector<double> q = signed_charges(points.size(), 5);
  const double kappa = of_extent / extent(points);
  Points some;
  constexpr std::size_t step = 1000;
  for (std::size_t i = 0; i < points.size(); i += step) some.push_back(points[i]);
  Results exact(some.size());
  fmm::direct_sum(points, some, {q, {}, 1}, {exact.potential, {}, {}}, kappa);
  for (const double tolerance : {1.7e-5, 8.9e-7}) {
    const Plan plan(points, {.tolerance = tolerance, .kappa = kappa});
    Results all(points.size());
    plan.evaluate({q, {}, 1}, {all.potential, {}, {}});
    CAPTURE(name, of_extent, tolerance);
    CHECK(error_of_potentials(all.potential, exact.potential, step) <= tolerance);
  }
}

TEST_CASE("an FMM's near field has few pairs beyond the reach of Yukawa's kernel") {
  const Points points = cube_points(8000, 31);
  const Points some(points.begin(), points.begin() + 200);
  const std::vector<double> q = signed_charges(points.size(), 32);
  const PlanOptions options{.tolerance = 1e-3};
  const fmm::PlanInfo laplace = Plan(points, options).info();
  std::int64_t before = laplace.near_pairs;
  for (const double kappa : {200.0, 1000.0, 1e4}) {
    PlanOptions of_yukawa = options;
    of_yukawa.kappa = kappa;
    const Plan plan(points, of_yukawa);
    const fmm::PlanInfo info = plan.info();
    CAPTURE(kappa, info.order, info.max_leaf, info.levels);
    CHECK(info.near_pairs <= before);
    before = info.near_pairs;
    // No box acts by its expansion, so that no order serves anything.
    CHECK(info.order == laplace.order);
    CHECK(info.operator_bytes == 0);
    Results all(points.size()), exact(some.size());
    plan.evaluate({q, {}, 1}, {.potential = all.potential});
    fmm::direct_sum(points, some, {q, {}, 1}, {.potential = exact.potential}, kappa);
    CHECK(error_of_potentials(all.potential, exact.potential) <= options.tolerance);
  }
  CHECK(before < laplace.near_pairs / 4);
}

TEST_CASE("near lists leave out boxes beyond the reach") {
  const Points points = points_by_name("plummer", 3000, 33);
  const Cube root = bounding_cube(points);
  const fmm::SortedPoints sorted = fmm::sort_points(points, 1, root);
  const fmm::Octree tree = fmm::build_octree(root, sorted, sorted, 20);
  const double reach = 0.2 * tree.side(tree.levels() - 1);
  const fmm::NearLists all = fmm::near_lists(tree, sorted, sorted),
                       some = fmm::near_lists(tree, sorted, sorted, reach);
  REQUIRE(some.targets == all.targets);
  std::size_t kept = 0;
  for (std::size_t row = 0; row < all.targets.size(); ++row)
    for (std::int64_t k = all.begin[row]; k < all.begin[row + 1]; ++k) {
      // What is kept is in the same order.
      const bool is_kept = static_cast<std::int64_t>(kept) < some.begin[row + 1] &&
                           some.sources[kept] == all.sources[k];
      kept += is_kept;
      const fmm::Box &a = tree.boxes[all.targets[row]], &b = tree.boxes[all.sources[k]];
      const Vec3d apart = tree.between_centres(a, b);
      const double radii = 0.5 * (tree.side(a.level) + tree.side(b.level));
      double gap = 0;
      for (int axis = 0; axis < 3; ++axis)
        gap = std::hypot(gap, std::max(0.0, std::abs(apart[axis]) - radii));
      CHECK(is_kept == (gap <= reach * (1 + 1e-12)));
    }
  CHECK(kept == some.sources.size());
  CHECK(kept < all.sources.size());
}

}  // namespace fmbem::test::yukawa_plan_tests
