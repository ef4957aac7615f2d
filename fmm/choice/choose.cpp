#include "fmbem/fmm/choice/choose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmbem/fmm/choice/cost.hpp"
#include "fmbem/fmm/choice/rates.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/tree/trial_trees.hpp"

namespace fmbem::fmm {
namespace {

/// Points of a sample: one in eight or, where leaves are large, less, but at least so many. Leaves
/// of the sample then hold some points, and trying some trees takes no longer than building one.
constexpr std::size_t sample_at_least = 20'000;
std::size_t sample_stride(std::size_t points, double leaf) {
  const auto stride = static_cast<std::size_t>(std::clamp(leaf / 10, 8.0, 32.0));
  return std::clamp<std::size_t>(points / sample_at_least, 1, stride);
}

/// Relative L2 errors of order 1, 2, …: the worst of a cube, a sphere, a Plummer sphere and a
/// graded ellipsoid of 100,000 points with charges of mixed sign (docs/accuracy.md), M2L having the
/// same order for all boxes; m2l_order() adds up to 40 % from order 14 on. Of the potential of
/// charges; and of gradients, or of the potential of dipoles, which agree.
constexpr double potential_errors[] = {
    3.9e-2,  1.0e-2,  3.0e-3,  7.1e-4,  2.5e-4,  8.6e-5,  3.1e-5,  1.0e-5,  3.6e-6,  1.4e-6,
    5.3e-7,  2.1e-7,  7.3e-8,  3.0e-8,  1.0e-8,  4.3e-9,  1.7e-9,  6.5e-10, 2.6e-10, 1.0e-10,
    4.2e-11, 1.8e-11, 8.1e-12, 5.2e-12, 3.0e-12, 1.8e-12, 1.0e-12, 5.5e-13};
constexpr double derivative_errors[] = {
    4.1e-2,  1.3e-2,  4.1e-3,  1.1e-3,  3.9e-4,  1.6e-4,  5.8e-5,  2.3e-5, 9.1e-6,  3.7e-6,
    1.5e-6,  5.8e-7,  2.4e-7,  9.4e-8,  3.8e-8,  1.5e-8,  7.0e-9,  1.8e-9, 7.6e-10, 3.2e-10,
    1.4e-10, 5.9e-11, 2.7e-11, 1.3e-11, 7.5e-12, 4.4e-12, 2.2e-12, 1.1e-12};
/// Which part of the tolerance the table's error may take, by the derivatives asked for (gradient,
/// dipoles, or both). The table's points have close pairs, which make derivatives large; a lattice
/// has none. Where targets are not the sources, none may be near at all, and the far field is
/// everything.
constexpr double safety[] = {0.6, 0.25, 0.04}, safety_apart[] = {0.2, 0.03, 0.008};

/// Leaves that are tried, from so many times those that are balanced in uniformly filled space:
/// on surfaces larger ones are best.
constexpr double least_leaf = 1.5, leaf_step = 1.25;
constexpr std::size_t most_leaves = 12;

/// Points picked at pseudo-random from equal stretches, so that no order of the input is favoured.
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

/// Numbers of points that leaves may have, to be tried.
std::vector<int> leaves_to_try(double balanced, std::size_t points) {
  std::vector<int> leaves;
  for (double leaf = least_leaf * balanced; leaves.size() < most_leaves; leaf *= leaf_step) {
    if (leaf >= static_cast<double>(points)) break;
    const int rounded = std::max(1, static_cast<int>(leaf));
    if (leaves.empty() || rounded > leaves.back()) leaves.push_back(rounded);
  }
  return leaves;
}

}  // namespace

int order_for(const PlanOptions& options, bool sources_are_targets) {
  if (options.order) return *options.order;
  const int derivatives = options.gradient + options.dipoles;
  const std::span<const double> errors = derivatives > 0
                                             ? std::span<const double>(derivative_errors)
                                             : std::span<const double>(potential_errors);
  const double wanted =
      (sources_are_targets ? safety : safety_apart)[derivatives] * options.tolerance;
  const auto enough =
      std::find_if(errors.begin(), errors.end(), [&](double error) { return error <= wanted; });
  const int order = 1 + static_cast<int>(enough - errors.begin());
  if (enough != errors.end()) return order;
  // Beyond the table the error falls by 2 an order, or faster.
  const double more = std::log2(errors.back() / wanted);
  return std::min(order + static_cast<int>(more), highest_order);
}

Cube inflated(const Cube& hull, double inflation) {
  const double half = 0.5 * (inflation - 1) * hull.side;
  return {hull.corner - Vec3d{half, half, half}, inflation * hull.side};
}

Choice choose(const PlanOptions& options, std::span<const Vec3d> sources,
              std::span<const Vec3d> targets, double unit, const Cube& hull) {
  const bool same = are_same(sources, targets);
  Choice best{order_for(options, same), options.max_leaf.value_or(0),
              options.inflation.value_or(0)};
  if (options.max_leaf && options.inflation) return best;

  const std::size_t most = std::max(sources.size(), targets.size());
  const double balanced =
      options.max_leaf.value_or(CostModel(options, same, best.order, 1).balanced_leaf());
  const std::size_t stride = sample_stride(most, balanced);
  const std::vector<Vec3d> some_sources = sample(sources, stride);
  const std::vector<Vec3d> some_targets = same ? std::vector<Vec3d>() : sample(targets, stride);
  const CostModel model(options, same, best.order, static_cast<double>(stride));

  // No far field at all is what few points want.
  double least = model.direct_seconds(sources.size(), targets.size());
  best.inflation = options.inflation.value_or(inflations[0]);
  best.max_leaf = options.max_leaf.value_or(static_cast<int>(most));
  if (options.max_leaf) least = std::numeric_limits<double>::infinity();
  const double weight = static_cast<double>(stride);
  const std::vector<int> leaves =
      options.max_leaf ? std::vector<int>{std::max(1, static_cast<int>(*options.max_leaf / weight))}
                       : leaves_to_try(balanced / weight, most / stride);
  if (leaves.empty()) return best;
  for (const double inflation : inflations) {
    if (options.inflation && inflation != inflations[0]) break;
    const double tried = options.inflation.value_or(inflation);
    const Cube root = inflated(hull, tried);
    const SortedPoints s = sort_keys(some_sources, unit, root);
    const SortedPoints t = same ? SortedPoints() : sort_keys(some_targets, unit, root);
    const Octree finest = build_octree(root, s, same ? s : t, leaves.front());
    const std::vector<TreeWork> work = work_of_trees(finest, leaves);
    for (std::size_t c = 0; c < leaves.size(); ++c) {
      const double seconds = model.near_seconds(work[c]) + model.far_seconds(work[c]);
      if (seconds >= least) continue;
      least = seconds;
      best.inflation = tried;
      // Half of a step of the sample more: that many it rounds to the same number.
      if (!options.max_leaf) best.max_leaf = static_cast<int>(weight * (leaves[c] + 0.5));
    }
  }
  return best;
}

}  // namespace fmbem::fmm
