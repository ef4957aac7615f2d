// Plans with data in device memory; what they compute is tested with the tests of both backends
// (tests/unit/fmm/plan.cpp).
#include "fmbem/cuda/fmm_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/choice/corners.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/tree/morton.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/cuda/on_device.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::cuda_fmm_plan_tests {

using cuda::DeviceArray;
using cuda::FmmPlan;

namespace {

using Points = std::vector<Vec3d>;

double size(double x) { return x; }
double size(Vec3d x) { return norm(x); }

/// ‖a − b‖ / ‖b‖.
template <class T>
double difference(const std::vector<T>& a, const std::vector<T>& b) {
  double error = 0, of_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    error = std::hypot(error, size(a[i] - b[i]));
    of_b = std::hypot(of_b, size(b[i]));
  }
  return error / of_b;
}

/// A plan whose sources are the targets, and an evaluation's data.
struct OnDevice {
  OnDevice(const Points& points, const fmm::PlanOptions& options, int count)
      : n(points.size()),
        vectors(count),
        places(on_device(points)),
        plan({places.data(), n}, {places.data(), n}, options),
        charges(on_device(signed_charges(count * n, 7))),
        potential(count * n),
        gradient(options.gradient ? count * n : 0) {}

  void evaluate() {
    plan.evaluate({charges.data(), nullptr, vectors}, {potential.data(), gradient.data()});
    plan.wait();
  }

  std::size_t n;
  int vectors;
  DeviceArray<Vec3d> places;
  FmmPlan plan;
  DeviceArray<double> charges, potential;
  DeviceArray<Vec3d> gradient;
};

}  // namespace

TEST_CASE("arrays of the device take and give back what they hold") {
  if (!gpu_is_there()) return;
  const std::vector<double> numbers = signed_charges(1000, 1);
  CHECK(on_host(on_device(numbers)) == numbers);
  const Points points = cube_points(1000, 2);
  CHECK(on_host(on_device(points)) == points);
  DeviceArray<double> array(5);
  CHECK_THROWS_WITH(array.upload(numbers), contains("5 entries on the device cannot take 1000"));
  CHECK(DeviceArray<double>().data() == nullptr);
}

TEST_CASE("evaluations of device data agree with direct sums, and with each other in every bit") {
  if (!gpu_is_there()) return;
  const double tolerance = GENERATE(1e-3, 1e-6, 1e-10);
  const Points points = plummer_points(20000, 3);
  const fmm::PlanOptions options{.tolerance = tolerance, .gradient = true};
  OnDevice first(points, options, 3), second(points, options, 3);
  first.evaluate();
  const std::vector<double> u = on_host(first.potential);
  const Points g = on_host(first.gradient);
  for (int k = 0; k < 3; ++k) {  // as it is, captured, and the captured graph again
    first.evaluate();
    CHECK(on_host(first.potential) == u);
    CHECK(on_host(first.gradient) == g);
  }
  second.evaluate();
  CHECK(on_host(second.potential) == u);
  CHECK(on_host(second.gradient) == g);

  // Other arrays of the same kind, which the captured graph finds.
  DeviceArray<double> other_u(3 * first.n);
  DeviceArray<Vec3d> other_g(3 * first.n);
  first.plan.evaluate({second.charges.data(), nullptr, 3}, {other_u.data(), other_g.data()});
  first.plan.wait();
  CHECK(on_host(other_u) == u);
  CHECK(on_host(other_g) == g);

  const Points some(points.begin(), points.begin() + 200);
  const std::vector<double> q = on_host(first.charges);
  std::vector<double> exact(3 * some.size());
  fmm::direct_sum(points, some, {q, {}, 3}, {exact, {}});
  double error = 0, size = 0;
  for (int k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < some.size(); ++i) {
      error = std::hypot(error, u[k * points.size() + i] - exact[k * some.size() + i]);
      size = std::hypot(size, exact[k * some.size() + i]);
    }
  }
  CHECK(error / size / tolerance <= 1);
}

// Small enough for compute-sanitizer's racecheck (scripts/gpu-check).
TEST_CASE("small plans go through every stage") {
  if (!gpu_is_there()) return;
  const Points points = plummer_points(600, 12);
  const auto q = signed_charges(points.size(), 13);
  const Points d = random_dipoles(points.size(), 14);
  std::vector<double> exact(points.size());
  fmm::direct_sum(points, points, {q, d, 1}, {exact, {}});
  for (const auto precision : {Precision::single_precision, Precision::double_precision}) {
    const fmm::Plan plan = cuda::make_fmm_plan(points, {.tolerance = 1e-3,
                                                        .precision = precision,
                                                        .gradient = true,
                                                        .dipoles = true,
                                                        .max_leaf = 12});
    CHECK(plan.info().levels >= 4);
    std::vector<double> u(points.size());
    Points g(points.size());
    plan.evaluate({q, d, 1}, {u, g});
    double error = 0, size = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
      error = std::hypot(error, u[i] - exact[i]);
      size = std::hypot(size, exact[i]);
    }
    CHECK(error / size / 1e-3 <= 1);
  }
}

TEST_CASE("plans with trees by histogram give the bits of plans with sorted ones", "[long]") {
  if (!gpu_is_there()) return;
  const std::string name = GENERATE(as<std::string>{}, "cube", "sphere", "plummer");
  const Points points = points_by_name(name, 20000, 15);
  // Choices of the plan's own, and given ones, for which nothing is sorted before.
  for (const bool given : {false, true}) {
    fmm::PlanOptions options{.tolerance = 1e-6, .gradient = true};
    if (given) options.max_leaf = 60, options.inflation = 1.0;
    OnDevice sorted(points, options, 1);
    options.construction = fmm::Construction::histogram;
    OnDevice counted(points, options, 1);
    sorted.evaluate();
    counted.evaluate();
    CHECK(on_host(counted.potential) == on_host(sorted.potential));
    CHECK(on_host(counted.gradient) == on_host(sorted.gradient));
  }
}

TEST_CASE("the stages one after the other give the same bits") {
  if (!gpu_is_there()) return;
  OnDevice run(cube_points(20000, 4), {}, 2);
  run.evaluate();
  const std::vector<double> u = on_host(run.potential);
  const fmm::Seconds seconds =
      run.plan.evaluate_stages({run.charges.data(), nullptr, 2}, {run.potential.data(), nullptr});
  CHECK(on_host(run.potential) == u);
  for (const char* stage : {"sort", "P2M", "M2M", "gather", "M2L", "L2L", "L2P", "P2P"})
    CHECK(seconds.count(stage) == 1);
  for (const char* stage : {"choose", "sort", "tree", "lists", "operators"})
    CHECK(run.plan.plan_seconds().count(stage) == 1);
}

TEST_CASE("more right-hand sides than go through the stages together") {
  if (!gpu_is_there()) return;
  const Points points = sphere_points(8000, 5);
  OnDevice many(points, {}, 19), one(points, {}, 1);
  many.evaluate();
  one.evaluate();
  const std::vector<double> all = on_host(many.potential);
  const std::vector<double> first = on_host(one.potential);
  // Products of other shapes add up in another order.
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    difference = std::hypot(difference, all[i] - first[i]);
    size = std::hypot(size, first[i]);
  }
  CHECK(difference / size < 1e-7);
  // The last one is of a smaller batch.
  const auto last_q = on_host(many.charges);
  DeviceArray<double> last(on_device(std::vector<double>(last_q.end() - 8000, last_q.end())));
  one.plan.evaluate({last.data(), nullptr, 1}, {one.potential.data(), nullptr});
  one.plan.wait();
  const std::vector<double> again = on_host(one.potential);
  difference = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    difference = std::hypot(difference, all[18 * points.size() + i] - again[i]);
  CHECK(difference / size < 1e-6);
}

TEST_CASE("want of device memory is a sentence, and the process goes on") {
  if (!gpu_is_there()) return;
  const std::size_t too_many = std::size_t{1} << 42;  // 32 TiB
  CHECK_THROWS_AS(DeviceArray<double>(too_many), ResourceError);
  CHECK_THROWS_WITH(DeviceArray<double>(too_many), contains("33554432 MiB more are needed and "));
  OnDevice run(cube_points(3000, 6), {}, 1);
  CHECK_NOTHROW(run.evaluate());
}

TEST_CASE("plans on the device refuse what they cannot do") {
  if (!gpu_is_there()) return;
  Points points = cube_points(100, 8);
  OnDevice run(points, {}, 1);
  const double* q = run.charges.data();
  const auto refused = [&](const cuda::DeviceStrengths& strengths, const cuda::DeviceFields& fields,
                           const char* sentence) {
    CHECK_THROWS_AS(run.plan.evaluate(strengths, fields), InputError);
    CHECK_THROWS_WITH(run.plan.evaluate(strengths, fields), contains(sentence));
  };
  refused({q, nullptr, 0}, {run.potential.data(), nullptr}, "at least one right-hand side, not 0");
  refused({q, run.places.data(), 1}, {run.potential.data(), nullptr}, "not made for dipoles");
  refused({q, nullptr, 1}, {run.potential.data(), run.places.data()}, "not made for gradients");
  refused({}, {run.potential.data(), nullptr}, "no strengths");
  refused({q, nullptr, 1}, {}, "no results");

  points[41].y = std::numeric_limits<double>::infinity();
  const DeviceArray<Vec3d> bad = on_device(points);
  const cuda::DevicePoints places{bad.data(), bad.size()};
  CHECK_THROWS_WITH(FmmPlan(places, places),
                    contains("source 41 is not at a finite position (counted from 0)"));
}

TEST_CASE("clouds of many scales have the CPU's trees, of more than 21 levels where they must") {
  if (!gpu_is_there()) return;
  const std::string name = GENERATE(as<std::string>{}, "scales", "centres", "nanometres");
  const Points points =
      name == "nanometres" ? cluster_points(12'000, 9, 1e-9, 0.9) : points_by_name(name, 12'000, 9);
  const std::vector<double> q = signed_charges(points.size(), 10);
  std::vector<double> exact(points.size());
  Points exact_gradient(points.size());
  fmm::direct_sum(points, points, {q, {}, 1}, {exact, exact_gradient});
  for (const double tolerance : {1e-4, 1e-7, 1e-11}) {
    CAPTURE(name, tolerance);
    // So few points could be one leaf.
    fmm::PlanOptions options{.tolerance = tolerance, .gradient = true, .max_leaf = 60};
    const fmm::Plan plan = cuda::make_fmm_plan(points, options);
    std::vector<double> u(points.size());
    Points g(points.size());
    plan.evaluate({q, {}, 1}, {u, g});
    CHECK(difference(u, exact) / tolerance <= 1);
    CHECK(difference(g, exact_gradient) / tolerance <= 1);
    const fmm::PlanInfo info = plan.info();
    // About the centres leaves are merged.
    CHECK((name == "centres" ? info.levels < deepest_level : info.levels > deepest_level + 1));
    CHECK(info.near_pairs < 2000 * static_cast<std::int64_t>(points.size()));
    options.inflation = info.inflation;
    const fmm::PlanInfo on_cpu = fmm::Plan(points, options).info();
    CHECK(on_cpu.levels == info.levels);
    CHECK(on_cpu.boxes == info.boxes);
    CHECK(on_cpu.near_pairs == info.near_pairs);
    options.third_law = fmm::ThirdLaw::always;
    cuda::make_fmm_plan(points, options).evaluate({q, {}, 1}, {u, g});
    CHECK(difference(u, exact) / tolerance <= 1);
    CHECK(difference(g, exact_gradient) / tolerance <= 1);
  }
}

TEST_CASE("leaves that are merged about a centre, with several right-hand sides and dipoles") {
  if (!gpu_is_there()) return;
  constexpr int count = 3;
  const Points points = points_by_name("centres", 10'000, 22);
  const std::size_t n = points.size();
  const std::vector<double> q = signed_charges(count * n, 23);
  Points d = random_dipoles(count * n, 24);
  for (Vec3d& p : d) p = 1e-6 * p;  // or charges would not show beside them
  std::vector<double> u(count * n), exact(count * n);
  Points g(count * n), exact_gradient(count * n);
  fmm::direct_sum(points, points, {q, d, count}, {exact, exact_gradient});
  for (const double tolerance : {1e-4, 1e-9}) {
    CAPTURE(tolerance);
    const fmm::PlanOptions options{
        .tolerance = tolerance, .gradient = true, .dipoles = true, .max_leaf = 60};
    cuda::make_fmm_plan(points, options).evaluate({q, d, count}, {u, g});
    CHECK(difference(u, exact) / tolerance <= 1);
    CHECK(difference(g, exact_gradient) / tolerance <= 1);
  }
}

TEST_CASE("deep trees for other targets than sources, dipoles and Yukawa's kernel") {
  if (!gpu_is_there()) return;
  const Points points = points_by_name("scales", 4000, 17),
               others = points_by_name("scales", 3000, 18);
  const std::vector<double> q = signed_charges(points.size(), 19);
  const Points d = random_dipoles(points.size(), 20);
  for (const double tolerance : {1e-4, 1e-9}) {
    const fmm::PlanOptions options{.tolerance = tolerance, .dipoles = true, .max_leaf = 40};
    const fmm::Plan plan = cuda::make_fmm_plan(points, others, options);
    CHECK(plan.info().levels > deepest_level + 1);
    std::vector<double> u(others.size()), exact(others.size());
    // Dipoles of a length, or charges would not show beside them.
    Points scaled = d;
    for (Vec3d& p : scaled) p = 1e-7 * p;
    plan.evaluate({q, scaled, 1}, {u, {}});
    fmm::direct_sum(points, others, {q, scaled, 1}, {exact, {}});
    CHECK(difference(u, exact) / tolerance <= 1);
  }
  const fmm::PlanOptions yukawa{.tolerance = 1e-4, .kappa = 1e5, .max_leaf = 40};
  const fmm::Plan plan = cuda::make_fmm_plan(points, yukawa);
  CHECK(plan.info().levels > deepest_level + 1);
  std::vector<double> u(points.size()), exact(points.size());
  plan.evaluate({q, {}, 1}, {u, {}});
  fmm::direct_sum(points, points, {q, {}, 1}, {exact, {}}, yukawa.kappa);
  CHECK(difference(u, exact) / yukawa.tolerance <= 1);
}

TEST_CASE("strengths on the device that are not finite give NaN everywhere") {
  if (!gpu_is_there()) return;
  for (const double tolerance : {1e-3, 1e-9}) {
    OnDevice problem(cube_points(3000, 1), {.tolerance = tolerance, .gradient = true}, 2);
    std::vector<double> charges = on_host(problem.charges);
    problem.evaluate();
    const std::vector<double> good = on_host(problem.potential);
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      charges[problem.n + 5] = bad;
      problem.charges.upload(charges);
      problem.evaluate();
      const std::vector<double> potential = on_host(problem.potential);
      const Points gradient = on_host(problem.gradient);
      CHECK(std::equal(good.begin(), good.begin() + problem.n, potential.begin()));
      CHECK(std::all_of(potential.begin() + problem.n, potential.end(),
                        [](double y) { return std::isnan(y); }));
      CHECK(std::all_of(gradient.begin() + problem.n, gradient.end(),
                        [](Vec3d y) { return std::isnan(y.x) && std::isnan(y.z); }));
    }
  }
}

// Small enough for compute-sanitizer.
TEST_CASE("close pairs and corners of few points are counted on the GPU") {
  if (!gpu_is_there()) return;
  const Points points = sphere_points(4001, 31);
  const fmm::PlanOptions options{.tolerance = 1e-3, .gradient = true, .inflation = 1.1};
  const int order = cuda::make_fmm_plan(points, options).info().order;
  CHECK(order == fmm::Plan(points, options).info().order);
  CHECK(order < cuda::make_fmm_plan(lattice_points(4001), options).info().order);
  // Of roots for lattices the same are left out as on the CPU.
  const Points lattice = lattice_points(11 * 11 * 11);
  const auto n = static_cast<std::int64_t>(lattice.size());
  std::vector<double> tried;
  for (const int k : fmm::roots_off_corners(
           fmm::corner_weights(lattice, 1, fmm::roots_of_lattice(bounding_cube(lattice)), 20), n,
           8))
    tried.push_back(fmm::inflations_of_lattices[k]);
  CHECK(tried.size() < 8);
  const double inflation =
      cuda::make_fmm_plan(lattice, {.order = 20, .max_leaf = 8}).info().inflation;
  CHECK(std::find(tried.begin(), tried.end(), inflation) != tried.end());
  // Below 1e-11 corners move the root of other clouds from where its time alone would have it.
  fmm::PlanOptions of_corners{.tolerance = 2e-11, .order = 6, .max_leaf = 100};
  const double by_time = cuda::make_fmm_plan(points, of_corners).info().inflation;
  of_corners.tolerance = 5e-12;
  const fmm::CornerWeights weights =
      fmm::corner_weights(points, 1, fmm::roots_beside(bounding_cube(points), by_time), 6);
  const int off = fmm::root_off_corners(weights, static_cast<std::int64_t>(points.size()), 100);
  CHECK(cuda::make_fmm_plan(points, of_corners).info().inflation ==
        fmm::inflation_beside(by_time, off));
}

}  // namespace fmbem::test::cuda_fmm_plan_tests
