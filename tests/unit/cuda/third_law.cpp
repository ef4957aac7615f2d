// The near field by Newton's third law on the GPU, against direct sums and against the plain one.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/direct.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/fmm/results.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::cuda_third_law_tests {

using cuda::make_fmm_plan;
using fmm::PlanOptions;
using fmm::ThirdLaw;

namespace {

using Points = std::vector<Vec3d>;

double difference(const Results& a, const Results& b) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < a.potential.size(); ++i) {
    error = std::hypot(error, a.potential[i] - b.potential[i]);
    size = std::hypot(size, b.potential[i]);
  }
  return error / size;
}

/// 0 where `a` has none.
double gradient_difference(const Results& a, const Results& b) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < a.gradient.size(); ++i) {
    error = std::hypot(error, norm(a.gradient[i] - b.gradient[i]));
    size = std::hypot(size, norm(b.gradient[i]));
  }
  return size > 0 ? error / size : 0;
}

Results evaluate(const fmm::Plan& plan, const std::vector<double>& q, int count, bool gradient) {
  Results results(q.size());
  if (!gradient) results.gradient.clear();
  plan.evaluate({q, {}, count}, results.fields());
  return results;
}

/// Points with charges, and what they should give.
struct Problem {
  const Points& points;
  int count = 1;
  double kappa = 0;
  std::vector<double> q = signed_charges(count * points.size(), 21);
  Results exact = [this] {
    Results results(q.size());
    fmm::direct_sum(points, points, {q, {}, count}, results.fields(), kappa);
    return results;
  }();
};

/// A plan's errors are within its tolerance, and all evaluations have the same bits.
void check_plan(const Problem& problem, PlanOptions options) {
  options.third_law = ThirdLaw::always;
  options.kappa = problem.kappa;
  const fmm::Plan plan = make_fmm_plan(problem.points, options);
  CHECK(plan.info().third_law);
  const auto result = [&](const fmm::Plan& of) {
    return evaluate(of, problem.q, problem.count, options.gradient);
  };
  const Results u = result(plan);
  CHECK(difference(u, problem.exact) / options.tolerance <= 1);
  CHECK(gradient_difference(u, problem.exact) / options.tolerance <= 1);
  CHECK(result(plan) == u);
  CHECK(result(make_fmm_plan(problem.points, options)) == u);
}

}  // namespace

TEST_CASE("near fields by Newton's third law agree with direct sums") {
  if (!gpu_is_there()) return;
  const std::string name = GENERATE(as<std::string>{}, "cube", "sphere", "plummer");
  const Points points = points_by_name(name, 6000, 22);
  const Problem problem{points};
  for (const bool gradient : {false, true})
    for (const double tolerance : {1e-3, 1e-5, 1e-8, 1e-12})
      // Leaves of one item, and of several.
      for (const int leaf : {12, 40, 150})
        check_plan(problem, {.tolerance = tolerance, .gradient = gradient, .max_leaf = leaf});
}

TEST_CASE("near fields of hybrids by Newton's third law agree with direct sums") {
  if (!gpu_is_there()) return;
  const std::string name =
      GENERATE(as<std::string>{}, "cube", "sphere", "plummer", "centres", "scales");
  const Points points = points_by_name(name, 6000, 37);
  const Problem problem{points, 2};
  PlanOptions options{.max_leaf = 40, .method = fmm::Method::hybrid};
  for (const bool gradient : {false, true})
    for (const double tolerance : {1e-3, 1e-5, 1e-8, 1e-12}) {
      options.gradient = gradient;
      options.tolerance = tolerance;
      check_plan(problem, options);
    }
  options.theta = 0.5;
  options.tolerance = 1e-5;
  check_plan(problem, options);
}

TEST_CASE("close pairs of hybrids keep their digits under the third law") {
  if (!gpu_is_there()) return;
  Points points = points_by_name("plummer", 5000, 38);
  for (int k = 0; k < 200; ++k)
    points.push_back(points[k] + Vec3d{std::pow(10.0, -3 - k % 9), 0, 0});
  for (int k = 0; k < 50; ++k) points.push_back(points[3 * k]);  // coincident
  const Problem problem{points};
  for (const double tolerance : {1e-4, 1e-9})
    check_plan(problem, {.tolerance = tolerance, .max_leaf = 60, .method = fmm::Method::hybrid});
}

TEST_CASE("the third law serves several right-hand sides, and Yukawa's kernel") {
  if (!gpu_is_there()) return;
  const Points points = plummer_points(4000, 23);
  const Problem three{points, 3}, yukawa{points, 2, 2.0};
  for (const double tolerance : {1e-4, 1e-9})
    for (const bool gradient : {false, true}) {
      const PlanOptions options{.tolerance = tolerance, .gradient = gradient, .max_leaf = 50};
      check_plan(three, options);
      check_plan(yukawa, options);
    }
}

TEST_CASE("the third law serves gradients without potentials") {
  if (!gpu_is_there()) return;
  const Points points = plummer_points(5000, 32);
  for (const Problem& problem : {Problem{points}, Problem{points, 2, 2.0}})
    for (const double tolerance : {1e-4, 1e-9}) {
      const fmm::Plan plan = make_fmm_plan(points, {.tolerance = tolerance,
                                                    .kappa = problem.kappa,
                                                    .gradient = true,
                                                    .max_leaf = 50,
                                                    .third_law = ThirdLaw::always});
      const auto gradient = [&] {
        Results fields(problem.q.size());
        plan.evaluate({problem.q, {}, problem.count}, {.gradient = fields.gradient});
        return fields;
      };
      const Results first = gradient();
      CHECK(gradient_difference(first, problem.exact) <= tolerance);
      // The potentials in between use the room of the sums that the third law adds up later.
      CHECK(gradient_difference(evaluate(plan, problem.q, problem.count, true), problem.exact) <=
            tolerance);
      CHECK(gradient() == first);
    }
}

// Small enough for compute-sanitizer.
TEST_CASE("small near fields by the third law") {
  if (!gpu_is_there()) return;
  const Points points = plummer_points(700, 24);
  const Problem problem{points, 2};
  for (const fmm::Method method : {fmm::Method::fmm, fmm::Method::hybrid})
    for (const double tolerance : {1e-4, 1e-9})
      check_plan(problem,
                 {.tolerance = tolerance, .gradient = true, .max_leaf = 25, .method = method});
}

TEST_CASE("close pairs keep their digits under the third law") {
  if (!gpu_is_there()) return;
  // In twos: within leaves, and across their borders, of which the middle of the cube is one.
  Points points = cube_points(4000, 25);
  for (int k = 0; k < 200; ++k) {
    const double gap = std::pow(10.0, -3 - k % 9);
    points.push_back(points[k] + Vec3d{gap, 0, 0});
    points.push_back({0.5 - 0.4 * gap, points[k].y, points[k].z});
    points.push_back({0.5 + 0.6 * gap, points[k].y, points[k].z});
  }
  for (int k = 0; k < 50; ++k) points.push_back(points[3 * k]);  // coincident
  points.push_back({0, 0, 0});
  points.push_back({1, 1, 1});
  const Problem problem{points};
  for (const double tolerance : {1e-4, 1e-9})
    for (const bool gradient : {false, true})
      check_plan(problem,
                 {.tolerance = tolerance, .gradient = gradient, .max_leaf = 40, .inflation = 1.0});
}

TEST_CASE("the third law changes no more than rounding") {
  if (!gpu_is_there()) return;
  const Points points = points_by_name(GENERATE(as<std::string>{}, "sphere", "plummer"), 20000, 26);
  const std::vector<double> q = signed_charges(points.size(), 27);
  // What P2P promises: a coordinate in single precision has 2^-25 of a leaf's side, and pairs
  // closer than 2^-8 sides are in double; roots to 1e-12; all bits of sums of 1e3 terms.
  for (const auto& [tolerance, bound] : {std::pair{1e-5, 1e-6}, {1e-9, 3e-12}, {1e-12, 1e-13}}) {
    PlanOptions options{.tolerance = tolerance, .max_leaf = 60, .inflation = 1.0};
    options.third_law = ThirdLaw::never;
    const fmm::Plan plain = make_fmm_plan(points, options);
    options.third_law = ThirdLaw::always;
    const fmm::Plan mutual = make_fmm_plan(points, options);
    CHECK_FALSE(plain.info().third_law);
    CHECK(mutual.info().near_pairs == plain.info().near_pairs);
    CHECK(difference(evaluate(mutual, q, 1, false), evaluate(plain, q, 1, false)) <= bound);
  }
}

TEST_CASE("plans take the third law where it was measured to pay") {
  if (!gpu_is_there()) return;
  const Points points = cube_points(5000, 30), others = cube_points(5000, 31);
  const auto takes = [&](PlanOptions options) {
    options.inflation = 1.02;
    return make_fmm_plan(points, options).info().third_law;
  };
  CHECK(takes({.max_leaf = 100}));         // 78 points a leaf
  CHECK_FALSE(takes({.max_leaf = 40}));    // 10
  CHECK_FALSE(takes({.max_leaf = 5000}));  // one leaf
  CHECK_FALSE(takes({.gradient = true, .max_leaf = 100}));
  CHECK_FALSE(takes({.dipoles = true, .max_leaf = 100}));
  CHECK_FALSE(takes({.max_leaf = 100, .third_law = ThirdLaw::never}));
  CHECK_FALSE(make_fmm_plan(points, others, {.max_leaf = 100}).info().third_law);
  // So many that a sphere's boxes split in four, as those of surfaces do below the first levels.
  const auto hybrid_takes = [&](const char* cloud, bool gradient) {
    return make_fmm_plan(points_by_name(cloud, 400'000, 39), {.tolerance = 1e-6,
                                                              .gradient = gradient,
                                                              .order = 10,
                                                              .method = fmm::Method::hybrid})
        .info()
        .third_law;
  };
  CHECK(hybrid_takes("cube", false));
  CHECK_FALSE(hybrid_takes("cube", true));
  CHECK_FALSE(hybrid_takes("sphere", false));  // whose close pairs would be summed twice again
}

TEST_CASE("the third law is refused where it does not apply") {
  const Points points = cube_points(100, 28), others = cube_points(50, 29);
  CHECK_THROWS_WITH(fmm::Plan(points, {.third_law = ThirdLaw::never}),
                    contains("Newton's third law is to be chosen for plans on the GPU alone"));
  if (!gpu_is_there()) return;
  const PlanOptions always{.third_law = ThirdLaw::always};
  CHECK_THROWS_AS(make_fmm_plan(points, others, always), InputError);
  CHECK_THROWS_WITH(make_fmm_plan(points, others, always),
                    contains("needs sources that are the targets"));
  CHECK_THROWS_WITH(make_fmm_plan(points, {.dipoles = true, .third_law = ThirdLaw::always}),
                    contains("an FMM or a hybrid without dipoles"));
  CHECK_THROWS_WITH(
      make_fmm_plan(points, {.method = fmm::Method::treecode, .third_law = ThirdLaw::always}),
      contains("an FMM or a hybrid without dipoles"));
}

TEST_CASE("plans by the third law that move have the bits of new ones") {
  if (!gpu_is_there()) return;
  const Points cube = cube_points(6000, 33), sphere = sphere_points(6000, 34);
  Points doubled = cube_points(6000, 35);  // each point is close to another
  std::copy_n(doubled.begin(), 3000, doubled.begin() + 3000);
  const std::vector<double> q = signed_charges(cube.size(), 36);
  for (const double tolerance : {1e-4, 1e-9}) {
    PlanOptions options{.tolerance = tolerance, .max_leaf = 60, .inflation = 1.0};
    options.third_law = ThirdLaw::always;
    fmm::Plan plan = make_fmm_plan(cube, options);
    for (const Points* points : std::vector<const Points*>{&sphere, &doubled, &cube, &cube}) {
      plan.move(*points);
      const fmm::Plan made = make_fmm_plan(*points, options);
      for (int k = 0; k < 2; ++k)  // as it is, and by a graph
        CHECK(evaluate(plan, q, 1, false) == evaluate(made, q, 1, false));
    }
  }
}

}  // namespace fmbem::test::cuda_third_law_tests
