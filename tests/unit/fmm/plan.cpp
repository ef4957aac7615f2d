#include "fmbem/fmm/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <omp.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/tree/sorted_points.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/backends.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::plan_tests {

using fmm::direct_sum;
using fmm::Method;
using fmm::PlanInfo;
using fmm::PlanOptions;
using fmm::Strengths;

namespace {

using Points = std::vector<Vec3d>;

constexpr double four_pi = 4 * std::numbers::pi;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

/// Potentials and gradients, [count][targets].
struct Results {
  std::vector<double> potential;
  std::vector<Vec3d> gradient;
  friend bool operator==(const Results&, const Results&) = default;
};

Results run(const Plan& plan, const Strengths& strengths, bool gradient) {
  Results r;
  r.potential.resize(strengths.count * plan.targets());
  if (gradient) r.gradient.resize(strengths.count * plan.targets());
  plan.evaluate(strengths, {r.potential, r.gradient});
  return r;
}

/// Three right-hand sides: charges, dipoles, both.
struct ThreeStrengths {
  explicit ThreeStrengths(std::size_t n, double length = 1) : charges(3 * n), dipoles(3 * n) {
    const auto q = signed_charges(n, 101);
    auto d = random_dipoles(n, 102);
    for (Vec3d& moment : d) moment = length * moment;
    std::copy(q.begin(), q.end(), charges.begin());
    std::copy(q.begin(), q.end(), charges.begin() + 2 * n);
    std::copy(d.begin(), d.end(), dipoles.begin() + n);
    std::copy(d.begin(), d.end(), dipoles.begin() + 2 * n);
  }
  Strengths all() const { return {charges, dipoles, 3}; }
  Strengths only_charges() const {
    return {.charges = std::span(charges).first(charges.size() / 3)};
  }

  std::vector<double> charges;
  std::vector<Vec3d> dipoles;
};

/// A few of the targets, and the direct sums there.
struct Reference {
  Reference(const Points& y, const Points& x, const Strengths& strengths, bool gradient,
            std::size_t most = 300, double kappa = 0)
      : count(strengths.count), n_targets(x.size()) {
    const std::size_t n = std::min(most, x.size());
    Points some;
    for (std::size_t i = 0; i < n; ++i) {
      index.push_back(i * x.size() / n);
      some.push_back(x[index.back()]);
    }
    exact.potential.resize(count * n);
    if (gradient) exact.gradient.resize(count * n);
    direct_sum(y, some, strengths, {exact.potential, exact.gradient}, kappa);
  }

  /// Relative L2 error of right-hand side k.
  double potential_error(const Results& r, int k = 0) const {
    double error = 0, size = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      const double u = exact.potential[k * index.size() + i];
      error = std::hypot(error, r.potential[k * n_targets + index[i]] - u);
      size = std::hypot(size, u);
    }
    return error / size;
  }
  double gradient_error(const Results& r, int k = 0) const {
    double error = 0, size = 0;
    for (std::size_t i = 0; i < index.size(); ++i) {
      const Vec3d g = exact.gradient[k * index.size() + i];
      error = std::hypot(error, norm(r.gradient[k * n_targets + index[i]] - g));
      size = std::hypot(size, norm(g));
    }
    return error / size;
  }

  int count;
  std::size_t n_targets;
  std::vector<std::size_t> index;
  Results exact;
};

/// All results of a plan for charges, dipoles and both are within the tolerance.
void check_all(const Plan& plan, const Reference& reference, const ThreeStrengths& strengths,
               double tolerance) {
  const Results r = run(plan, strengths.all(), true);
  for (int k = 0; k < 3; ++k) {
    CAPTURE(k, plan.info().order, plan.info().levels);
    CHECK(reference.potential_error(r, k) / tolerance <= 1);
    CHECK(reference.gradient_error(r, k) / tolerance <= 1);
  }
}
void check_all(const Plan& plan, const Points& y, const Points& x, double tolerance,
               double length = 1) {
  const ThreeStrengths strengths(y.size(), length);
  check_all(plan, Reference(y, x, strengths.all(), true), strengths, tolerance);
}

/// The same for points that are both.
void check_all(const Points& points, double tolerance, double length = 1) {
  const Plan plan(points, {.tolerance = tolerance, .gradient = true, .dipoles = true});
  check_all(plan, points, points, tolerance, length);
}

Points moved(Points points, double scale, Vec3d shift) {
  for (Vec3d& x : points) x = scale * x + shift;
  return points;
}

Points both_of(Points a, const Points& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Largest |a − b| over Σ_j (|q_j|/r + |d_j|/r²)/4π, at every hundredth point.
double potential_difference(const std::vector<double>& a, const std::vector<double>& b,
                            const Points& points, std::span<const double> q,
                            std::span<const Vec3d> d = {}) {
  double largest = 0;
  for (std::size_t i = 0; i < points.size(); i += 100) {
    double size = 0;
    for (std::size_t j = 0; j < points.size(); ++j) {
      const double r = norm(points[i] - points[j]);
      if (r == 0) continue;
      size += (std::abs(q[j]) / r + (d.empty() ? 0 : norm(d[j]) / (r * r))) / four_pi;
    }
    largest = larger_error(largest, std::abs(a[i] - b[i]) / size);
  }
  return largest;
}

/// Bound for it: five stages of which each rounds to 1e-13 (stages.cpp) terms that in the
/// expansions are up to 1/(2 − √3) and stand for 1/r ≥ 1/√12, so are 13 times as large; with
/// dipoles the square of that.
constexpr double rounding = 5 * 1e-13 * 13, dipole_rounding = 5 * 1e-13 * 170;

/// Restores the number of threads.
struct Threads {
  ~Threads() { omp_set_num_threads(before); }
  int before = omp_get_max_threads();
};

}  // namespace

BACKEND_TEST_CASE("errors stay below the tolerance") {
  const std::size_t n = sanitized ? 5000 : 20000;
  const ThreeStrengths strengths(n);
  std::vector<Points> points;
  std::vector<Reference> references;
  for (const char* name : {"cube", "sphere", "plummer", "ellipsoid"}) {
    points.push_back(points_by_name(name, n, 1));
    references.emplace_back(points.back(), points.back(), strengths.all(), true);
  }
  for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
    if (sanitized && tolerance < 1e-6) break;
    std::vector<Plan> alive;  // so that the operators are made once
    for (std::size_t k = 0; k < points.size(); ++k) {
      CAPTURE(tolerance, k);
      alive.emplace_back(points[k], PlanOptions{.tolerance = tolerance});
      const Results r = run(alive.back(), strengths.only_charges(), false);
      CHECK(references[k].potential_error(r) / tolerance <= 1);
      alive.emplace_back(points[k],
                         PlanOptions{.tolerance = tolerance, .gradient = true, .dipoles = true});
      check_all(alive.back(), references[k], strengths, tolerance);
    }
  }
}

BACKEND_TEST_CASE("gradients keep the tolerance with orders by close pairs", "[long][accuracy]") {
  const std::string name =
      GENERATE(as<std::string>{}, "cube", "sphere", "plummer", "ellipsoid", "lattice");
  const std::size_t n = 20000;
  using Case = std::pair<int, double>;
  const auto [seed, of_extent] = GENERATE(Case(11, 0), Case(12, 0), Case(11, 20), Case(11, 100));
  const Points points = points_by_name(name, n, seed);
  const double kappa = of_extent / extent(points);
  // Charges of random sign; equal ones; and none on the thousandth of the points that have the
  // closest neighbours.
  constexpr int kinds = 3;
  std::vector<double> q = signed_charges(n, seed + 100);
  q.resize(kinds * n, 1);
  std::vector<double> nearest;
  const fmm::SortedPoints sorted = fmm::sort_points(points, 1, bounding_cube(points));
  const auto distance = [&](std::size_t a, std::size_t b) {
    return norm(points[sorted.order[a]] - points[sorted.order[b]]);
  };
  for (std::size_t k = 0; k < n; ++k) {
    double least = infinity;
    for (std::size_t step = 1; step <= 8; ++step) {
      if (k >= step) least = std::min(least, distance(k, k - step));
      if (k + step < n) least = std::min(least, distance(k, k + step));
    }
    nearest.push_back(least);
  }
  std::vector<double> ordered = nearest;
  std::nth_element(ordered.begin(), ordered.begin() + n / 1000, ordered.end());
  for (std::size_t k = 0; k < n; ++k) {
    const std::int32_t i = sorted.order[k];
    q[2 * n + i] = nearest[k] < ordered[n / 1000] ? 0 : q[i];
  }
  const Strengths strengths{q, {}, kinds};
  const Reference reference(points, points, strengths, true, 1000, kappa);
  for (const double tolerance : {5e-4, 2e-6, 1e-6, 1e-7, 1e-10}) {
    const Plan plan(points, {.tolerance = tolerance, .kappa = kappa, .gradient = true});
    const Results r = run(plan, strengths, true);
    CAPTURE(name, seed, of_extent, tolerance, plan.info().order);
    for (int k = 0; k < kinds; ++k) {
      CAPTURE(k);
      CHECK(reference.potential_error(r, k) / tolerance <= 1);
      CHECK(reference.gradient_error(r, k) / tolerance <= 1);
    }
  }
}

BACKEND_TEST_CASE("orders of gradients are lower where points are close to each other",
                  "[long][accuracy]") {
  const auto order = [](const Points& points, const PlanOptions& options) {
    return Plan(points, options).info().order;
  };
  const Points sphere = sphere_points(20000, 13), lattice = lattice_points(20000);
  const double kappa = GENERATE(0.0, 4.0);
  for (const double tolerance : {5e-4, 2e-6, 1e-7}) {
    CAPTURE(tolerance, kappa);
    const PlanOptions options{.tolerance = tolerance, .kappa = kappa, .gradient = true};
    CHECK(order(sphere, options) < order(lattice, options));
#ifdef FMBEM_TEST_CUDA
    // As a histogram makes no keys, the order must not rest on them. And each backend finds the
    // same one.
    PlanOptions counted = options;
    counted.construction = fmm::Construction::histogram;
    counted.max_leaf = 70;
    counted.inflation = 1.02;
    CHECK(order(sphere, counted) == order(sphere, options));
    for (const char* name : {"cube", "sphere", "plummer", "ellipsoid", "lattice", "centres"}) {
      const Points points = points_by_name(name, 30001, 15);
      CAPTURE(name);
      CHECK(order(points, options) == fmm::Plan(points, options).info().order);
    }
#endif
    // With all that the estimate does not know.
    PlanOptions dipoles = options;
    dipoles.dipoles = true;
    CHECK(order(sphere, dipoles) == order(lattice, dipoles));
    const Points others = sphere_points(3000, 14);
    CHECK(Plan(sphere, others, options).info().order > order(sphere, options));
  }
  // A given order stays, and a plan keeps its own where its points move.
  CHECK(order(sphere, {.tolerance = 2e-6, .gradient = true, .order = 9}) == 9);
  Plan plan(sphere, {.tolerance = 2e-6, .gradient = true});
  const int before = plan.info().order;
  plan.move(lattice);
  CHECK(plan.info().order == before);
}

namespace {

/// A plane's lattice, and planes, tilted and on all sides of a cube, as surfaces of any kind.
Points surface_by_name(const std::string& name, std::size_t n, std::uint64_t seed) {
  Points points = name == "sphere" || name == "ellipsoid" ? points_by_name(name, n, seed)
                                                          : cube_points(n, seed);
  const auto side = static_cast<std::size_t>(std::sqrt(static_cast<double>(n)));
  for (std::size_t i = 0; i < n; ++i) {
    Vec3d& x = points[i];
    if (name == "lattice of a plane")
      x = {static_cast<double>(i % side), static_cast<double>(i / side), 0};
    if (name == "tilted plane") x = {x.x, 0.8 * x.y, 0.6 * x.y - 0.3 * x.x};
    if (name == "sides of a cube")
      (i % 3 == 0 ? x.x : i % 3 == 1 ? x.y : x.z) = static_cast<double>(i / 3 % 2);
  }
  return points;
}

}  // namespace

BACKEND_TEST_CASE("orders of potentials are lower on surfaces, and keep the tolerance",
                  "[long][accuracy]") {
  const std::string name = GENERATE(as<std::string>{}, "sphere", "ellipsoid", "lattice of a plane",
                                    "tilted plane", "sides of a cube");
  const std::size_t n = 100000;
  const Points points = surface_by_name(name, n, 31), volume = cube_points(n, 32);
  std::vector<double> q = signed_charges(n, 33);
  q.resize(2 * n, 1);  // and equal ones
  const Strengths strengths{q, {}, 2};
  const Reference reference(points, points, strengths, false, 997);
  for (const double tolerance : {2e-6, 1e-7}) {
    const PlanOptions options{.tolerance = tolerance};
    const Plan plan(points, options);
    CAPTURE(name, tolerance, plan.info().order);
    const Results r = run(plan, strengths, false);
    for (int k = 0; k < 2; ++k) CHECK(reference.potential_error(r, k) / tolerance <= 1);
    // So few points, and large leaves, have a volume's boxes.
    if (tolerance < 2e-6) continue;
    CHECK(plan.info().order < Plan(volume, options).info().order);
    // Also with leaves and a root that are given, but that lattices get higher ones then; and each
    // backend finds the same one.
    PlanOptions given = options;
    given.max_leaf = 70;
    given.inflation = 1.02;
    const int with_given = Plan(points, given).info().order;
    if (name == "lattice of a plane")
      CHECK(with_given > plan.info().order);
    else
      CHECK(with_given == plan.info().order);
    CHECK(fmm::Plan(points, options).info().order == plan.info().order);
    // Other sources than targets need not have any that are near.
    CHECK(Plan(points, volume, options).info().order > plan.info().order);
  }
}

BACKEND_TEST_CASE("orders of screened potentials are lower on surfaces, and keep the tolerance",
                  "[long][accuracy]") {
  const std::string name = GENERATE(as<std::string>{}, "sphere", "tilted plane", "sides of a cube");
  const double of_extent = GENERATE(1.0, 12.0, 30.0);
  const std::size_t n = 100000;
  const Points points = surface_by_name(name, n, 34), volume = cube_points(n, 35);
  const double kappa = of_extent / extent(points);
  const std::vector<double> q = signed_charges(n, 36);
  const Reference reference(points, points, {.charges = q}, false, 997, kappa);
  for (const double tolerance : {2e-4, 1e-6}) {
    const PlanOptions options{.tolerance = tolerance, .kappa = kappa};
    const Plan plan(points, options);
    CAPTURE(name, of_extent, tolerance, plan.info().order);
    CHECK(reference.potential_error(run(plan, {.charges = q}, false)) / tolerance <= 1);
    if (tolerance < 2e-4) continue;  // as with Laplace's
    CHECK(plan.info().order < Plan(volume, options).info().order);
    CHECK(fmm::Plan(points, options).info().order == plan.info().order);
  }
}

// Roots whose boxes have lattice points at their corners are avoided.
BACKEND_TEST_CASE("lattices keep a tolerance of 1e-12", "[long][accuracy]") {
  const std::size_t edge = GENERATE(44, 46, 47);
  const Points points = lattice_points(edge * edge * edge);
  const auto q = signed_charges(points.size(), 77);
  const Plan plan(points, {.tolerance = 1e-12});
  CAPTURE(edge, plan.info().inflation);
  const Reference reference(points, points, {.charges = q}, false, 399);
  CHECK(reference.potential_error(run(plan, {.charges = q}, false)) / 1e-12 <= 1);
}

// Of an odd number of points an axis a plane is in the middle of the hull.
BACKEND_TEST_CASE("small lattices keep tolerances with any leaves") {
  const std::size_t edge = GENERATE(5, 11, 13, 17);
  const auto leaf = GENERATE(as<std::optional<int>>{}, std::nullopt, 8, 60);
  const Method method = GENERATE(Method::fmm, Method::hybrid);
  const Points points = lattice_points(edge * edge * edge);
  const auto q = signed_charges(points.size(), 78);
  const Reference reference(points, points, {.charges = q}, true, 17);
  for (const double tolerance : {1e-3, 1e-6, 1e-10}) {
    const Plan plan(points,
                    {.tolerance = tolerance, .gradient = true, .max_leaf = leaf, .method = method});
    const Results results = run(plan, {.charges = q}, true);
    CAPTURE(edge, leaf.value_or(0), fmm::name_of(method), tolerance, plan.info().inflation,
            plan.info().order);
    CHECK(reference.potential_error(results) / tolerance <= 1);
    CHECK(reference.gradient_error(results) / tolerance <= 1);
  }
}

BACKEND_TEST_CASE("either precision keeps the tolerance") {
  const std::string name = GENERATE(as<std::string>{}, "cube", "sphere", "plummer", "ellipsoid");
  const Points points = points_by_name(name, 20000, 2);
  const auto q = signed_charges(points.size(), 3);
  const Reference reference(points, points, {.charges = q}, true);
  for (const double tolerance : {1e-3, 1e-5}) {
    for (const auto precision : {Precision::single_precision, Precision::double_precision}) {
      const Plan plan(points, {.tolerance = tolerance, .precision = precision, .gradient = true});
      CAPTURE(name, tolerance, precision == Precision::single_precision);
      CHECK(plan.info().precision == precision);
      const Results r = run(plan, {.charges = q}, true);
      CHECK(reference.potential_error(r) / tolerance <= 1);
      CHECK(reference.gradient_error(r) / tolerance <= 1);
    }
  }
}

BACKEND_TEST_CASE("sources among targets") {
  const double tolerance = GENERATE(1e-3, 1e-6);
  const Points y = cube_points(6000, 4);
  const auto check = [&](const std::string& what, const Points& x) {
    CAPTURE(tolerance, what);
    const Plan plan(y, x, {.tolerance = tolerance, .gradient = true, .dipoles = true});
    CHECK(plan.sources() == y.size());
    CHECK(plan.targets() == x.size());
    check_all(plan, y, x, tolerance);
  };
  check("overlapping", moved(plummer_points(4000, 6), 0.3, {0.5, 0.5, 0.5}));
  check("partly the same", both_of(moved(cube_points(2000, 5), 1, {0.3, 0, 0}), y));
  check("the same, given twice", y);
}

// Without a near field, which would be larger than the far field's errors.
BACKEND_TEST_CASE("sources apart from the targets") {
  const double tolerance = GENERATE(1e-3, 1e-6);
  const Points y = cube_points(6000, 4);
  const auto check = [&](const std::string& what, const Points& x) {
    CAPTURE(tolerance, what);
    const Plan plain(y, x, {.tolerance = tolerance});
    const ThreeStrengths strengths(y.size());
    const Reference reference(y, x, strengths.all(), true);
    CHECK(reference.potential_error(run(plain, strengths.only_charges(), false)) / tolerance <= 1);
    const Plan plan(y, x, {.tolerance = tolerance, .gradient = true, .dipoles = true});
    check_all(plan, reference, strengths, tolerance);
  };
  check("side by side", moved(cube_points(4000, 5), 1, {1, 0, 0}));
  check("apart", moved(cube_points(4000, 5), 1, {3, 1, 0}));
  check("around the sources' hull", moved(sphere_points(4000, 7), 2, {0.5, 0.5, 0.5}));
}

BACKEND_TEST_CASE("sources that are a part of the targets' array, and the reverse") {
  Points points = both_of(cube_points(1000, 4), moved(cube_points(3000, 5), 3, {-1, -1, -1}));
  const auto some = std::span<const Vec3d>(points).first(1000);
  const auto q = signed_charges(points.size(), 6);
  const Reference outside({some.begin(), some.end()}, points, {.charges = std::span(q).first(1000)},
                          false);
  const PlanOptions options{.max_leaf = 30};
  const Results r = run(Plan(some, points, options), {.charges = std::span(q).first(1000)}, false);
  CHECK(outside.potential_error(r) / 1e-6 <= 1);
  const Reference inside(points, {some.begin(), some.end()}, {.charges = q}, false);
  CHECK(inside.potential_error(run(Plan(points, some, options), {.charges = q}, false)) / 1e-6 <=
        1);
}

BACKEND_TEST_CASE("one target, one source") {
  const double tolerance = GENERATE(1e-3, 1e-6);
  const PlanOptions options{.tolerance = tolerance};
  CAPTURE(tolerance);
  const Points many = cube_points(6000, 8);
  const auto q = signed_charges(many.size(), 9);
  for (const Vec3d x : {Vec3d{0.4, 0.5, 0.6}, Vec3d{2, -1, 0}}) {
    const Plan plan(many, {&x, 1}, options);
    const Results r = run(plan, {.charges = q}, false);
    double exact, expected = 0;
    direct_sum(many, {&x, 1}, {.charges = q}, {.potential = {&exact, 1}});
    // A single result may happen to be small, so its size is taken to be that for charges of random
    // signs.
    for (std::size_t j = 0; j < many.size(); ++j)
      expected = std::hypot(expected, q[j] / (four_pi * norm(x - many[j])));
    CHECK(std::abs(r.potential[0] - exact) / (tolerance * expected) <= 1);
  }
  const Vec3d y{0.4, 0.5, 0.6};
  const double one = 1;
  const Plan plan({&y, 1}, many, options);
  const Reference reference({y}, many, {.charges = {&one, 1}}, false, many.size());
  CHECK(reference.potential_error(run(plan, {.charges = {&one, 1}}, false)) / tolerance <= 1);
}

BACKEND_TEST_CASE("results do not depend on the number of threads", "[threads]") {
  const double tolerance = GENERATE(1e-3, 1e-6);  // single and double precision
  const Points y = plummer_points(6000, 10), x = ellipsoid_points(3000, 11);
  const int count = 5;
  const auto q = signed_charges(count * y.size(), 12);
  const auto d = random_dipoles(count * y.size(), 13);
  const Threads restored;
  Results first;
  for (const int threads : {1, 2, 3, 2}) {
    omp_set_num_threads(threads);
    CAPTURE(tolerance, threads);
    const Plan plan(y, x, {.tolerance = tolerance, .gradient = true, .dipoles = true});
    const Results r = run(plan, {q, d, count}, true);
    if (threads == 1) first = r;
    CHECK(r == first);
    omp_set_num_threads(3);
    CHECK(run(plan, {q, d, count}, true) == first);
  }
}

BACKEND_TEST_CASE("threads share a plan, and have plans of their own") {
  const Points points = cube_points(3000, 71);
  const PlanOptions options{.tolerance = 1e-6, .gradient = true, .max_leaf = 40};
  const Plan shared(points, options);
  constexpr int threads = 4;
  std::vector<std::vector<double>> charges;
  std::vector<Results> alone, together(threads), own(threads);
  for (int t = 0; t < threads; ++t) {
    charges.push_back(signed_charges(points.size(), 72 + t));
    alone.push_back(run(shared, {.charges = charges[t]}, true));
  }
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      together[t] = run(shared, {.charges = charges[t]}, true);
      for (int k = 0; k < 8;
           ++k)  // some are made and destroyed while others run for the first time
        own[t] = run(Plan(points, options), {.charges = charges[t]}, true);
    });
  for (std::thread& thread : all) thread.join();
  CHECK(together == alone);
  CHECK(own == alone);
}

BACKEND_TEST_CASE("a plan ends well where an exception passes") {
  const Points points = cube_points(500, 76);
  const auto q = signed_charges(points.size(), 77);
  std::vector<double> u(points.size());
  for (int k = 0; k < 3; ++k)
    CHECK_THROWS_AS(
        [&] {
          const Plan plan(points, {.tolerance = 1e-4, .max_leaf = 20});
          plan.evaluate({.charges = q}, {.potential = u});
          throw std::runtime_error("on the way");
        }(),
        std::runtime_error);
}

BACKEND_TEST_CASE("coordinates are of any size up to 1e150, and refused beyond 1e154") {
  const Points unit = cube_points(600, 78);
  const auto q = signed_charges(unit.size(), 79);
  const PlanOptions options{.tolerance = 1e-6, .max_leaf = 20};
  const Results expected = run(Plan(unit, options), {.charges = q}, false);
  for (const int power : {500, 300, -300, -900}) {  // 2^500 is 3e150
    CAPTURE(power);
    Points scaled;
    for (const Vec3d& x : unit) scaled.push_back(std::ldexp(1.0, power) * x);
    std::vector<double> potential = run(Plan(scaled, options), {.charges = q}, false).potential;
    for (double& u : potential) u *= std::ldexp(1.0, power);
    CHECK(potential == expected.potential);
  }
  for (const double size : {1e160, 1e300}) {
    Points far;
    for (const Vec3d& x : unit) far.push_back(size * x);
    CHECK_THROWS_WITH(Plan(far, options),
                      contains("the points are too far apart for double precision"));
  }
}

BACKEND_TEST_CASE("charges and dipoles are of any size") {
  const PlanOptions options{.tolerance = 1e-6, .dipoles = true, .max_leaf = 20};
  Points points = cube_points(600, 80);
  const auto q = signed_charges(points.size(), 81);
  const auto d = random_dipoles(points.size(), 82);
  for (const int of_lengths : {0, -40, 40}) {
    Points placed;
    for (const Vec3d& x : points) placed.push_back(std::ldexp(1.0, of_lengths) * x);
    const Plan plan(placed, options);
    const Results expected = run(plan, {.charges = q, .dipoles = d}, false);
    for (const int power : {-950, 900}) {
      const double unit = std::ldexp(1.0, power);
      std::vector<double> sized_q = q;
      Points sized_d = d;
      for (double& charge : sized_q) charge *= unit;
      for (Vec3d& dipole : sized_d) dipole = unit * dipole;
      std::vector<double> potential =
          run(plan, {.charges = sized_q, .dipoles = sized_d}, false).potential;
      for (double& u : potential) u /= unit;
      CAPTURE(of_lengths, power);
      CHECK(potential == expected.potential);
    }
  }
}

BACKEND_TEST_CASE("evaluations do not depend on earlier ones") {
  const Points points = cube_points(5000, 14);
  const std::size_t n = points.size();
  const auto q = signed_charges(11 * n, 15);
  const auto d = random_dipoles(n, 16);
  const PlanOptions options{.gradient = true, .dipoles = true};
  const Plan plan(points, options);
  const Strengths one{.charges = std::span(q).first(n)};
  const Results before = run(plan, one, true);
  const Results many = run(plan, {.charges = q, .count = 11}, true);
  run(plan, {.charges = one.charges, .dipoles = d}, true);
  CHECK(run(plan, one, true) == before);
  // Together they go through other kernels of the near field, so they agree only up to rounding.
  const auto last_q = std::span(q).last(n);
  const Results last = run(plan, {.charges = last_q}, true);
  const std::vector<double> last_of_many(many.potential.end() - n, many.potential.end());
  CHECK(potential_difference(last_of_many, last.potential, points, last_q) <= rounding);

  Plan other = Plan(cube_points(10, 17));
  other = Plan(points, options);
  const Plan taken = std::move(other);
  CHECK(run(taken, one, true) == before);
}

BACKEND_TEST_CASE("results are linear in the strengths") {
  const Points points = ellipsoid_points(6000, 18);
  const std::size_t n = points.size();
  const auto q = signed_charges(n, 19), other_q = signed_charges(n, 20);
  const auto d = random_dipoles(n, 21);
  const double a = 1.7, b = -0.3;
  const Plan plan(points, {.dipoles = true});
  const auto u = run(plan, {.charges = q}, false).potential;
  const auto other_u = run(plan, {.charges = other_q}, false).potential;
  const auto dipole_u = run(plan, {.dipoles = d}, false).potential;
  std::vector<double> sum(n), magnitude(n), expected(n);
  for (std::size_t j = 0; j < n; ++j) {
    sum[j] = a * q[j] + b * other_q[j];
    magnitude[j] = std::abs(a * q[j]) + std::abs(b * other_q[j]);
    expected[j] = a * u[j] + b * other_u[j] + dipole_u[j];
  }
  const auto sum_u = run(plan, {.charges = sum, .dipoles = d}, false).potential;
  CHECK(potential_difference(sum_u, expected, points, magnitude, d) <= dipole_rounding);
}

BACKEND_TEST_CASE("any place and unit of length will do") {
  const Points points = plummer_points(4000, 22);
  for (const double tolerance : {1e-3, 1e-6}) {
    CAPTURE(tolerance);
    check_all(moved(points, 1, {1e3, -1e3, 1e3}), tolerance);
    for (const double scale : {1e-60, 1e-9, 1e9}) {
      CAPTURE(scale);
      check_all(moved(points, scale, {}), tolerance, scale);
    }
  }
}

BACKEND_TEST_CASE("a power of two as the unit of length changes no bit") {
  const Points points = sphere_points(4000, 23);
  const double unit = GENERATE(0x1p-200, 0x1p-30, 0x1p50);
  for (const double tolerance : {1e-3, 1e-6}) {
    const PlanOptions options{.tolerance = tolerance, .gradient = true};
    const auto q = signed_charges(points.size(), 24);
    const Results r = run(Plan(points, options), {.charges = q}, true);
    Results scaled = run(Plan(moved(points, unit, {}), options), {.charges = q}, true);
    for (double& u : scaled.potential) u *= unit;
    for (Vec3d& g : scaled.gradient) g = unit * (unit * g);
    CHECK(scaled == r);
  }
}

BACKEND_TEST_CASE("strengths may be of any size") {
  // Elementary charges in coulombs, and beyond what single precision holds.
  const int power = GENERATE(-19, -30, -100, 100);
  const double size = std::pow(10.0, power);
  const Points points = cube_points(3000, 25);
  for (const double tolerance : {1e-3, 1e-6}) {
    CAPTURE(power, tolerance);
    const Plan plan(points, {.tolerance = tolerance, .gradient = true, .dipoles = true});
    auto q = signed_charges(points.size(), 26);
    for (double& charge : q) charge *= size;
    const Reference reference(points, points, {.charges = q}, true);
    const Results r = run(plan, {.charges = q}, true);
    CHECK(reference.potential_error(r) / tolerance <= 1);
    CHECK(reference.gradient_error(r) / tolerance <= 1);

    auto d = random_dipoles(points.size(), 27);
    for (Vec3d& moment : d) moment = size * moment;
    const Reference of_dipoles(points, points, {.dipoles = d}, true);
    const Results of_d = run(plan, {.dipoles = d}, true);
    CHECK(of_dipoles.potential_error(of_d) / tolerance <= 1);
    CHECK(of_dipoles.gradient_error(of_d) / tolerance <= 1);
  }
}

BACKEND_TEST_CASE("few points") {
  const std::size_t n = GENERATE(1, 2, 9);
  const double tolerance = GENERATE(1e-3, 1e-6, 1e-12);
  CAPTURE(n, tolerance);
  const Points points = cube_points(n, 28);
  const Plan plan(points, {.tolerance = tolerance, .gradient = true, .dipoles = true});
  if (n > 1) {
    check_all(plan, points, points, tolerance);
  } else {
    const ThreeStrengths strengths(n);
    const Results r = run(plan, strengths.all(), true);
    CHECK(r.potential == std::vector<double>(3));
    CHECK(r.gradient == std::vector<Vec3d>(3));
  }
}

BACKEND_TEST_CASE("points that all coincide do not act on each other") {
  const std::size_t n = 5000;
  const Vec3d place = GENERATE(Vec3d{}, Vec3d{0.1, 0.2, 0.3}, Vec3d{-1e20, 3, 1e-20});
  const Points points(n, place);
  const auto q = signed_charges(n, 29);
  const auto d = random_dipoles(n, 30);
  const double tolerance = GENERATE(1e-3, 1e-6);
  const PlanOptions options{.tolerance = tolerance, .gradient = true, .dipoles = true};
  const Results zero{std::vector<double>(n), std::vector<Vec3d>(n)};
  CHECK(run(Plan(points, options), {q, d, 1}, true) == zero);
  CHECK(run(Plan(points, Points(n, place), options), {q, d, 1}, true) == zero);
}

BACKEND_TEST_CASE("a million copies of one point and a few others") {
  const std::size_t copies = 1000000;
  Points points(copies, Vec3d{0.3, 0.4, 0.5});
  points = both_of(cube_points(40, 31), points);
  points = both_of(points, cube_points(40, 32));
  const auto q = signed_charges(points.size(), 33);
  const double tolerance = 1e-6;
  const Plan plan(points, {.tolerance = tolerance});
  const Results r = run(plan, {.charges = q}, false);
  // All others, and two of the copies.
  const auto at = [&](std::size_t i) { return i < 41 ? i : points.size() - 82 + i; };
  Points some(82);
  for (std::size_t i = 0; i < some.size(); ++i) some[i] = points[at(i)];
  std::vector<double> exact(some.size());
  direct_sum(points, some, {.charges = q}, {.potential = exact});
  double error = 0, size = 0;
  for (std::size_t i = 0; i < some.size(); ++i) {
    error = std::hypot(error, r.potential[at(i)] - exact[i]);
    size = std::hypot(size, exact[i]);
  }
  CHECK(error / size / tolerance <= 1);
}

BACKEND_TEST_CASE("points on a line and on a plane") {
  Uniform uniform(34);
  Points line(4000), plane(4000);
  for (Vec3d& x : line) x = uniform() * Vec3d{1, -2, 0.5} + Vec3d{1, 1, 1};
  for (Vec3d& x : plane) x = {uniform(), uniform(), 0.25};
  for (const double tolerance : {1e-3, 1e-6}) {
    CAPTURE(tolerance);
    check_all(line, tolerance);
    check_all(plane, tolerance);
    check_all(moved(plane, 1, {1e4, 0, 0}), tolerance);
  }
}

BACKEND_TEST_CASE("points on the faces of boxes") {
  Points lattice;
  for (int i = 0; i <= 16; ++i)
    for (int j = 0; j <= 16; ++j)
      for (int k = 0; k <= 16; ++k) lattice.push_back({i / 16.0, j / 16.0, k / 16.0});
  for (const double tolerance : {1e-3, 1e-6}) {
    CAPTURE(tolerance);
    check_all(lattice, tolerance);
  }
  // A plan may move the faces of boxes; here they are put through the points, where expansions
  // converge most slowly, and so twice the usual order is taken.
  const Plan plan(lattice, {.tolerance = 1e-3,
                            .gradient = true,
                            .dipoles = true,
                            .order = 14,
                            .max_leaf = 20,
                            .inflation = 1});
  CHECK(plan.info().levels >= 4);
  check_all(plan, lattice, lattice, 1e-3);
}

BACKEND_TEST_CASE("clusters far apart") {
  // Small balls, whose distance is a thousand and a million times their size.
  for (const double distance : {1e3, 1e6}) {
    const Points points =
        both_of(sphere_points(2000, 35), moved(cube_points(2000, 36), 1, {distance, 0, 1}));
    for (const double tolerance : {1e-3, 1e-6}) {
      CAPTURE(distance, tolerance);
      check_all(points, tolerance);
    }
  }
}

BACKEND_TEST_CASE("points that nearly coincide") {
  // Pairs that are far closer than other points, so that their terms are most of the results.
  const int power = GENERATE(-3, -6, -9, -12);
  const double distance = std::pow(10.0, power);
  const auto check = [&](const std::string& what, const Points& points) {
    const auto q = signed_charges(points.size(), 38);
    const Reference reference(points, points, {.charges = q}, true);
    for (const double tolerance : {1e-3, 1e-6}) {
      CAPTURE(power, what, tolerance);
      const Plan plan(points, {.tolerance = tolerance, .gradient = true});
      const Results r = run(plan, {.charges = q}, true);
      CHECK(reference.potential_error(r) / tolerance <= 1);
      CHECK(reference.gradient_error(r) / tolerance <= 1);
    }
  };
  const Points points = cube_points(1000, 37);
  const Points twice = both_of(points, moved(points, 1, {distance, 0, 0}));
  check("anywhere", twice);
  check("three or four together", both_of(twice, moved(twice, 1, {0, distance, 0})));
  // The middle of the root is a face between boxes, however large the root is.
  Points over_a_face{{0, 0, 0}, {1, 1, 1}};
  for (const Vec3d& x : points)
    for (const double side : {-0.5, 0.5}) over_a_face.push_back({0.5 + side * distance, x.y, x.z});
  check("over a face", over_a_face);
}

BACKEND_TEST_CASE("options by hand") {
  const Points points = cube_points(5000, 39);
  const PlanOptions options{.tolerance = 1e-4, .order = 5, .max_leaf = 33, .inflation = 1.25};
  const PlanInfo info = Plan(points, options).info();
  CHECK(info.order == 5);
  CHECK(info.max_leaf == 33);
  CHECK(info.inflation == 1.25);
  CHECK(info.levels >= 4);  // 8² boxes of 33 points hold less
  CHECK(info.leaves >= 5000 / 33);
  CHECK(info.boxes > info.leaves);
  CHECK(info.near_pairs >= 5000);
  CHECK(info.memory_bytes > 0);
  CHECK(info.operator_bytes > 0);

  for (const auto precision : {Precision::single_precision, Precision::double_precision}) {
    const Plan plan(points, {.tolerance = 1e-4, .precision = precision});
    CHECK(plan.info().precision == precision);
  }
  const PlanInfo all_pairs = Plan(points, {.max_leaf = 5000}).info();
  CHECK(all_pairs.levels == 1);
  CHECK(all_pairs.boxes == 1);
  CHECK(all_pairs.leaves == 1);
  CHECK(all_pairs.near_pairs == 5000 * 5000);
  CHECK(Plan(points, {.max_leaf = 1}).info().leaves == 5000);
}

BACKEND_TEST_CASE("higher orders have lower errors") {
  const Points points = cube_points(5000, 40);
  const auto q = signed_charges(points.size(), 41);
  const Reference reference(points, points, {.charges = q}, false);
  double last = infinity;
  for (const int order : {1, 3, 6, 10, 15}) {
    const Plan plan(points, {.tolerance = 1e-12, .order = order, .max_leaf = 40});
    const double error = reference.potential_error(run(plan, {.charges = q}, false));
    CAPTURE(order, error);
    // Terms fall like powers of a ratio that is ¾ at worst; half of that is more than typical.
    CHECK(error < last / 2);
    last = error;
  }
}

#ifndef FMBEM_TEST_CUDA  // which times other stages
BACKEND_TEST_CASE("the stages are timed") {
  const Points points = cube_points(3000, 42);
  const auto q = signed_charges(points.size(), 43);
  const Plan plan(points);
  for (const char* stage : {"choose", "tree", "lists", "operators"})
    CHECK(plan.plan_seconds().count(stage) == 1);
  CHECK(plan.evaluate_seconds().empty());
  run(plan, {.charges = q}, false);
  for (const char* stage : {"sort", "P2M", "M2M", "M2L", "L2L", "L2P", "P2P"})
    CHECK(plan.evaluate_seconds().count(stage) == 1);
  for (const auto& [stage, seconds] : plan.evaluate_seconds()) CHECK(seconds >= 0);
}
#endif

BACKEND_TEST_CASE("what is not asked for is not computed, and of nothing comes zero") {
  const Points points = cube_points(2000, 44);
  const std::size_t n = points.size();
  const auto q = signed_charges(n, 45);
  const Plan plan(points, {.gradient = true, .dipoles = true});
  const Results both = run(plan, {.charges = q}, true);
  std::vector<double> u(n, 9);
  std::vector<Vec3d> g(n, Vec3d{9, 9, 9});
  CHECK_NOTHROW(plan.evaluate({.charges = q}, {}));
  plan.evaluate({.charges = q}, {.potential = u});
  plan.evaluate({.charges = q}, {.gradient = g});
  // Other kernels, in which the compiler may fuse other products and sums.
  CHECK(potential_difference(u, both.potential, points, q) <= rounding);
  // Gradients round as the potentials of dipoles do.
  double worst = 0;
  for (std::size_t i = 0; i < n; i += 100) {
    double size = 0;
    for (std::size_t j = 0; j < n; ++j)
      if (j != i) size += std::abs(q[j]) / (four_pi * norm2(points[i] - points[j]));
    worst = larger_error(worst, norm(g[i] - both.gradient[i]) / size);
  }
  CHECK(worst <= dipole_rounding);

  plan.evaluate({}, {u, g});
  CHECK(u == std::vector<double>(n));
  CHECK(g == std::vector<Vec3d>(n));
  CHECK(run(plan, {.charges = std::vector<double>(n)}, true) == Results{u, g});
}

BACKEND_TEST_CASE("plans refuse what they cannot do") {
  const Points points = cube_points(10, 46);
  const auto refused = [&](const PlanOptions& options, const std::string& sentence) {
    CHECK_THROWS_AS(Plan(points, options), InputError);
    CHECK_THROWS_WITH(Plan(points, options), contains(sentence));
  };
  for (const double tolerance : {1e-15, 0.2, 0.0, -1e-6, infinity})
    refused({.tolerance = tolerance}, "the tolerance must be between 1e-14 and 0.1, not ");
  refused({.tolerance = nan_value}, "the tolerance must be between 1e-14 and 0.1, not nan");
  refused({.tolerance = 1e-7, .precision = Precision::single_precision},
          "the tolerance must be between 1e-06 and 0.1 in single precision, not 1e-07: use double "
          "precision or a looser one");
  refused({.order = 0}, "the order must be between 1 and 40, not 0");
  refused({.order = 41}, "the order must be between 1 and 40, not 41");
  refused({.order = -3}, "the order must be between 1 and 40, not -3");
  refused({.max_leaf = 0}, "a leaf must hold at least one point, not 0");
  refused({.inflation = 0.99},
          "the inflation of the root must be at least 1 and below 2, not 0.99");
  refused({.inflation = 2.0}, "the inflation of the root must be at least 1 and below 2, not 2");
  refused({.inflation = nan_value},
          "the inflation of the root must be at least 1 and below 2, not");
  for (const double tolerance : {1e-14, 0.1}) CHECK_NOTHROW(Plan(points, {.tolerance = tolerance}));
}

#ifndef FMBEM_TEST_CUDA
TEST_CASE("no options are the default ones") {
  const Points points = cube_points(100, 81);
  const auto q = signed_charges(points.size(), 82);
  const Results expected = run(Plan(points), {.charges = q}, false);
  const Plan one(points, {}), two(points, points, {}), by_ends(points, {points.data(), 100});
  for (const Plan* plan : {&one, &two, &by_ends})
    CHECK(run(*plan, {.charges = q}, false) == expected);
}
#endif

BACKEND_TEST_CASE("plans refuse points that they cannot hold") {
  const Points points = cube_points(10, 47);
  const auto refused = [](const Points& y, const Points& x, const std::string& sentence) {
    CHECK_THROWS_AS(Plan(y, x), InputError);
    CHECK_THROWS_WITH(Plan(y, x), contains(sentence));
  };
  for (const double bad : {nan_value, infinity, -infinity}) {
    for (int axis = 0; axis < 3; ++axis) {
      Points some = points;
      some[7][axis] = bad;
      CHECK_THROWS_AS(Plan(some), InputError);
      CHECK_THROWS_WITH(Plan(some),
                        contains("source 7 is not at a finite position (counted from 0)"));
      refused(some, points, "source 7 is not at a finite position (counted from 0)");
      refused(points, some, "target 7 is not at a finite position (counted from 0)");
    }
  }
  CHECK_THROWS_AS(Plan(Points{}), InputError);
  CHECK_THROWS_WITH(Plan(Points{}), contains("a plan needs at least one of its sources"));
  refused({}, points, "a plan needs at least one of its sources");
  refused(points, {}, "a plan needs at least one of its targets");
  const Points far{{-1e308, 0, 0}, {1e308, 0, 0}}, close{{0, 0, 0}, {1e-320, 0, 0}};
  CHECK_THROWS_AS(Plan(far), InputError);
  CHECK_THROWS_WITH(Plan(far), contains("the points are too far apart for double precision"));
  refused({far[0]}, {far[1]}, "the points are too far apart for double precision");
  CHECK_THROWS_AS(Plan(close), InputError);
  CHECK_THROWS_WITH(Plan(close),
                    contains("the points are too close together for double precision"));
}

BACKEND_TEST_CASE("evaluations refuse what does not belong together") {
  const Points y = cube_points(3, 48), x = cube_points(2, 49);
  std::vector<double> q(6, 1.0), u(4);
  std::vector<Vec3d> d(6, Vec3d{1, 2, 3}), g(4);
  const Plan plan(y, x, {.gradient = true, .dipoles = true});
  const auto refused = [&](const Plan& by, const Strengths& strengths, const fmm::Fields& fields,
                           const std::string& sentence) {
    CHECK_THROWS_AS(by.evaluate(strengths, fields), InputError);
    CHECK_THROWS_WITH(by.evaluate(strengths, fields), contains(sentence));
  };
  CHECK_NOTHROW(plan.evaluate({q, d, 2}, {u, g}));
  refused(plan, {q, d, 0}, {u, g}, "at least one right-hand side, not 0");
  refused(plan, {q, d, -2}, {u, g}, "at least one right-hand side, not -2");
  refused(plan, {std::span(q).first(5), d, 2}, {u, g}, "the charges have 5 entries, but need 6");
  refused(plan, {q, std::span(d).first(3), 2}, {u, g}, "the dipoles have 3 entries, but need 6");
  refused(plan, {q, d, 2}, {std::span(u).first(3), g}, "the potentials have 3 entries, but need 4");
  refused(plan, {q, d, 2}, {u, std::span(g).first(1)}, "the gradients have 1 entries, but need 4");
  for (const double bad : {nan_value, infinity}) {
    auto bad_q = q;
    bad_q[4] = bad;
    refused(plan, {bad_q, d, 2}, {u, g}, "entry 4 of the charges is not finite");
    auto bad_d = d;
    bad_d[2].y = bad;
    refused(plan, {q, bad_d, 2}, {u, g}, "of the dipoles is not finite");
  }
  const Plan neither(y, x);
  refused(neither, {{}, d, 2}, {u, {}},
          "the plan was not made for dipoles: set PlanOptions::dipoles");
  refused(neither, {q, {}, 2}, {u, g},
          "the plan was not made for gradients: set PlanOptions::gradient");
  CHECK_NOTHROW(neither.evaluate({q, {}, 2}, {u, {}}));
}

}  // namespace fmbem::test::plan_tests
