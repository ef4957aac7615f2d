#include "fmbem/fmm/choose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmbem/fmm/cost.hpp"
#include "fmbem/fmm/rates.hpp"

namespace fmbem::fmm {
namespace {

/// One point in eight, at least this many: enough for leaves of the sample to hold some points,
/// few enough for trying some trees to be cheaper than building one.
constexpr std::size_t sample_divisor = 8, sample_at_least = 20'000;

constexpr double inflations[] = {1, 1.2, 1.44, 1.73};
constexpr double leaf_step = 1.7;

/// Points picked at pseudo-random from equal stretches, so that no order of the input is favoured.
std::vector<Vec3d> sample(std::span<const Vec3d> points, std::size_t stride) {
  std::vector<Vec3d> picked;
  picked.reserve(points.size() / stride + 1);
  std::uint64_t state = 1;
  for (std::size_t first = 0; first < points.size(); first += stride) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;  // Knuth 1997
    const std::size_t offset = (state >> 33) % stride;
    if (first + offset < points.size()) picked.push_back(points[first + offset]);
  }
  return picked;
}

/// Trees of the sample for one root.
class Trial {
 public:
  Trial(std::span<const Vec3d> sources, std::span<const Vec3d> targets, double unit,
        const Cube& root, const CostModel& model)
      : same_(sources.data() == targets.data()),
        root_(root),
        model_(model),
        sources_(sort_points(sources, unit, root)) {
    if (!same_) targets_ = sort_points(targets, unit, root);
  }

  /// Seconds that an evaluation takes if a leaf of the sample holds at most this many points.
  double seconds(int max_leaf) const {
    const SortedPoints& targets = same_ ? sources_ : targets_;
    const Octree tree = build_octree(root_, sources_, targets, max_leaf);
    return model_.seconds(tree, near_lists(tree, sources_, targets));
  }

 private:
  bool same_;
  Cube root_;
  const CostModel& model_;
  SortedPoints sources_, targets_;
};

}  // namespace

int order_for(const PlanOptions& options) {
  if (options.order) return *options.order;
  return std::max(1, static_cast<int>(std::ceil(-2.2 * std::log10(options.tolerance) - 2)));
}

Cube inflated(const Cube& hull, double inflation) {
  const double half = 0.5 * (inflation - 1) * hull.side;
  return {hull.corner - Vec3d{half, half, half}, inflation * hull.side};
}

Choice choose(const PlanOptions& options, std::span<const Vec3d> sources,
              std::span<const Vec3d> targets, double unit, const Cube& hull) {
  Choice best{order_for(options), options.max_leaf.value_or(0), options.inflation.value_or(0)};
  if (options.max_leaf && options.inflation) return best;

  const std::size_t most = std::max(sources.size(), targets.size());
  const std::size_t stride =
      std::clamp<std::size_t>(most / sample_at_least, 1, sample_divisor);
  const std::vector<Vec3d> some_sources = sample(sources, stride);
  const std::vector<Vec3d> some_targets =
      sources.data() == targets.data() ? std::vector<Vec3d>() : sample(targets, stride);
  const CostModel model(options, best.order, static_cast<double>(stride));

  // No far field at all is what few points want.
  double least = model.direct_seconds(sources.size(), targets.size());
  best.inflation = options.inflation.value_or(1);
  best.max_leaf = options.max_leaf.value_or(static_cast<int>(most));
  if (options.max_leaf) least = std::numeric_limits<double>::infinity();
  double leaf = options.max_leaf.value_or(model.balanced_leaf());
  for (const double inflation : inflations) {
    if (options.inflation && inflation != inflations[0]) break;
    const double tried = options.inflation.value_or(inflation);
    const Trial trial(some_sources, some_targets.empty() ? some_sources : some_targets, unit,
                      inflated(hull, tried), model);
    /// Whether leaves of this size are the best so far.
    const auto improves = [&](double max_leaf) {
      const double in_sample = std::max(1.0, max_leaf / static_cast<double>(stride));
      const double seconds = trial.seconds(static_cast<int>(std::lround(in_sample)));
      if (!(seconds < least)) return false;
      least = seconds;
      best.inflation = tried;
      best.max_leaf = std::max(1, static_cast<int>(max_leaf));
      leaf = max_leaf;
      return true;
    };
    // From the best leaf so far down, or else up, while that helps: the cost has one minimum.
    const double start = leaf;
    const bool better = improves(start);
    if (options.max_leaf || (!better && inflation != inflations[0])) continue;
    double tried_leaf = start / leaf_step;
    bool down = improves(tried_leaf);
    while (down) down = improves(tried_leaf /= leaf_step);
    if (leaf < start) continue;
    tried_leaf = start * leaf_step;
    while (improves(tried_leaf)) tried_leaf *= leaf_step;
  }
  return best;
}

}  // namespace fmbem::fmm
