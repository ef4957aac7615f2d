#include <algorithm>
#include <cmath>

#include "fmbem/cuda/close_pairs.cuh"
#include "fmbem/cuda/direct.cuh"
#include "fmbem/cuda/fmm_plan_impl.cuh"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/choice/apart.hpp"
#include "fmbem/fmm/choice/choose_method.hpp"
#include "fmbem/fmm/choice/corners.hpp"
#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/choice/search.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/plan_impl.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::cuda {
namespace {

Bounds checked_bounds(DevicePoints points, const char* what, cudaStream_t stream) {
  const Bounds bounds = bounds_of(points.data, count(points), stream);
  FMBEM_REQUIRE(bounds.first_bad == count(points),
                what << " " << bounds.first_bad << " is not at a finite position (counted from 0)");
  return bounds;
}

/// Of all points, which must be at finite positions.
Bounds checked_bounds(const PointsToPlan& points, cudaStream_t stream) {
  Bounds bounds = checked_bounds(points.sources, "source", stream);
  if (!points.same()) {
    const Bounds others = checked_bounds(points.targets, "target", stream);
    for (int axis = 0; axis < 3; ++axis) {
      bounds.low[axis] = std::min(bounds.low[axis], others.low[axis]);
      bounds.high[axis] = std::max(bounds.high[axis], others.high[axis]);
    }
  }
  return bounds;
}

/// As fmm::every().
std::vector<Vec3d> every(std::size_t stride, DevicePoints points, cudaStream_t stream) {
  std::vector<Vec3d> some((points.size + stride - 1) / stride);
  FMBEM_CUDA(cudaMemcpy2DAsync(some.data(), sizeof(Vec3d), points.data, stride * sizeof(Vec3d),
                               sizeof(Vec3d), some.size(), cudaMemcpyDeviceToHost, stream));
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return some;
}

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
  fmm::check_theta(options, points.same());
  const Bounds bounds = checked_bounds(points, stream);
  const Hull hull = bounding_cube(bounds.low, bounds.high);
  hull_side = hull.side;
  seen = {};
  nearest =
      options.kappa == 0 ? 0
      : points.same()
          ? fmm::nearest_other(options.kappa, every(fmm::stride_apart(from.size), from, stream),
                               static_cast<std::size_t>(from.size))
          : fmm::nearest_pair(options.kappa, every(fmm::stride_apart(from.size), from, stream),
                              every(fmm::stride_apart(to.size), to, stream));
  const bool root_stays =
      !is_first && options.kappa > 0 && fmm::stays_in(tree.tree.root, scaled(hull, tree.scale));
  points.scale = root_stays ? tree.scale : fmm::scale_for(hull);
  fmm::check_softening(options.softening, bounds.low, bounds.high);
  const DeviceRates rates = device_rates();
  const Hull root = scaled(hull, points.scale);
  const auto some = [&](std::size_t k) { return every(k, from, stream); };
  SortedKeys keys;
  if (is_first) {
    sources = from.size;
    targets = to.size;
    fmm::Cloud cloud = fmm::cloud_of(from.size, some);
    cloud.nearest = nearest;
    on_lattice = cloud.on_lattice;
    seen = {.few_places = cloud.few_places, .on_lattice = cloud.on_lattice};
    int wanted = wanted_order(points.same(), cloud, first_inflation());
    if (wanted > fmm::highest_order) {
      if (options.method == fmm::Method::automatic) options.method = fmm::Method::direct;
      wanted = fmm::highest_order;
    }
    order = fmm::ParityOrder(wanted);
    if (!sums_laplace_directly()) keys = choose(points, root, rates, cloud);
  } else if (nearest > 0 && !acts_on_points() && options.method != fmm::Method::direct) {
    raise_order(wanted_order(points.same(), {}, choice.inflation),
                choice.max_leaf < count(points.more()));
  }
  arithmetic = arithmetic_for(rates, points.same(), hull.side);
  stage_done("choose");
  if (sums_laplace_directly()) {
    sum_directly(points, root, stage_done);
  } else {
    if (is_first)
      third_law = may_take_third_law(options, points.same());
    else
      on_lattice = fmm::is_on_lattice(some(fmm::stride_of_places(from.size, false)));
    Grown grown = grow_tree(
        points, root_stays ? tree.tree.root : fmm::inflated(root, choice.inflation, on_lattice),
        std::move(keys), is_first ? by_histogram() : moves_by_histogram(), stage_done);
    refuse_crowded_boxes(grown);
    if (is_treecode()) raise_order_on(grown.tree.tree.levels(), grown.tree.tree.root, points);
    arithmetic.order = order.p;
    const bool renews = arithmetic == evaluates_in;
    if (!third_law) grown.tree.near.mutual = {};
    tree = std::move(grown.tree);
    one_place = std::move(grown.one_place);
    try {
      if (is_first || !renews || !evaluation->renew(grown.points, kernel(tree.scale)))
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
  const auto restore = [this, arithmetic = arithmetic, order = order, hull_side = hull_side,
                        nearest = nearest, on_lattice = on_lattice] {
    this->arithmetic = arithmetic;
    this->order = order;
    this->hull_side = hull_side;
    this->nearest = nearest;
    this->on_lattice = on_lattice;
  };
  try {
    place(from, to);
  } catch (...) {
    restore();
    throw;
  }
}

void FmmPlan::Impl::make_evaluation_on(PlanPoints points) {
  evaluates_in = arithmetic;
  if (is_treecode())
    evaluation =
        make_treecode_evaluation(tree, std::move(points), order, treecode_options(), stream);
  else
    evaluation = make_evaluation(tree, std::move(points), order,
                                 {.precision = arithmetic.expansions,
                                  .near_precision = arithmetic.near,
                                  .root_terms = arithmetic.root_terms,
                                  .third_law = third_law,
                                  .targets_of_a_warp = targets_of_a_warp(),
                                  .kernel = kernel(tree.scale),
                                  .expansion = is_hybrid() ? fmm::expansion_for(options, order.p)
                                                           : fmm::Expansion::spherical},
                                 stream);
}

Arithmetic FmmPlan::Impl::arithmetic_for(const DeviceRates& rates, bool same, double side) const {
  const bool is_tiny = fmm::leaves_range_of_single(options.kappa, nearest);
  Arithmetic result;
  if (!is_tiny) result.expansions = precision_for(options, rates, same);
  if (!is_tiny && !fmm::needs_double_apart(nearest, options.tolerance))
    result.near = near_precision_for(options, rates, side);
  if (is_treecode() && result.near == Precision::double_precision)
    result.expansions = result.near;  // pairs and expansions have one precision
  // e^{−κr} multiplies by κr the error of a root with one term, some 1e-12.
  const bool needs_roots = options.kappa * nearest * 1e-12 > 0.1 * options.tolerance;
  result.root_terms = options.tolerance >= 1e-10 && !needs_roots ? 1 : 2;
  return result;
}

PlanKernel FmmPlan::Impl::kernel(double scale) const {
  const double reach = fmm::kappa_reach(options.tolerance) + options.kappa * nearest;
  return {fmm::kernel_kappa(options.kappa, scale), fmm::kernel_reach(options.kappa, reach, scale),
          // Points may be far from boxes of the first level, and leaves from each other.
          acts_on_points() ? 1 : 2,
          !acts_on_points() || fmm::has_pairs_of_fmm(options) ? M2lBlocks::all : M2lBlocks::none};
}

/// Without a tree, in Morton order; `root` is the hull of the points times the scale.
void FmmPlan::Impl::sum_directly(const PointsToPlan& points, const Cube& root,
                                 const StageDone& stage_done) {
  tree.scale = points.scale;
  tree.same = points.same();
  PlanPoints placed{points.sources, points.targets, sort(points.sources, tree.scale, root).order};
  if (!tree.same) placed.target_order = sort(points.targets, tree.scale, root).order;
  stage_done("sort");
  const double half = 0.5 * root.side;
  arithmetic.expansions = arithmetic.near;
  choice = {static_cast<int>(std::max(sources, targets)), fmm::inflations[0]};
  evaluation =
      make_direct_evaluation({.scale = tree.scale,
                              .same = tree.same,
                              .centre = root.corner + Vec3d{half, half, half},
                              .precision = arithmetic.expansions,
                              .tolerance = options.tolerance,
                              .softening = fmm::kernel_softening(options.softening, tree.scale)},
                             std::move(placed), stream);
  stage_done("operators");
}

double FmmPlan::Impl::first_inflation() const {
  return options.inflation.value_or(fmm::inflations[0]);
}

/// Chooses the method (choose_method()), root and leaf size where the options do not, and lowers
/// the order where close pairs or surfaces allow it; `hull` is that of the points times the scale.
/// Returns the keys of the sources or of the targets, if these are more, in the root that is tried
/// first, which is most often the one chosen; none where nothing is tried and they are not needed
/// for the tree.
SortedKeys FmmPlan::Impl::choose(const PointsToPlan& points, const Hull& hull,
                                 const DeviceRates& rates, fmm::Cloud cloud) {
  const DevicePoints most = points.more();
  const fmm::Cloud given = cloud;
  const bool weighs_methods = options.method == fmm::Method::automatic,
             may_be_hybrid = weighs_methods && weighs_hybrid(options);
  SortedKeys keys;
  const bool weighs = fmm::weighs_close_pairs(options, points.same()),
             is_free = fmm::weighs_branching(options, points.same());
  if (weighs || is_free || may_be_hybrid || is_hybrid() || !by_histogram() || !options.max_leaf ||
      !options.inflation)
    keys = sort(most, points.scale, fmm::inflated(hull, first_inflation(), on_lattice));
  if (weighs) {
    const fmm::PairCounts pairs =
        count_pairs(most.data, keys.order.data(), count(most), points.scale, stream);
    cloud.gradient_over_far =
        fmm::gradient_over_far(pairs, fmm::kernel_kappa(options.kappa, points.scale));
    order = fmm::ParityOrder(fmm::order_for(options, true, cloud));
  }
  if (options.method == fmm::Method::direct) {  // of Yukawa's kernel: P2P of a tree of one box
    choice = {static_cast<int>(count(most)), first_inflation()};
    return keys;
  }
  if (is_treecode()) {
    choice = {options.max_leaf.value_or(treecode_leaf), first_inflation()};
    return keys;
  }
  const std::int64_t n = count(points.sources), m = count(points.targets);
  const auto tree_of = [&](const std::optional<int>& max_leaf) {
    fmm::PlanOptions how = options;
    if (!is_free) how.order = order.p;
    if (may_be_hybrid) how.order.reset();  // the time of a given tree counts, too
    how.max_leaf = max_leaf;
    return choose_tree(how, order.p, rates,
                       {most.data, keys.order.data(), count(most), points.scale, hull, on_lattice},
                       n, m, {}, stream);
  };
  // A hybrid finds out by itself how far to split.
  choice = tree_of(is_hybrid() ? std::nullopt : options.max_leaf);
  if (is_hybrid()) choice.max_leaf = fmm::hybrid_leaf(options.max_leaf, choice.max_leaf);
  cloud.branching = choice.branching;
  order =
      fmm::ParityOrder(fmm::checked_order(wanted_order(points.same(), cloud, choice.inflation),
                                          choice.max_leaf < count(most), options.kappa, nearest));
  if (!weighs_methods) return keys;
  const WeighedTrees trees{choice,
                           options.max_leaf && may_be_hybrid ? tree_of(std::nullopt) : choice};
  options.method =
      choose_method(options, order.p, rates, trees, n, m, points.same(), given.few_places);
  if (!is_hybrid() && !is_treecode()) return keys;
  // All choices are then those of a plan that was asked for the method.
  order = fmm::ParityOrder(wanted_order(points.same(), given, first_inflation()));
  keys = {};
  return choose(points, hull, rates, given);
}

/// In a root of so many times the hull's side. Where expansions act on points, raise_order_on() is
/// what a gap between sources and targets needs.
int FmmPlan::Impl::wanted_order(bool same, const fmm::Cloud& cloud, double inflation) const {
  return fmm::order_across(options, same, cloud, acts_on_points() ? 0 : nearest,
                           inflation * hull_side);
}

void FmmPlan::Impl::raise_order(int wanted, bool has_far_field) {
  const int checked = fmm::checked_order(wanted, has_far_field, options.kappa, nearest);
  if (checked > order.p) order = fmm::ParityOrder(checked);
}

/// Where expansions act on points, whether there are any is known only when there is a tree: those
/// of its finest boxes, if the kernel reaches so far.
void FmmPlan::Impl::raise_order_on(int levels, const Cube& root, const PointsToPlan& points) {
  const PlanKernel of = kernel(points.scale);
  const int finest = levels - 1;
  if (nearest == 0 || finest < of.top_level || std::ldexp(root.side, -finest) > of.reach) return;
  raise_order(
      fmm::order_across(options, points.same(), seen, nearest, choice.inflation * hull_side), true);
}

int FmmPlan::Impl::targets_of_a_warp() const {
  return cuda::targets_of_a_warp(arithmetic.near == Precision::single_precision, options.gradient,
                                 static_cast<std::int64_t>(targets));
}

fmm::HybridCosts FmmPlan::Impl::hybrid_costs() const {
  return cuda::hybrid_costs(options, order.p, device_rates(), third_law);
}

/// Keeps the third law, where the options leave that to the plan, if it pays with these near lists.
/// A plan that moves goes on as it began.
void FmmPlan::Impl::weigh_third_law(std::int64_t near_pairs, std::int64_t items) {
  if (evaluation || !third_law || options.third_law != fmm::ThirdLaw::automatic) return;
  third_law = third_law_pays(near_pairs, items, static_cast<std::int64_t>(targets), arithmetic.near,
                             choice.branching);
}

double FmmPlan::Impl::theta() const {
  return options.theta.value_or(fmm::default_theta(options.method));
}

TreecodePairs FmmPlan::Impl::treecode_pairs(const PlanTree& of, const std::uint8_t* places) const {
  return count_treecode(of, theta(), kernel(of.scale), places, stream);
}

TreecodeOptions FmmPlan::Impl::treecode_options() const {
  return {.precision = arithmetic.expansions,
          .theta = theta(),
          .expansion = fmm::expansion_for(options, order.p),
          .tolerance = options.tolerance,
          .max_leaf = choice.max_leaf,
          .kernel = kernel(tree.scale),
          .one_place = one_place.data()};
}

}  // namespace fmbem::cuda
