#include <algorithm>

#include "fmbem/cuda/direct.cuh"
#include "fmbem/cuda/fmm_plan_impl.cuh"
#include "fmbem/cuda/histogram_tree.cuh"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/choice/choose_method.hpp"
#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/choice/search.hpp"
#include "fmbem/fmm/plan_impl.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::cuda {
namespace {

/// Leaf size of a treecode: the warps of 64 targets are full with fewer boxes.
constexpr int treecode_leaf = 64;

std::int64_t count(const DevicePoints& points) { return static_cast<std::int64_t>(points.size); }

Bounds checked_bounds(DevicePoints points, const char* what, cudaStream_t stream) {
  const Bounds bounds = bounds_of(points.data, count(points), stream);
  FMBEM_REQUIRE(bounds.first_bad == count(points),
                what << " " << bounds.first_bad << " is not at a finite position (counted from 0)");
  return bounds;
}

/// The smallest cube about all points, which must be at finite positions.
Cube hull_of(const PointsToPlan& points, cudaStream_t stream) {
  Bounds bounds = checked_bounds(points.sources, "source", stream);
  if (!points.same()) {
    const Bounds others = checked_bounds(points.targets, "target", stream);
    for (int axis = 0; axis < 3; ++axis) {
      bounds.low[axis] = std::min(bounds.low[axis], others.low[axis]);
      bounds.high[axis] = std::max(bounds.high[axis], others.high[axis]);
    }
  }
  return bounding_cube(bounds.low, bounds.high);
}

Cube scaled(const Cube& cube, double scale) { return {scale * cube.corner, scale * cube.side}; }

}  // namespace

FmmPlan::Impl::Impl(const fmm::PlanOptions& asked, std::optional<cudaStream_t> callers_stream)
    : options(asked), callers(callers_stream) {
  keep_freed_memory();
  fmm::check_options(options);
}

void FmmPlan::Impl::place(DevicePoints from, DevicePoints to) {
  fmm::Seconds seconds;
  fmm::Stopwatch watch(seconds);
  const auto stage_done = [&](const char* stage) {
    stream.wait();
    watch.add(stage);
  };
  PointsToPlan points{from, to};
  const bool is_first = !evaluation;
  const Cube hull = hull_of(points, stream);
  const bool root_stays =
      !is_first && options.kappa > 0 && fmm::stays_in(tree.tree.root, scaled(hull, tree.scale));
  points.scale = root_stays ? tree.scale : fmm::scale_for(hull);
  fmm::check_softening(options.softening, hull.side);
  const DeviceRates rates = device_rates();
  const Precision near = near_precision_for(options, rates, hull.side);
  const bool renews = near == evaluation_precision;
  const Cube root = scaled(hull, points.scale);
  SortedKeys keys;
  if (is_first) {
    sources = from.size;
    targets = to.size;
    order = fmm::ParityOrder(fmm::order_for(options, points.same()));
    precision = precision_for(options, rates);
    near_precision = near;
    if (!sums_laplace_directly()) keys = choose(points, root, rates);
  }
  stage_done("choose");
  near_precision = near;
  if (sums_laplace_directly()) {
    sum_directly(points, root, stage_done);
  } else {
    if (is_first)
      third_law = takes_third_law(options, choice.max_leaf, count(points.targets), points.same());
    Grown grown =
        grow_tree(points, root_stays ? tree.tree.root : fmm::inflated(root, choice.inflation),
                  std::move(keys), is_first ? by_histogram() : moves_by_histogram(), stage_done);
    refuse_crowded_boxes(grown);
    if (is_first && third_law && options.third_law == fmm::ThirdLaw::automatic)
      third_law = third_law_fits(grown.tree.near.pairs,
                                 static_cast<std::int64_t>(grown.tree.near.items.size()),
                                 count(points.targets), near);
    tree = std::move(grown.tree);
    one_place = std::move(grown.one_place);
    try {
      if (is_first || !renews || !evaluation->renew(grown.points, kernel()))
        make_evaluation_on(std::move(grown.points));
    } catch (...) {
      evaluation.reset();
      throw;
    }
    stage_done("operators");
  }
  plan_seconds = std::move(seconds);
}

void FmmPlan::Impl::move(DevicePoints from, DevicePoints to) {
  FMBEM_REQUIRE(evaluation, "the plan ended when memory did not suffice: make a new one");
  fmm::check_move({sources, targets, tree.same},
                  {from.size, to.size, PointsToPlan{from, to}.same()});
  place(from, to);
}

void FmmPlan::Impl::make_evaluation_on(PlanPoints points) {
  evaluation_precision = near_precision;
  if (is_treecode())
    evaluation =
        make_treecode_evaluation(tree, std::move(points), order, treecode_options(), stream);
  else
    evaluation = make_evaluation(tree, std::move(points), order,
                                 {.precision = precision,
                                  .near_precision = near_precision,
                                  .root_terms = options.tolerance >= 1e-10 ? 1 : 2,
                                  .rough_products = options.tolerance >= 1e-3,
                                  .third_law = third_law,
                                  .targets_of_a_warp = targets_of_a_warp(),
                                  .kernel = kernel()},
                                 stream);
}

PlanKernel FmmPlan::Impl::kernel() const {
  const double kappa = options.kappa / tree.scale;
  // Leaves of a hybrid may be far from each other on the first level already.
  return {kappa, kappa > 0 ? fmm::kappa_reach(options.tolerance) / kappa : 0, is_hybrid() ? 1 : 2};
}

/// Without a tree, in Morton order; `root` is the hull of the points times the scale.
void FmmPlan::Impl::sum_directly(const PointsToPlan& points, const Cube& root, auto&& stage_done) {
  tree.scale = points.scale;
  tree.same = points.same();
  PlanPoints placed{points.sources, points.targets, sort(points.sources, tree.scale, root).order};
  if (!tree.same) placed.target_order = sort(points.targets, tree.scale, root).order;
  stage_done("sort");
  const double half = 0.5 * root.side;
  precision = near_precision;
  choice = {static_cast<int>(std::max(sources, targets)), fmm::inflations[0]};
  evaluation = make_direct_evaluation({.scale = tree.scale,
                                       .same = tree.same,
                                       .centre = root.corner + Vec3d{half, half, half},
                                       .precision = precision,
                                       .tolerance = options.tolerance,
                                       .softening = tree.scale * options.softening},
                                      std::move(placed), stream);
  stage_done("operators");
}

double FmmPlan::Impl::first_inflation() const {
  return options.inflation.value_or(fmm::inflations[0]);
}

/// Chooses the method, root and leaf size where the options do not; `hull` is that of the points
/// times the scale. Returns the keys of the sources or of the targets, if these are more, in the
/// root that is tried first, which is most often the one chosen; none where nothing is tried and
/// they are not needed for the tree.
SortedKeys FmmPlan::Impl::choose(const PointsToPlan& points, const Cube& hull,
                                 const DeviceRates& rates) {
  const DevicePoints most = points.more();
  SortedKeys keys;
  if (!by_histogram() || !options.max_leaf || !options.inflation)
    keys = sort(most, points.scale, fmm::inflated(hull, first_inflation()));
  if (options.method == fmm::Method::direct) {  // of Yukawa's kernel: P2P of a tree of one box
    choice = {static_cast<int>(count(most)), first_inflation()};
    return keys;
  }
  if (is_treecode()) {
    choice = {options.max_leaf.value_or(treecode_leaf), first_inflation()};
    return keys;
  }
  const std::int64_t n = count(points.sources), m = count(points.targets);
  fmm::PlanOptions how = options;
  if (is_hybrid()) how.max_leaf.reset();  // it finds out by itself how far to split
  choice = choose_tree(how, order.p, rates,
                       {most.data, keys.order.data(), count(most), points.scale, hull}, n, m, {},
                       stream);
  if (is_hybrid()) choice.max_leaf = fmm::hybrid_leaf(options.max_leaf, choice.max_leaf);
  if (options.method == fmm::Method::automatic) {
    // A treecode has never been the fastest here (docs/papers.md).
    const bool is_one_leaf = choice.max_leaf >= count(most);
    const double direct = direct_seconds(options, rates, n, m),
                 least = least_fmm_seconds(order.p, rates);
    const bool is_direct = options.kappa == 0 && !options.max_leaf &&
                           (is_one_leaf || direct < std::max(choice.seconds, least));
    options.method = is_direct ? fmm::Method::direct : fmm::Method::fmm;
  }
  return keys;
}

/// The tree has the same bits either way. Where no keys are needed for choices a histogram is
/// faster, of trees that are neither too deep for it nor so flat that few cells count many points.
bool FmmPlan::Impl::moves_by_histogram() const {
  constexpr int flattest = 5;
  const int depth = tree.tree.levels() - 1;
  return by_histogram() || (histogram_serves && depth >= flattest && depth <= deepest_histogram);
}

/// Sorts the points, of some of which the keys are there, or counts them, and makes tree and lists.
FmmPlan::Impl::Grown FmmPlan::Impl::grow_tree(const PointsToPlan& points, const Cube& root,
                                              SortedKeys keys, bool counts, auto&& stage_done) {
  if (is_hybrid()) return grow_hybrid_tree(points, root, stage_done);
  Grown grown;
  grown.points.sources = points.sources;
  grown.points.targets = points.targets;
  PlanTree& to = grown.tree;
  to.scale = points.scale;
  to.same = points.same();
  SortedKeys source_keys, target_keys;
  std::optional<HistogramTree> counted;
  if (counts) {
    const PointsToCount others{points.targets.data, count(points.targets)};
    counted = build_tree_by_histogram(root, to.scale, {points.sources.data, count(points.sources)},
                                      to.same ? nullptr : &others, choice.max_leaf, stream);
    histogram_serves = counted.has_value();
  }
  if (counted) {
    source_keys = std::move(counted->sources);
    target_keys = std::move(counted->targets);
    to.tree = std::move(counted->tree);
  } else {
    if (keys.size() == 0 || choice.inflation != first_inflation())
      keys = sort(points.more(), to.scale, root);
    (points.more_targets() ? target_keys : source_keys) = std::move(keys);
    if (points.more_targets())
      source_keys = sort(points.sources, to.scale, root);
    else if (!to.same)
      target_keys = sort(points.targets, to.scale, root);
    stage_done("sort");
    const SortedKeys* const other = to.same ? nullptr : &target_keys;
    to.tree = build_tree(root, source_keys, other, choice.max_leaf, stream);
  }
  grown.points.source_order = std::move(source_keys.order);
  grown.points.target_order = std::move(target_keys.order);
  grown.one_place = one_places(grown);
  // A treecode has trees of keys of 64 bits alone.
  if (!is_treecode() && has_crowded_boxes(to.tree, grown.one_place, choice.max_leaf, stream)) {
    grow_deep_tree(root, grown);
    grown.one_place = one_places(grown);
  }
  stage_done("tree");
  to.far = make_far_lists(to.tree, stream, !is_treecode());
  if (!is_treecode())
    to.near = make_near_lists(to.tree, to.far.target_leaves, grown.one_place, targets_of_a_warp(),
                              stream);
  stage_done("lists");
  return grown;
}

DeviceBuffer<std::uint8_t> FmmPlan::Impl::one_places(const Grown& grown) const {
  const PlanPoints& points = grown.points;
  const PlacesInOrder from{points.sources.data, points.source_order.data()},
      to{points.targets.data, points.target_order.data()};
  return find_one_places(grown.tree.tree, from, grown.tree.same ? from : to, stream);
}

/// The tree anew, with twice as many levels to go down to, and the points in its order.
void FmmPlan::Impl::grow_deep_tree(const Cube& root, Grown& grown) const {
  PlanPoints& points = grown.points;
  const auto deep = [&](const DevicePoints& some) {
    return sort_points_deep(some.data, count(some), grown.tree.scale, root, stream);
  };
  DeepKeys from = deep(points.sources), to;
  if (!grown.tree.same) to = deep(points.targets);
  grown.tree.tree =
      build_tree(root, from, grown.tree.same ? nullptr : &to, choice.max_leaf, stream);
  points.source_order = std::move(from.order);
  points.target_order = std::move(to.order);
}

int FmmPlan::Impl::targets_of_a_warp() const {
  return cuda::targets_of_a_warp(near_precision == Precision::single_precision, options.gradient,
                                 static_cast<std::int64_t>(targets));
}

/// Trees end at the deepest level that keys can tell. What is left there in one box is summed
/// directly, which would be too much where most points are.
void FmmPlan::Impl::refuse_crowded_boxes(const Grown& grown) const {
  constexpr double most_pairs = 1e5;  // of a target: 1e12 pairs of 1e7 points take some 0.4 s
  if (grown.tree.tree.levels() <= grown.tree.tree.deepest()) return;
  const std::int64_t pairs = is_treecode() ? treecode_pairs(grown.tree, grown.one_place.data()).p2p
                                           : grown.tree.near.pairs;
  const double of_each = static_cast<double>(pairs) / static_cast<double>(targets);
  FMBEM_REQUIRE(
      of_each <= most_pairs,
      "the points crowd in less than "
          << (is_treecode() ? "5e-7" : "3e-13") << " of their extent, where trees "
          << (is_treecode() ? "of treecodes on the GPU " : "")
          << "end, so that each would be summed with " << static_cast<std::int64_t>(of_each)
          << " others directly: "
          << (is_treecode() ? "take the method fmm"
                            : "leave out points that are so close, or put them together"));
}

SortedKeys FmmPlan::Impl::sort(const DevicePoints& points, double scale, const Cube& root) const {
  return sort_points(points.data, count(points), scale, root, nullptr, stream);
}

fmm::HybridCosts FmmPlan::Impl::hybrid_costs() const {
  return cuda::hybrid_costs(options, order.p, device_rates());
}

double FmmPlan::Impl::theta() const {
  return options.theta.value_or(fmm::default_theta(options.method));
}

TreecodePairs FmmPlan::Impl::treecode_pairs(const PlanTree& of, const std::uint8_t* places) const {
  return count_treecode(of, theta(), places, stream);
}

/// Expansions and pairs have one precision.
TreecodeOptions FmmPlan::Impl::treecode_options() {
  if (near_precision == Precision::double_precision) precision = near_precision;
  return {.precision = precision,
          .theta = theta(),
          .expansion = fmm::expansion_for(options, order.p),
          .tolerance = options.tolerance,
          .max_leaf = choice.max_leaf,
          .one_place = one_place.data()};
}

fmm::PlanInfo FmmPlan::Impl::info() const {
  if (options.method == fmm::Method::direct) return direct_info();
  fmm::PlanInfo info{order.p,
                     precision,
                     tree.tree.levels(),
                     choice.max_leaf,
                     choice.inflation,
                     tree.tree.boxes,
                     tree.tree.boxes - tree.tree.splits,
                     tree.near.pairs,
                     static_cast<std::int64_t>(tree.far.m2l.parents.size()) * (fmm::orbits - 1),
                     bytes(),
                     evaluation ? evaluation->operator_bytes() : 0};
  info.third_law = third_law && !is_treecode();
  if (tree.hybrid) {
    info.method = fmm::Method::hybrid;
    info.m2p_pairs = tree.hybrid->m2p_pairs;
    info.p2l_pairs = tree.hybrid->p2l_pairs;
  }
  if (is_treecode()) {
    const TreecodePairs pairs = treecode_pairs(tree, one_place.data());
    info.method = fmm::Method::treecode;
    info.near_pairs = pairs.p2p;
    info.m2p_pairs = pairs.m2p;
    info.expansion = fmm::expansion_for(options, order.p);
  }
  return info;
}

/// A direct sum has one box.
fmm::PlanInfo FmmPlan::Impl::direct_info() const {
  return {.order = order.p,
          .precision = precision,
          .levels = 1,
          .max_leaf = choice.max_leaf,
          .inflation = choice.inflation,
          .boxes = 1,
          .leaves = 1,
          .near_pairs = static_cast<std::int64_t>(sources) * static_cast<std::int64_t>(targets),
          .m2l_rows = 0,
          .memory_bytes = bytes(),
          .operator_bytes = 0,
          .method = fmm::Method::direct};
}

std::int64_t FmmPlan::Impl::bytes() const {
  return tree.bytes() + (evaluation ? evaluation->bytes() : 0) + charges.bytes() +
         potential.bytes() + dipoles.bytes() + gradient.bytes();
}

}  // namespace fmbem::cuda
