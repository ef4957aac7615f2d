// How large gradients are beside the far field, and the orders that follow from it.
#include "fmbem/fmm/choice/close_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <omp.h>

#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"
#include "fmbem/fmm/tree/radix_sort.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::close_pairs_tests {

using fmm::KeyedPoint;
using fmm::PlanOptions;

namespace {

using Points = std::vector<Vec3d>;

/// In the unit of plans.
fmm::PairCounts counts_of(const Points& points) {
  const Hull hull = bounding_cube(points);
  const double scale = fmm::scale_for(hull);
  return fmm::count_pairs(
      fmm::sort_points(points, scale, {scale * hull.corner, scale * hull.side}));
}
double ratio_of(const Points& points, double kappa = 0) {
  return gradient_over_far(counts_of(points), kappa);
}
/// Of Yukawa's kernel over that of Laplace's, squared, of points all of which have that Σ 1/r⁴.
double screened_part(double sum, double kappa) {
  fmm::PairCounts counts;
  counts.points[fmm::magnitude_bin(sum)] = 10'000;
  counts.stretches[fmm::magnitude_bin(1)] = 100;
  const double part = gradient_over_far(counts, kappa) / gradient_over_far(counts, 0);
  return part * part;
}

/// Slopes of e^{−κr}/r and of 1/r, squared, the former over the latter: by differences, which are
/// off by less than 1e-6 for κr below 10.
double square_of_slopes(double kappa, double r) {
  using Long = long double;
  const Long h = 1e-5L * r;
  const auto pair = [&](Long at) { return std::exp(-static_cast<Long>(kappa) * at) / at; };
  const auto slope = static_cast<double>((pair(r + h) - pair(r - h)) / (2 * h)) * r * r;
  return slope * slope;
}

/// √(Σ S_i / n) of all pairs, without the largest S_i.
double norm_of_gradients(const Points& points) {
  std::vector<double> sums;
  for (const Vec3d& x : points) {
    double sum = 0;
    for (const Vec3d& y : points)
      if (const double r2 = norm2(x - y); r2 > 0) sum += 1 / (r2 * r2);
    sums.push_back(sum);
  }
  std::sort(sums.begin(), sums.end());
  double all = 0;
  for (std::size_t i = 0; i + 32 < sums.size(); ++i) all += sums[i];
  return std::sqrt(all / static_cast<double>(points.size()));
}

int order_of(const PlanOptions& options, double ratio) {
  return fmm::order_for(options, true, {.gradient_over_far = ratio});
}

bool is_sorted(const std::vector<KeyedPoint>& points) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const KeyedPoint &a = points[i - 1], &b = points[i];
    if (a.key > b.key || (a.key == b.key && a.index >= b.index)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("gradients beside the far field, against all pairs in uniform clouds") {
  // A stretch of n points of a uniform cloud of density ρ is a cell, or two neighbours, so that its
  // extent is between the edge of a cube of these points and twice as much.
  const std::size_t n = 4096;
  const Points points = cube_points(n, 1);
  const double density = static_cast<double>(n);
  double square = 0;
  for (const double size : {32.0, 64.0, 128.0})
    square += size / std::pow(size / density, 4.0 / 3) / 3;
  const double far = std::sqrt(square), norm = norm_of_gradients(points), ratio = ratio_of(points);
  CHECK(ratio > 0.7 * norm / far);
  CHECK(ratio < 4 * norm / far);
}

TEST_CASE("gradients beside the far field do not depend on place, size and order") {
  const Points points = sphere_points(20000, 2);
  const double ratio = ratio_of(points);
  Points other = points;
  for (Vec3d& x : other) x = 0x1p-20 * x;
  CHECK(ratio_of(other) == ratio);
  std::reverse(other.begin(), other.end());
  CHECK(ratio_of(other) == ratio);
}

TEST_CASE("few points, copies and points in few places tell nothing of gradients") {
  CHECK(ratio_of(cube_points(3000, 3)) == 0);
  CHECK(ratio_of(points_by_name("scales", 20000, 3)) == 0);
  CHECK(ratio_of(Points(50000, Vec3d{0.1, 0.2, 0.3})) == 0);
  Points few;
  for (int i = 0; i < 50000; ++i) few.push_back({static_cast<double>(i % 5), 0, 0});
  CHECK(ratio_of(few) == 0);
  // Each point twice is as each once: what coincides has no gradient.
  Points twice = cube_points(20000, 4);
  const double once = ratio_of(twice);
  twice.reserve(2 * twice.size());
  for (int i = 0; i < 20000; ++i) twice.push_back(twice[i]);
  CHECK(ratio_of(twice) < 1.5 * once);
  CHECK(ratio_of(twice) > 0.25 * once);  // some of the neighbours that count are copies
}

TEST_CASE("a few pairs, however close, do not count") {
  Points points = lattice_points(40000);
  const double lattice = ratio_of(points);
  for (int i = 0; i < 20; ++i) points[1000 * i] = points[1000 * i + 1] + Vec3d{1e-9, 0, 0};
  CHECK(lattice > 0);
  CHECK(ratio_of(points) < 1.1 * lattice);
  CHECK(ratio_of(points) > lattice / 1.1);
  CHECK(ratio_of(cube_points(40000, 5)) > 5 * lattice);
}

TEST_CASE("pairs of Yukawa's kernel count for no more than they are") {
  constexpr int neighbours = 2 * fmm::neighbours_a_side;
  constexpr double next_bin = 1 + 1.0 / fmm::bins_of_power;  // 1/r⁴ is known to that factor
  for (const double r : {0.003, 0.02, 0.4})
    for (const double kr : {0.01, 0.3, 1.0, 3.0, 8.0}) {
      const double kappa = kr / r, of_one = std::pow(r, -4.0);
      CAPTURE(r, kr);
      // The least is that of neighbours which are all as far.
      const double of_all = screened_part(neighbours * of_one, kappa),
                   exact = square_of_slopes(kappa, r);
      CHECK(of_all < exact * (1 + 1e-5));
      CHECK(of_all > square_of_slopes(kappa, r * std::pow(next_bin, 0.25)) * (1 - 1e-5));
      // Of one close pair and the others far away there is more than that.
      CHECK(screened_part(of_one, kappa) < exact);
    }
  const Points points = cube_points(20000, 8);
  double before = ratio_of(points);
  for (double kappa = 0.01; kappa < 1e3; kappa *= 2) {
    const double ratio = ratio_of(points, kappa);
    CHECK(ratio < before);
    before = ratio;
  }
  CHECK(ratio_of(points, 1e60) == 0);
}

TEST_CASE("counts of pairs do not depend on the number of threads", "[threads]") {
  const Points points = plummer_points(60001, 6);
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const fmm::PairCounts one = counts_of(points);
  for (const int threads : {2, 3, 5}) {
    omp_set_num_threads(threads);
    const fmm::PairCounts other = counts_of(points);
    CHECK(other.points == one.points);
    CHECK(other.stretches == one.stretches);
  }
  omp_set_num_threads(before);
}

TEST_CASE("orders fall with close pairs, down to what potentials need") {
  for (const double tolerance : {5e-4, 2e-6, 1e-7, 1e-12}) {
    const PlanOptions options{.tolerance = tolerance, .gradient = true};
    const int highest = order_of(options, 0), lowest = order_of({.tolerance = tolerance}, 0);
    CAPTURE(tolerance, highest, lowest);
    REQUIRE(lowest < highest);
    int before = highest;
    for (double ratio = 1; ratio < 1e8; ratio *= 1.5) {
      const int order = order_of(options, ratio);
      CHECK(order <= before);
      CHECK(order >= lowest);
      before = order;
    }
    CHECK(before == lowest);
  }
}

TEST_CASE("orders across gaps know nothing of close pairs and surfaces") {
  for (const bool gradient : {false, true}) {
    const PlanOptions options{.tolerance = 1e-6, .kappa = 3, .gradient = gradient};
    const fmm::Cloud surface{.gradient_over_far = 1e6, .branching = 4};
    fmm::Cloud apart = surface;
    apart.nearest = 0.5;
    CHECK(fmm::order_for(options, true, surface) < fmm::order_for(options, true));
    CHECK(fmm::order_for(options, true, apart) == fmm::order_for(options, true));
  }
}

TEST_CASE("which orders are by close pairs") {
  const auto weighs = [](const PlanOptions& options) {
    return fmm::weighs_close_pairs(options, true);
  };
  CHECK(weighs({.gradient = true}));
  CHECK(!fmm::weighs_close_pairs({.gradient = true}, false));
  CHECK(!weighs({}));
  CHECK(!weighs({.gradient = true, .order = 7}));
  CHECK(!weighs({.gradient = true, .max_leaf = 30}));
  CHECK(weighs({.gradient = true, .max_leaf = 100}));
  CHECK(!weighs({.gradient = true, .dipoles = true}));
  CHECK(!weighs({.gradient = true, .hessian = true}));
  CHECK(weighs({.kappa = 1, .gradient = true}));
  CHECK(!weighs({.kappa = 1, .gradient = true, .dipoles = true}));
  CHECK(!weighs({.gradient = true, .method = fmm::Method::treecode}));
}

TEST_CASE("radix sort", "[threads]") {
  Uniform uniform(7);
  const int before = omp_get_max_threads();
  for (const int n : {0, 1, 2, 2000, 5000, 200000})
    for (const int bits : {0, 3, 20, 40, 63})  // that differ,
      for (const int shift : {0, 20, 43}) {    // from this one on
        std::vector<KeyedPoint> points;
        for (int i = 0; i < n; ++i) {
          const auto drawn = static_cast<std::uint64_t>(std::ldexp(uniform(), bits));
          points.push_back({bits + shift > 63 ? drawn : drawn << shift, i});
        }
        std::vector<KeyedPoint> expected = points;
        std::stable_sort(expected.begin(), expected.end(),
                         [](const KeyedPoint& a, const KeyedPoint& b) { return a.key < b.key; });
        for (const int threads : {1, 3}) {
          omp_set_num_threads(threads);
          std::vector<KeyedPoint> sorted = points;
          fmm::radix_sort(sorted);
          CAPTURE(n, bits, shift, threads);
          CHECK(is_sorted(sorted));
          CHECK(std::equal(sorted.begin(), sorted.end(), expected.begin(),
                           [](const KeyedPoint& a, const KeyedPoint& b) {
                             return a.key == b.key && a.index == b.index;
                           }));
        }
      }
  omp_set_num_threads(before);
}

}  // namespace fmbem::test::close_pairs_tests
