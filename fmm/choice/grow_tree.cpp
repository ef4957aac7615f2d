#include "fmbem/fmm/choice/grow_tree.hpp"

#include <algorithm>
#include <utility>

#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/choice/cost.hpp"
#include "fmbem/fmm/choice/search.hpp"
#include "fmbem/fmm/tree/overhang.hpp"

namespace fmbem::fmm {
namespace {

/// The smallest leaves that are tried, and the factor from one size to the next.
constexpr double smallest_leaf = 24, trial_step = 1.5;
constexpr std::size_t most_trials = 12;

std::vector<Vec3d> centres_of(const Functionals& sources) {
  std::vector<Vec3d> centres(sources.size());
#pragma omp parallel for schedule(static)
  for (std::size_t j = 0; j < centres.size(); ++j) centres[j] = sources.centre(j);
  return centres;
}

/// The smallest cube about all targets and about the sources with all they reach to.
Hull hull_of(const Functionals& sources, std::span<const Vec3d> targets) {
  std::vector<Vec3d> ends(targets.begin(), targets.end());
  ends.resize(targets.size() + 2 * sources.size());
  Vec3d* first = ends.data() + targets.size();
#pragma omp parallel for schedule(static)
  for (std::size_t j = 0; j < sources.size(); ++j)
    sources.bounds(j, first[2 * j], first[2 * j + 1]);
  return bounding_cube(ends);
}

/// Reach of source j.
std::int8_t deepest_of(const Functionals& sources, std::size_t j, double scale, const Cube& root,
                       double overhang) {
  Vec3d low, high;
  sources.bounds(j, low, high);
  return static_cast<std::int8_t>(
      deepest_level_of(scale * sources.centre(j) - root.corner, scale * low - root.corner,
                       scale * high - root.corner, root.side, overhang, deepest_tree_level));
}

/// Sources and targets, sorted in a root.
void sort_into(const Cube& root, const Functionals& functionals, std::span<const Vec3d> centres,
               std::span<const Vec3d> targets, double overhang, PointTree& tree) {
  std::vector<std::int8_t> deepest(centres.size());
#pragma omp parallel for schedule(static)
  for (std::size_t j = 0; j < centres.size(); ++j)
    deepest[j] = deepest_of(functionals, j, tree.scale, root, overhang);
  tree.sources = sort_points(centres, tree.scale, root, deepest);
  tree.other_targets = sort_points(targets, tree.scale, root);
}

}  // namespace

std::shared_ptr<const PointTree> grow_tree(const Functionals& sources,
                                           std::span<const Vec3d> targets,
                                           const TreeOptions& options, Seconds& seconds) {
  check_order(options.order);
  check_tree_options(options.max_leaf, options.inflation);
  check_overhang(options.overhang);
  require_one_rank(*options.ranks, "a tree");
  Stopwatch watch(seconds);
  const std::vector<Vec3d> centres = centres_of(sources);
  check_points(centres, "source");
  check_points(targets, "target");
  const Hull hull = hull_of(sources, targets);
  PointTree tried{.scale = scale_for(hull), .sources_are_targets = false};
  const Hull scaled = fmbem::scaled(hull, tried.scale);
  watch.add("check");

  const CostModel model(
      {.precision = options.precision, .gradient = options.gradient, .hessian = options.hessian},
      false, options.order, 1);
  const auto most = static_cast<double>(std::max(sources.size(), targets.size()));
  // At least one, however few points there are.
  std::vector<int> leaves =
      leaves_to_try(smallest_leaf, trial_step, most_trials, trial_step * most);
  if (leaves.empty()) leaves.push_back(static_cast<int>(smallest_leaf));
  if (options.max_leaf) leaves = {*options.max_leaf};
  auto tree = std::make_shared<PointTree>(tried);
  TreeChoice best;
  for (const double inflation : inflations_to_try(options.inflation)) {
    const Cube root = inflated(scaled, inflation);
    sort_into(root, sources, centres, targets, options.overhang, tried);
    watch.add("sort");
    tried.octree = build_octree(root, tried.sources, tried.targets(), leaves.front());
    const std::vector<TreeWork> work = work_of_trees(tried.octree, leaves, Leaves::plain);
    const bool better =
        best.improve(inflation, leaves, std::span(work), [&](const TreeWork& of_tree) {
          return model.far_seconds(of_tree) + options.near_pair_seconds * of_tree.near_pairs;
        });
    if (better) {
      tree->sources = std::move(tried.sources);
      tree->other_targets = std::move(tried.other_targets);
      tree->octree = std::move(tried.octree);
    }
    watch.add("tree");
  }
  tree->max_leaf = best.max_leaf;
  tree->inflation = best.inflation;
  if (best.max_leaf > leaves.front())
    tree->octree =
        build_octree(Cube(tree->octree.root), tree->sources, tree->targets(), best.max_leaf);
  tree->make_lists();
  watch.add("tree");
  return tree;
}

}  // namespace fmbem::fmm
