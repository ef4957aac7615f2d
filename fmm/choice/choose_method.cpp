#include "fmbem/fmm/choice/choose_method.hpp"

#include <algorithm>
#include <initializer_list>

#include "fmbem/fmm/choice/cost.hpp"
#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/lists/dual_traversal.hpp"
#include "fmbem/fmm/lists/near_lists.hpp"
#include "fmbem/fmm/lists/treecode_walk.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {
namespace {

// Leaf sizes of treecodes that are tried, the points of which one in so many is in the trial's
// tree, and the leaves of it that are walked.
constexpr std::initializer_list<int> treecode_leaves{16, 32, 64, 128};
/// A hybrid is taken where it is foreseen to be faster by that factor: its plan takes longer.
constexpr double hybrid_margin = 1.15;

constexpr std::size_t largest_stride = 8, least_sample = 20'000, leaves_walked = 200;

/// One in so many points is in the tree of a trial.
std::size_t stride_of_trial(std::span<const Vec3d> sources, std::span<const Vec3d> targets) {
  const std::size_t most = std::max(sources.size(), targets.size());
  return std::clamp<std::size_t>(most / least_sample, 1, largest_stride);
}

/// As kernel_reach(), of points that are not apart.
double reach_for(const PlanOptions& options, double scale) {
  return kernel_reach(options.kappa, kappa_reach(options.tolerance), scale);
}

TreeChoice direct_choice(const PlanOptions& options, std::span<const Vec3d> sources,
                         std::span<const Vec3d> targets) {
  const CostModel model(options, are_same(sources, targets), 1, 1);
  return {static_cast<int>(std::max(sources.size(), targets.size())), inflations[0],
          model.direct_seconds(sources.size(), targets.size())};
}

TreeChoice treecode_choice(const PlanOptions& options, std::span<const Vec3d> sources,
                           std::span<const Vec3d> targets, double scale, const Hull& hull) {
  const double inflation = options.inflation.value_or(inflations[0]);
  PlanOptions in_double = options;
  in_double.precision = Precision::double_precision;  // as P2P of treecodes is
  const bool same = are_same(sources, targets);
  const int order = order_for(options, same);
  const double pair = 1 / near_pairs_per_second(in_double, false),
               m2p_pair = 1 / m2p_pairs_per_second(options, order);

  const std::size_t stride = stride_of_trial(sources, targets);
  const auto weight = static_cast<double>(stride);
  const Cube root = inflated(hull, inflation);
  const SortedPoints s = sort_keys(sample(sources, stride), scale, root);
  const SortedPoints t = same ? SortedPoints() : sort_keys(sample(targets, stride), scale, root);
  const bool in_single = precision_of(options, same) == Precision::single_precision;
  const int lanes = cpu_kernels<double>().lanes;
  const TargetsOfWalk of_walk{weight, in_single ? cpu_kernels<float>().lanes : lanes, lanes};
  TreeChoice best{1, inflation};
  for (const int tried : treecode_leaves) {
    const int leaf = options.max_leaf.value_or(tried);
    const Octree tree =
        build_octree(root, s, same ? s : t, std::max(1, leaf / static_cast<int>(stride)));
    const std::vector<std::int32_t> leaves = leaves_with_targets(tree);
    const TreecodeWork work =
        treecode_work(tree, leaves, options.theta.value_or(default_theta(options.method)),
                      reach_for(options, scale),
                      std::max<std::size_t>(1, leaves.size() / leaves_walked), of_walk);
    const double seconds = m2p_pair * work.m2p_pairs + weight * pair * work.p2p_pairs;
    if (seconds < best.seconds) best = {leaf, inflation, seconds};
    if (options.max_leaf) break;
  }
  return best;
}

/// The root and leaves of the FMM serve a hybrid.
TreeChoice hybrid_choice(const PlanOptions& options, std::span<const Vec3d> sources,
                         std::span<const Vec3d> targets, double scale, const Hull& hull,
                         const Cloud& cloud) {
  PlanOptions free = options;
  free.max_leaf.reset();
  const int order = order_for(options, are_same(sources, targets), cloud);
  TreeChoice choice = choose_tree(free, order, sources, targets, scale, hull, cloud);
  choice.max_leaf = hybrid_leaf(options.max_leaf, choice.max_leaf);
  return choice;
}

/// What the traversal of a sample's tree foresees for that choice.
double hybrid_seconds(const PlanOptions& options, const TreeChoice& choice,
                      std::span<const Vec3d> sources, std::span<const Vec3d> targets, double scale,
                      const Hull& hull, const Cloud& cloud) {
  const bool same = are_same(sources, targets);
  const std::size_t stride = stride_of_trial(sources, targets);
  const CostModel model(options, same, order_for(options, same, cloud),
                        static_cast<double>(stride));
  const Cube root = inflated(hull, choice.inflation, cloud.on_lattice);
  PointTree tree{.scale = scale, .sources_are_targets = same};
  tree.sources = sort_points(sample(sources, stride), scale, root);
  if (!same) tree.other_targets = sort_points(sample(targets, stride), scale, root);
  tree.octree = build_octree(root, tree.sources, tree.targets(),
                             std::max(1, choice.max_leaf / static_cast<int>(stride)));
  const double points = 0.5 * static_cast<double>(tree.sources.size() + tree.targets().size());
  return traverse_pairs(tree, options.theta.value_or(default_theta(options.method)),
                        reach_for(options, scale), model.hybrid_costs())
             .seconds +
         model.far_seconds({.points = points, .has_far = true});
}

/// `options` with that method.
PlanOptions with(PlanOptions options, Method method) {
  options.method = method;
  return options;
}

}  // namespace

MethodChoice choose_method(const PlanOptions& options, std::span<const Vec3d> sources,
                           std::span<const Vec3d> targets, double scale, const Hull& hull,
                           const Cloud& cloud) {
  const auto fmm_choice = [&] {
    const int order = order_for(with(options, Method::fmm), are_same(sources, targets), cloud);
    return choose_tree(options, order, sources, targets, scale, hull, cloud);
  };
  switch (options.method) {
    case Method::direct:
      return {options.method, direct_choice(options, sources, targets)};
    case Method::treecode:
      if (options.max_leaf)
        return {options.method, {*options.max_leaf, options.inflation.value_or(inflations[0])}};
      return {options.method, treecode_choice(options, sources, targets, scale, hull)};
    case Method::fmm:
      return {options.method, fmm_choice()};
    case Method::hybrid:
      return {options.method, hybrid_choice(options, sources, targets, scale, hull, cloud)};
    case Method::automatic:
      break;
  }
  MethodChoice best{Method::direct, direct_choice(options, sources, targets)};
  const auto improve = [&](Method method, const TreeChoice& tree) {
    if (tree.seconds < best.tree.seconds) best = {method, tree};
  };
  improve(Method::fmm, fmm_choice());
  // Treecodes need higher orders where points are at few places.
  const bool order_serves =
      options.order ||
      (!cloud.few_places && options.theta.value_or(default_theta(Method::treecode)) <=
                                theta_of_highest_order(options, are_same(sources, targets)));
  if (!options.hessian && order_serves && best.method != Method::direct)
    improve(Method::treecode,
            treecode_choice(with(options, Method::treecode), sources, targets, scale, hull));
  if (!options.hessian && best.method != Method::direct) {
    const PlanOptions hybrid = with(options, Method::hybrid);
    TreeChoice tree = hybrid_choice(hybrid, sources, targets, scale, hull, cloud);
    tree.seconds =
        hybrid_margin * hybrid_seconds(hybrid, tree, sources, targets, scale, hull, cloud);
    improve(Method::hybrid, tree);
  }
  return best;
}

}  // namespace fmbem::fmm
