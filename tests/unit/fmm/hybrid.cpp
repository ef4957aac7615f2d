// The hybrid of treecode and FMM: who acts on whom, and its results against direct sums.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <omp.h>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/cpu/backend.hpp"
#include "fmbem/fmm/cpu/near_coordinates.hpp"
#include "fmbem/fmm/direct.hpp"
#include "fmbem/fmm/lists/near_lists.hpp"
#include "fmbem/fmm/lists/trial_trees.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/plan_info.hpp"
#include "fmbem/fmm/tree/merge_leaves.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/fmm/hybrid_tree.hpp"
#include "tests/unit/fmm/method_results.hpp"
#include "tests/unit/larger_error.hpp"

namespace fmbem::test::hybrid_tests {

using fmm::BoxRows;
using fmm::direct_sum;
using fmm::HybridCosts;
using fmm::Method;
using fmm::Plan;
using fmm::PlanOptions;
using fmm::PointTree;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// At distances u³ from two centres, u uniform: ever denser about the centres.
Points two_centres(std::size_t n, std::uint64_t seed) {
  clouds::Uniform uniform(seed);
  Points points(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3d centre = i % 2 == 0 ? Vec3d{0, 0, 0} : Vec3d{1.5, 0.7, 0.2};
    const double distance = std::pow(uniform(), 3);  // first, for every compiler
    points[i] = centre + distance * clouds::sphere_point(uniform);
  }
  return points;
}

Points cloud_points(const std::string& name, std::size_t n, std::uint64_t seed) {
  return name == "two centres" ? two_centres(n, seed) : points_by_name(name, n, seed);
}

/// How often each source acts on the targets of a leaf, by the lists; `ways` counts pairs of boxes
/// by M2L, M2P, P2L and P2P out of reach.
class Acting {
 public:
  explicit Acting(const PointTree& tree) : tree_(tree) {}

  std::vector<int> on_leaf(std::size_t row) {
    times_.assign(tree_.sources.size(), 0);
    const fmm::NearLists& near = tree_.lists.p2p;
    const std::int32_t leaf = near.targets[row];
    for (std::int64_t k = near.begin[row]; k < near.begin[row + 1]; ++k) add(near.sources[k]);
    const fmm::HybridLists& lists = tree_.lists.hybrid;
    for (std::int32_t box = leaf; box >= 0; box = tree_.octree.boxes[box].parent) {
      const BoxRows* const rows[] = {&lists.m2l, &lists.m2p, &lists.p2l, &lists.p2p};
      for (int way = 0; way < 4; ++way)
        for (const std::int32_t source : (*rows[way])[box]) {
          add(source);
          ++ways[way];
        }
      if (!lists.m2l_places.empty()) add_blocks(box);
    }
    return times_;
  }

  std::array<int, 4> ways{};

 private:
  void add(std::int32_t box) {
    const fmm::Range points = tree_.octree.boxes[box].sources;
    for (std::int32_t j = points.begin; j < points.end; ++j) ++times_[j];
  }
  /// Children of the parent's colleagues that do not touch the box.
  void add_blocks(std::int32_t box) {
    const auto& boxes = tree_.octree.boxes;
    const std::int32_t parent = boxes[box].parent;
    if (parent < 0) return;
    for (int place = 0; place < 27; ++place) {
      if ((tree_.lists.hybrid.m2l_places[parent] >> place & 1) == 0) continue;
      for (const std::int32_t child : boxes[tree_.octree.colleagues[parent][place]].child) {
        if (child < 0) continue;
        std::int64_t apart = 0;
        for (int axis = 0; axis < 3; ++axis)
          apart = std::max(apart, std::abs(boxes[child].cell[axis] - boxes[box].cell[axis]));
        if (apart > 1) add(child);
      }
    }
  }

  const PointTree& tree_;
  std::vector<int> times_;
};

/// Whether these targets are where that source is, so that it does not act on them.
bool all_are_at(const PointTree& tree, fmm::Range range, std::size_t source) {
  const auto &s = tree.sources, &t = tree.targets();
  for (std::int32_t i = range.begin; i < range.end; ++i)
    if (t.x[i] != s.x[source] || t.y[i] != s.y[source] || t.z[i] != s.z[source]) return false;
  return true;
}

void check_that_each_acts_once(const PointTree& tree, Acting& acting) {
  const auto& near = tree.lists.p2p;
  std::size_t targets = 0;
  for (std::size_t row = 0; row < near.targets.size(); ++row) {
    const std::vector<int> times = acting.on_leaf(row);
    targets += tree.octree.boxes[near.targets[row]].targets.size();
    const fmm::Range range = tree.octree.boxes[near.targets[row]].targets;
    for (std::size_t j = 0; j < times.size(); ++j)
      if (times[j] != 1 && !(times[j] == 0 && all_are_at(tree, range, j)))
        FAIL_CHECK("row " << row << " has source " << j << ' ' << times[j] << " times");
  }
  CHECK(targets == tree.targets().size());
}

/// Errors of a tree's potentials and gradients at that order, against the direct sum.
Errors errors_of(const PointTree& tree, const Points& y, const Points& x, const Sources& sources,
                 int order, double theta) {
  const fmm::Accuracy accuracy{.order = order,
                               .near_precision = Precision::single_precision,
                               .root_terms = 1,
                               .method = Method::hybrid,
                               .theta = theta};
  Results found(sources.count * x.size()), exact(sources.count * x.size());
  fmm::Seconds seconds;
  fmm::make_cpu_backend(tree, accuracy)
      ->evaluate(sources.strengths(), found.fields(), fmm::Direction::forward, seconds);
  direct_sum(y, x, sources.strengths(), exact.fields());
  return {found, exact};
}

}  // namespace

TEST_CASE("in a hybrid each source acts once on each target, whatever kernels cost") {
  const std::string cloud = GENERATE("cube", "sphere", "plummer", "two centres", "ellipsoid");
  const double theta = GENERATE(0.3, 0.6, 0.8660254, 1.0);
  const bool same = GENERATE(true, false);
  const int max_leaf = GENERATE(3, 60);
  const Points y = cloud_points(cloud, sanitized ? 500 : 1500, 1),
               others = plummer_points(sanitized ? 250 : 700, 2);
  const Points& x = same ? y : others;
  CAPTURE(cloud, theta, same, max_leaf);
  std::vector<HybridCosts> all(6, usual_costs());
  all[1].pair = 1;  // never point by point but where nothing else can be
  all[1].p2l_source = never;
  all[2].pair = 1;
  all[2].m2p_target = never;
  all[3].pair = all[3].near_source = all[3].near_box = 0;  // always
  all[4].m2l_row = all[4].m2l_pair = 1;                    // no M2L
  all[5].far_pair = 1e-8;                                  // few pairs out of reach
  all[5].lanes = 16;
  for (const HybridCosts& costs : all) {
    const PointTree tree = hybrid_tree(y, x, max_leaf, theta, costs);
    Acting acting(tree);
    check_that_each_acts_once(tree, acting);
    if (costs.pair == 0) CHECK(tree.octree.boxes.size() == 1);
    if (costs.m2p_target == never) CHECK(acting.ways[1] == 0);
    if (costs.p2l_source == never) CHECK(acting.ways[2] == 0);
  }
}

TEST_CASE("in a hybrid each source within reach acts once, and no box that is larger by M2P") {
  const std::string cloud = GENERATE("cube", "sphere", "two centres");
  const double theta = GENERATE(0.4, 0.8660254), reach = GENERATE(0.01, 0.3, 2.0, 8.0);
  CAPTURE(cloud, theta, reach);
  const Points points = cloud_points(cloud, 1000, 1);
  std::vector<HybridCosts> all(2, usual_costs());
  all[1].pair = 1e-6;
  for (const HybridCosts& costs : all) {
    const PointTree tree = hybrid_tree(points, points, 4, theta, costs, reach);
    const fmm::SortedPoints& at = tree.sources;
    Acting acting(tree);
    int lost = 0, doubled = 0;
    for (std::size_t row = 0; row < tree.lists.p2p.targets.size(); ++row) {
      const std::vector<int> times = acting.on_leaf(row);
      const fmm::Range range = tree.octree.boxes[tree.lists.p2p.targets[row]].targets;
      for (std::size_t j = 0; j < times.size(); ++j) {
        doubled += times[j] > 1;
        for (std::int32_t i = range.begin; i < range.end; ++i)
          lost += times[j] == 0 &&
                  norm(Vec3d{at.x[i] - at.x[j], at.y[i] - at.y[j], at.z[i] - at.z[j]}) <= reach;
      }
    }
    CHECK(lost == 0);
    CHECK(doubled == 0);
    for (const BoxRows* const rows : {&tree.lists.hybrid.m2p, &tree.lists.hybrid.m2l})
      for (const std::int32_t box : rows->sources)
        CHECK(tree.octree.side(tree.octree.boxes[box].level) <= reach);
  }
}

TEST_CASE("a hybrid takes no longer than the FMM with its best leaves, by what kernels cost") {
  const std::string cloud = GENERATE("cube", "sphere");
  // Rows of M2L by orbits, as on a processor, or in whole parents, as on a GPU.
  const bool in_parents = GENERATE(false, true);
  CAPTURE(cloud, in_parents);
  HybridCosts costs = usual_costs();
  if (in_parents) {
    costs.parent = 26 * costs.m2l_row;
    costs.near_box = costs.m2l_row = 0;
  }
  const Points points = cloud_points(cloud, 30'000, 6);
  const auto seconds_of = [&](const fmm::TreeWork& work, const fmm::Octree& tree) {
    const auto parents = std::count_if(tree.boxes.begin() + 1, tree.boxes.end(),
                                       [](const fmm::Box& box) { return !box.is_leaf; });
    return costs.pair * work.near_pairs + costs.near_source * work.near_sources +
           costs.near_box * work.near_boxes + costs.m2l_row * work.m2l_rows +
           costs.box * work.boxes + costs.parent * static_cast<double>(parents);
  };
  const PointTree sorted = hybrid_tree(points, points, 1000, 0.8660254, {});
  double least = never;
  for (int leaf = 8; leaf < 1000; leaf = leaf * 5 / 4) {
    fmm::Octree tree = fmm::build_octree(sorted.octree.root, sorted.sources, sorted.sources, leaf);
    const int leaves[] = {leaf};
    const fmm::TreeWork work = fmm::work_of_trees(tree, leaves, fmm::Leaves::merged).front();
    fmm::merge_leaves(tree, leaf);
    least = std::min(least, seconds_of(work, tree));
  }
  for (const int leaf : {6, 16}) {
    const PointTree tree = hybrid_tree(points, points, leaf, 0.8660254, costs);
    fmm::PlanInfo info{};
    fmm::count_hybrid(tree, info);
    const fmm::NearLists& near = tree.lists.p2p;
    fmm::TreeWork work{.boxes = static_cast<double>(tree.octree.boxes.size()),
                       .m2l_rows = static_cast<double>(info.m2l_rows),
                       .near_pairs = static_cast<double>(info.near_pairs) +
                                     static_cast<double>(fmm::near_pairs(tree.octree, near)),
                       .near_boxes = static_cast<double>(near.sources.size())};
    for (std::size_t row = 0; row < near.targets.size(); ++row)
      work.near_sources += static_cast<double>(fmm::near_sources(tree.octree, near, row));
    CAPTURE(leaf);
    CHECK(seconds_of(work, tree.octree) + costs.m2p_target * static_cast<double>(info.m2p_pairs) <
          1.05 * least);
  }
}

TEST_CASE("every way to act in a hybrid gives the potentials", "[long][cases]") {
  const Points y = two_centres(2000, 3), others = plummer_points(1000, 4);
  const bool same = GENERATE(true, false);
  const Points& x = same ? y : others;
  const double theta = GENERATE(0.5, 0.8660254);
  const int order = theta < 0.6 ? 6 : 12, count = GENERATE(1, 3);
  if (sanitized && (count == 1 || same == (theta < 0.8))) return;
  CAPTURE(same, theta, count);
  const Sources sources(y.size(), count, false, 5);
  std::array<int, 4> ways{};
  std::vector<HybridCosts> all(5, usual_costs());
  all[1].pair = 1e-6;
  all[2].pair = all[2].m2l_row = all[2].m2l_pair = 1;
  all[3].pair = all[3].m2p_target = 1;
  all[4].m2l_pair = all[4].m2l_row = 1;
  for (const HybridCosts& costs : all) {
    const PointTree tree = hybrid_tree(y, x, 4, theta, costs);
    const Errors errors = errors_of(tree, y, x, sources, order, theta);
    CHECK(errors.potential < 3e-5);
    CHECK(errors.gradient < 1e-4);
    Acting acting(tree);
    for (std::size_t row = 0; row < tree.lists.p2p.targets.size(); ++row) acting.on_leaf(row);
    for (int way = 0; way < 4; ++way) ways[way] += acting.ways[way];
  }
  CHECK((theta > 0.8 || ways[0] > 0));
  CHECK(ways[1] > 0);
  CHECK(ways[2] > 0);
  CHECK(ways[3] > 0);
}

TEST_CASE("near lists of hybrids have leaves of any levels, as integers hold them or not") {
  const Points points = two_centres(1500, 23);
  const bool same = GENERATE(true, false);
  const Points others = two_centres(1000, 24);
  const Points& x = same ? points : others;
  const double theta = GENERATE(0.6, 0.8660254);
  HybridCosts costs = usual_costs();
  costs.near_source = costs.near_box = 0;
  const PointTree tree = hybrid_tree(points, x, 2, theta, costs, fmm::endless, fmm::any_reach);
  CHECK(tree.lists.hybrid.p2p.sources.empty());
  const fmm::NearLists& near = tree.lists.p2p;
  int beyond = 0;
  for (std::size_t row = 0; row < near.targets.size(); ++row)
    for (std::int64_t k = near.begin[row]; k < near.begin[row + 1]; ++k)
      beyond += !fmm::integers_hold(tree.octree.boxes[near.targets[row]],
                                    tree.octree.boxes[near.sources[k]]);
  CHECK(beyond > 100);
  const Errors errors =
      errors_of(tree, points, x, Sources(points.size(), GENERATE(1, 3), false, 25), 12, theta);
  CHECK(errors.potential < 3e-5);
  CHECK(errors.gradient < 1e-4);
}

TEST_CASE("hybrids meet their tolerance, whatever leaves are asked for", "[long][accuracy]") {
  const std::string cloud = GENERATE("cube", "sphere", "plummer", "two centres", "ellipsoid");
  const double tolerance = GENERATE(1e-2, 1e-5, 1e-8);
  CAPTURE(cloud, tolerance);
  const Points points = cloud_points(cloud, 4000, 6);
  const Sources sources(points.size(), 1, false, 7);
  const Points some(points.begin(), points.begin() + 300);
  Results exact(some.size());
  direct_sum(points, some, sources.strengths(), exact.fields());
  PlanOptions options{.tolerance = tolerance, .gradient = true, .method = Method::hybrid};
  const auto check = [&] {
    const Plan plan(points, options);
    const Errors errors(run(plan, sources.strengths()), exact);
    CAPTURE(plan.info().order, plan.info().m2l_rows, plan.info().near_pairs);
    CHECK(plan.info().method == Method::hybrid);
    CHECK(errors.potential < tolerance);
    CHECK(errors.gradient < tolerance);
  };
  check();
  for (const int leaf : {4, 1000}) {
    options.max_leaf = leaf;
    check();
  }
  for (const double theta : {0.4, 0.7}) {
    options.theta = theta;
    options.max_leaf = 30;
    check();
  }
}

TEST_CASE("hybrids of sources and other targets, dipoles and several right-hand sides") {
  const Points y = plummer_points(3000, 8), x = cube_points(2000, 9);
  const bool single = GENERATE(false, true);
  const double tolerance = single ? 1e-4 : 1e-8;
  const Sources sources(y.size(), 3, true, 10);
  const Plan plan(y, x,
                  {.tolerance = tolerance,
                   .precision = single ? Precision::single_precision : Precision::double_precision,
                   .gradient = true,
                   .dipoles = true,
                   .max_leaf = 20,
                   .method = Method::hybrid});
  const Errors errors = errors_of(plan, sources, y, x);
  CHECK(errors.potential < tolerance);
  CHECK(errors.gradient < tolerance);
}

TEST_CASE("the hybrid's error is within its bound at each target", "[long][accuracy]") {
  // Pairs of boxes that act by expansions err by at most θ^(p+1)/(1 − θ) Q/R, and Q/R is at most
  // (1 + θ) Σ|q|/|x − y| (docs/theory.md).
  const std::string cloud = GENERATE("cube", "sphere", "plummer", "two centres");
  const double theta = GENERATE(0.3, 0.5, 0.8, 0.8660254);
  const int order = GENERATE(1, 4, 9);
  const int way = GENERATE(0, 1, 2);  // M2L, M2P or P2L, as far as there is a choice
  CAPTURE(cloud, theta, order, way);
  const Points points = cloud_points(cloud, 1000, 11);
  HybridCosts costs = usual_costs();
  costs.pair = 1e-7;
  double* const of_ways[] = {&costs.m2l_pair, &costs.m2p_target, &costs.p2l_source};
  for (int other = 0; other < 3; ++other)
    if (other != way) *of_ways[other] = 1;
  const PointTree tree = hybrid_tree(points, points, 6, theta, costs);
  Acting acting(tree);
  for (std::size_t row = 0; row < tree.lists.p2p.targets.size(); ++row) acting.on_leaf(row);
  const bool in_blocks = !tree.lists.hybrid.m2l_places.empty();
  // Boxes of different levels are far from each other where leaves are of different sizes.
  if (!in_blocks || (way > 0 && cloud != "cube")) CHECK(acting.ways[way] > 0);
  const fmm::Accuracy accuracy{.order = order, .method = Method::hybrid, .theta = theta};
  check_bound_of_expansions(points, 12, theta, order, [&](const auto& q, auto& u) {
    fmm::Seconds seconds;
    fmm::make_cpu_backend(tree, accuracy)
        ->evaluate({.charges = q}, {.potential = u}, fmm::Direction::forward, seconds);
  });
}

TEST_CASE("a hybrid's work does not depend on the leaf size asked for") {
  const std::string cloud = GENERATE("cube", "sphere", "two centres");
  const Points points = cloud_points(cloud, 50'000, 13);
  double least_pairs = never, most_pairs = 0, least_rows = never, most_rows = 0;
  for (const int leaf : {16, 32, 64, 128, 256, 512}) {
    const fmm::PlanInfo info =
        Plan(points, {.tolerance = 1e-4, .max_leaf = leaf, .method = Method::hybrid}).info();
    const auto pairs = static_cast<double>(info.near_pairs),
               rows = static_cast<double>(info.m2l_rows);
    least_pairs = std::min(least_pairs, pairs);
    most_pairs = std::max(most_pairs, pairs);
    least_rows = std::min(least_rows, rows);
    most_rows = std::max(most_rows, rows);
  }
  CHECK(most_pairs < 1.1 * least_pairs);
  CHECK(most_rows < 1.1 * least_rows);
}

TEST_CASE("automatic takes the hybrid where the leaf size asked for is far from the best") {
  const Points points = cube_points(100'000, 22);
  PlanOptions options{.tolerance = 1e-4, .method = Method::automatic};
  CHECK(Plan(points, options).info().method == Method::fmm);
  options.max_leaf = 1000;
  CHECK(Plan(points, options).info().method == Method::hybrid);
}

TEST_CASE("hybrids of one point, and of points in one place") {
  const std::vector<double> one{1.0};
  std::vector<double> u(1, 1.0);
  Plan(Points{{1, 2, 3}}, {.method = Method::hybrid}).evaluate({.charges = one}, {.potential = u});
  CHECK(u[0] == 0);
  const Points points(100'000, {1, 2, 3});
  const std::vector<double> q(points.size(), 1.0);
  u.assign(points.size(), 1.0);
  Plan(points, {.method = Method::hybrid}).evaluate({.charges = q}, {.potential = u});
  CHECK(std::count(u.begin(), u.end(), 0.0) == 100'000);
  // Each point twice.
  Points twice = cube_points(1500, 14);
  twice.insert(twice.end(), twice.begin(), twice.end());
  const Sources sources(twice.size(), 1, false, 15);
  Results exact(twice.size());
  direct_sum(twice, twice, sources.strengths(), exact.fields());
  for (const double tolerance : {1e-3, 1e-9}) {
    const Plan plan(twice, {.tolerance = tolerance, .gradient = true, .method = Method::hybrid});
    const Errors errors(run(plan, sources.strengths()), exact);
    CHECK(errors.potential < tolerance);
    CHECK(errors.gradient < tolerance);
  }
}

TEST_CASE("hybrids give the same bits for any number of threads", "[threads]") {
  const Points points = two_centres(3000, 16);
  const std::vector<double> q = signed_charges(points.size(), 17);
  const std::optional<double> theta = GENERATE(std::optional<double>(), std::optional(0.5));
  for (const double tolerance : {1e-3, 1e-9})
    check_bits_of_threads(points, q,
                          {.tolerance = tolerance,
                           .gradient = true,
                           .max_leaf = 20,
                           .method = Method::hybrid,
                           .theta = theta});
}

TEST_CASE("lists of hybrids are the same for any number of threads", "[threads]") {
  const std::string cloud = GENERATE("cube", "sphere", "plummer");
  const double theta = GENERATE(0.6, 0.8660254);
  const Points points = cloud_points(cloud, sanitized ? 8000 : 40'000, 18),
               others = cloud_points(cloud, sanitized ? 2000 : 10'000, 19);
  const int before = omp_get_max_threads();
  const auto with_threads = [&](int threads, const Points& targets) {
    omp_set_num_threads(threads);
    return hybrid_tree(points, targets, 6, theta, usual_costs());
  };
  for (const Points* targets : {&points, &others}) {
    const PointTree one = with_threads(1, *targets);
    for (const int threads : {2, 5}) {
      CAPTURE(cloud, theta, threads);
      const PointTree several = with_threads(threads, *targets);
      CHECK(several.octree.level_begin == one.octree.level_begin);
      CHECK(several.octree.colleagues == one.octree.colleagues);
      CHECK(several.lists.p2p.targets == one.lists.p2p.targets);
      CHECK(several.lists.p2p.begin == one.lists.p2p.begin);
      CHECK(several.lists.p2p.sources == one.lists.p2p.sources);
      CHECK(several.lists.source_boxes == one.lists.source_boxes);
      const fmm::HybridLists &a = one.lists.hybrid, &b = several.lists.hybrid;
      CHECK(a.m2l_places == b.m2l_places);
      for (BoxRows fmm::HybridLists::*const rows :
           {&fmm::HybridLists::m2l, &fmm::HybridLists::m2p, &fmm::HybridLists::p2l,
            &fmm::HybridLists::p2p}) {
        CHECK((a.*rows).begin == (b.*rows).begin);
        CHECK((a.*rows).sources == (b.*rows).sources);
      }
    }
  }
  omp_set_num_threads(before);
}

TEST_CASE("hybrids refuse what they do not have") {
  const Points points = cube_points(10, 21);
  const auto refused = [&](const PlanOptions& options, const std::string& sentence) {
    CHECK_THROWS_AS(Plan(points, options), InputError);
    CHECK_THROWS_WITH(Plan(points, options), contains(sentence));
  };
  refused({.hessian = true, .method = Method::hybrid}, "a hybrid has no second derivatives");
  refused({.method = Method::hybrid, .softening = 0.1}, "direct sums alone have a softening");
  refused({.order = 41, .method = Method::hybrid}, "the order must be between 1 and 40");
}

}  // namespace fmbem::test::hybrid_tests
