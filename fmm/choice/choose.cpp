#include "fmbem/fmm/choice/choose.hpp"

#include <algorithm>
#include <cmath>

#include "fmbem/fmm/choice/corners.hpp"
#include "fmbem/fmm/choice/cost.hpp"
#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/lists/trial_trees.hpp"

namespace fmbem::fmm {
namespace {

/// A sample has one point in eight, or fewer where leaves are large, but at least so many. Leaves
/// of its trees then still hold a few points, and trying several trees takes no longer than
/// building one.
constexpr std::size_t sample_at_least = 20'000;
std::size_t sample_stride(std::size_t points, double leaf) {
  const auto stride = static_cast<std::size_t>(std::clamp(leaf / 10, 8.0, 32.0));
  return std::clamp<std::size_t>(points / sample_at_least, 1, stride);
}

/// Trials begin with leaves that are least_leaf times those that balance near and far field in
/// uniformly filled space, and go up by leaf_step to 250 times these. On surfaces larger leaves
/// are best, and the largest where points crowd about a few places.
constexpr double least_leaf = 1.5, leaf_step = 1.25;
constexpr std::size_t most_leaves = most_trial_trees;
/// Where such leaves are larger than the kernel's reach, so that all that acts is near and small
/// leaves have fewer pairs, trials begin with a few points and go up by larger steps. With less
/// than that the boxes take longer than the pairs.
constexpr double short_reach_leaf = 8, short_reach_step = 1.5;

}  // namespace

std::vector<Vec3d> sample(std::span<const Vec3d> points, std::size_t stride) {
  std::vector<Vec3d> picked;
  picked.reserve(points.size() / stride + 1);
  std::uint64_t state = 1;
  for (std::size_t first = 0; first < points.size(); first += stride) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth 1997
    const std::size_t offset = (state >> 33) % stride;
    picked.push_back(points[std::min(first + offset, points.size() - 1)]);
  }
  return picked;
}

TreeChoice choose_tree(const PlanOptions& options, int order, std::span<const Vec3d> sources,
                       std::span<const Vec3d> targets, double scale, const Hull& hull,
                       const Cloud& cloud) {
  const bool same = are_same(sources, targets);
  if (options.max_leaf && options.inflation && options.method != Method::automatic &&
      !weighs_branching(options, same))
    return {*options.max_leaf, *options.inflation};
  const std::size_t most = std::max(sources.size(), targets.size());
  const double balanced =
      options.max_leaf.value_or(CostModel(options, same, order, 1).balanced_leaf());
  const std::size_t stride = sample_stride(most, balanced);
  const std::size_t most_of_sample = most / stride;
  const double weight = static_cast<double>(stride);
  const std::vector<Vec3d> some_sources = sample(sources, stride);
  const std::vector<Vec3d> some_targets = same ? std::vector<Vec3d>() : sample(targets, stride);
  const CostModel model(options, same, order, weight);

  TreeChoice best{options.max_leaf.value_or(static_cast<int>(most)),
                  options.inflation.value_or(inflations[0])};
  // For few points no far field at all is best.
  if (!options.max_leaf) best.seconds = model.direct_seconds(sources.size(), targets.size());
  const double reach = kernel_reach(
      options.kappa, kappa_reach(options.tolerance) + options.kappa * cloud.nearest, scale);
  const double least = least_leaf * balanced;
  const bool is_short = reach < hull.side * std::cbrt(least / static_cast<double>(most));
  const std::vector<int> leaves =
      options.max_leaf ? std::vector{std::max(1, static_cast<int>(*options.max_leaf / weight))}
                       : leaves_to_try((is_short ? short_reach_leaf : least) / weight,
                                       is_short ? short_reach_step : leaf_step, most_leaves,
                                       static_cast<double>(most_of_sample));
  if (leaves.empty()) return best;
  const auto weights = [&](const std::vector<Cube>& roots) {
    return corner_weights(some_sources, scale, roots, order);
  };
  for (const double inflation :
       inflations_to_try(options.inflation, cloud.on_lattice, hull,
                         static_cast<std::int64_t>(most_of_sample), leaves.front(), weights)) {
    const Cube root = inflated(hull, inflation, cloud.on_lattice);
    const SortedPoints s = sort_keys(some_sources, scale, root);
    const SortedPoints t = same ? SortedPoints() : sort_keys(some_targets, scale, root);
    const Octree finest = build_octree(root, s, same ? s : t, leaves.front());
    const std::vector<TreeWork> work = work_of_trees(finest, leaves, Leaves::merged, reach);
    const bool better =
        best.improve(inflation, leaves, std::span(work), [&](const TreeWork& of_tree) {
          return model.near_seconds(of_tree) + model.far_seconds(of_tree);
        });
    // A point of the sample stands for `weight` points, so this leaf size is only known to so many:
    // take the middle.
    if (better) best.max_leaf = static_cast<int>(weight * (best.max_leaf + 0.5));
  }
  best.max_leaf = options.max_leaf.value_or(best.max_leaf);
  best.inflation = inflation_off_corners(options, cloud.on_lattice, hull, best,
                                         static_cast<std::int64_t>(most), weights);
  return best;
}

}  // namespace fmbem::fmm
