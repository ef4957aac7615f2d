#include <algorithm>

#include "fmbem/cuda/choose.cuh"
#include "fmbem/cuda/device.hpp"
#include "fmbem/cuda/direct.cuh"
#include "fmbem/cuda/evaluation.cuh"
#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/cuda/histogram_tree.cuh"
#include "fmbem/cuda/treecode.cuh"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/choice/search.hpp"
#include "fmbem/fmm/plan_impl.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::cuda {
namespace {

/// Leaf size of a treecode: the warps of 64 targets are full with fewer boxes.
constexpr int treecode_leaf = 64;

std::int64_t count(DevicePoints points) { return static_cast<std::int64_t>(points.size); }

Bounds checked_bounds(DevicePoints points, const char* what, cudaStream_t stream) {
  const Bounds bounds = bounds_of(points.data, count(points), stream);
  FMBEM_REQUIRE(bounds.first_bad == count(points),
                what << " " << bounds.first_bad << " is not at a finite position (counted from 0)");
  return bounds;
}

/// The smallest cube about all points, which must be at finite positions.
Cube hull_of(DevicePoints sources, DevicePoints targets, bool same, cudaStream_t stream) {
  Bounds bounds = checked_bounds(sources, "source", stream);
  if (!same) {
    const Bounds others = checked_bounds(targets, "target", stream);
    for (int axis = 0; axis < 3; ++axis) {
      bounds.low[axis] = std::min(bounds.low[axis], others.low[axis]);
      bounds.high[axis] = std::max(bounds.high[axis], others.high[axis]);
    }
  }
  return bounding_cube(bounds.low, bounds.high);
}

}  // namespace

struct FmmPlan::Impl {
  fmm::PlanOptions options;
  DevicePoints sources, targets;  ///< their data are not looked at after construction
  fmm::ParityOrder order;
  Precision precision = Precision::double_precision, near_precision = Precision::double_precision;
  fmm::TreeChoice choice;
  bool third_law = false;  ///< whether the near field is summed by it
  fmm::Seconds plan_seconds;
  Stream stream{true};
  PlanTree tree;
  DeviceBuffer<std::uint8_t> one_place;  ///< as of make_near_lists()
  std::unique_ptr<Evaluation> evaluation;

  Impl(DevicePoints from, DevicePoints to, const fmm::PlanOptions& asked)
      : options(asked), sources(from), targets(to), order(0) {
    keep_freed_memory();
    fmm::check_options(options);
    fmm::check_point_count(sources.size, "source");
    fmm::check_point_count(targets.size, "target");
    fmm::Stopwatch watch(plan_seconds);
    const auto stage_done = [&](const char* stage) {
      stream.wait();
      watch.add(stage);
    };
    tree.same = sources.data == targets.data && sources.size == targets.size;
    const Cube hull = hull_of(sources, targets, tree.same, stream);
    tree.scale = fmm::scale_for(hull);
    const DeviceRates rates = device_rates();
    order = fmm::ParityOrder(fmm::order_for(options, tree.same));
    precision = precision_for(options, rates);
    near_precision = near_precision_for(options, rates, hull.side);
    fmm::check_softening(options.softening, hull.side);
    const Cube scaled{tree.scale * hull.corner, tree.scale * hull.side};
    SortedKeys keys;
    if (!sums_laplace_directly()) {
      keys = choose(scaled, rates);
      stage_done("choose");
    }
    if (sums_laplace_directly()) {
      sum_directly(scaled, stage_done);
      return;
    }
    third_law = takes_third_law(options, choice.max_leaf, count(targets), tree.same);
    PlanPoints points = grow_tree(scaled, std::move(keys), stage_done);
    if (options.method == fmm::Method::treecode)
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
    stage_done("operators");
  }

  /// In the tree's unit.
  PlanKernel kernel() const {
    const double kappa = options.kappa / tree.scale;
    return {kappa, kappa > 0 ? fmm::kappa_reach(options.tolerance) / kappa : 0};
  }

  /// Without a tree, in Morton order; `root` is the hull of the points times the scale.
  void sum_directly(const Cube& root, auto&& stage_done) {
    PlanPoints points{sources, targets, sort(sources, root).order};
    if (!tree.same) points.target_order = sort(targets, root).order;
    stage_done("sort");
    const double half = 0.5 * root.side;
    precision = near_precision;
    choice = {static_cast<int>(std::max(sources.size, targets.size)), fmm::inflations[0]};
    evaluation = make_direct_evaluation({.scale = tree.scale,
                                         .same = tree.same,
                                         .centre = root.corner + Vec3d{half, half, half},
                                         .precision = precision,
                                         .tolerance = options.tolerance,
                                         .softening = tree.scale * options.softening},
                                        std::move(points), stream);
    stage_done("operators");
  }

  bool by_targets() const { return targets.size > sources.size; }
  bool by_histogram() const { return options.construction == fmm::Construction::histogram; }
  double first_inflation() const { return options.inflation.value_or(fmm::inflations[0]); }

  /// Chooses the method, root and leaf size where the options do not; `hull` is that of the points
  /// times the scale. Returns the keys of the sources or of the targets, if these are more, in the
  /// root that is tried first, which is most often the one chosen; none where nothing is tried and
  /// they are not needed for the tree.
  SortedKeys choose(const Cube& hull, const DeviceRates& rates) {
    const DevicePoints most = by_targets() ? targets : sources;
    SortedKeys keys;
    if (!by_histogram() || !options.max_leaf || !options.inflation)
      keys = sort(most, fmm::inflated(hull, first_inflation()));
    if (options.method == fmm::Method::direct) {  // of Yukawa's kernel: P2P of a tree of one box
      choice = {static_cast<int>(count(most)), first_inflation()};
      return keys;
    }
    if (is_treecode()) {
      choice = {options.max_leaf.value_or(treecode_leaf), first_inflation()};
      return keys;
    }
    choice = choose_tree(options, order.p, rates,
                         {most.data, keys.order.data(), count(most), tree.scale, hull},
                         count(sources), count(targets), {}, stream);
    if (options.method == fmm::Method::automatic) {
      // A treecode has never been the fastest here (docs/papers.md).
      const bool is_one_leaf = choice.max_leaf >= count(most);
      const double direct = direct_seconds(options, rates, count(sources), count(targets)),
                   least = least_fmm_seconds(order.p, rates);
      const bool is_direct = options.kappa == 0 && !options.max_leaf &&
                             (is_one_leaf || direct < std::max(choice.seconds, least));
      options.method = is_direct ? fmm::Method::direct : fmm::Method::fmm;
    }
    return keys;
  }

  /// Sorts the points, of some of which the keys are there, and makes tree and lists; `hull` is
  /// that of the points times the scale.
  PlanPoints grow_tree(const Cube& hull, SortedKeys keys, auto&& stage_done) {
    const Cube root = fmm::inflated(hull, choice.inflation);
    SortedKeys source_keys, target_keys;
    std::optional<HistogramTree> counted;
    if (by_histogram()) {
      const PointsToCount to{targets.data, count(targets)};
      counted = build_tree_by_histogram(root, tree.scale, {sources.data, count(sources)},
                                        tree.same ? nullptr : &to, choice.max_leaf, stream);
    }
    if (counted) {
      source_keys = std::move(counted->sources);
      target_keys = std::move(counted->targets);
      tree.tree = std::move(counted->tree);
    } else {
      if (keys.size() == 0 || choice.inflation != first_inflation())
        keys = sort(by_targets() ? targets : sources, root);
      (by_targets() ? target_keys : source_keys) = std::move(keys);
      if (by_targets())
        source_keys = sort(sources, root);
      else if (!tree.same)
        target_keys = sort(targets, root);
      stage_done("sort");
      const SortedKeys* const other = tree.same ? nullptr : &target_keys;
      tree.tree = build_tree(root, source_keys, other, choice.max_leaf, stream);
    }
    PlanPoints points{sources, targets, std::move(source_keys.order), std::move(target_keys.order)};
    one_place = one_places(points);
    // A treecode has trees of keys of 64 bits alone.
    if (!is_treecode() && has_crowded_boxes(tree.tree, one_place, choice.max_leaf, stream)) {
      grow_deep_tree(root, points);
      one_place = one_places(points);
    }
    stage_done("tree");
    tree.far = make_far_lists(tree.tree, stream, !is_treecode());
    if (!is_treecode())
      tree.near = make_near_lists(tree.tree, tree.far.target_leaves, one_place, targets_of_a_warp(),
                                  stream);
    stage_done("lists");
    refuse_crowded_boxes();
    return points;
  }

  DeviceBuffer<std::uint8_t> one_places(const PlanPoints& points) const {
    const PlacesInOrder from{sources.data, points.source_order.data()},
        to{targets.data, points.target_order.data()};
    return find_one_places(tree.tree, from, tree.same ? from : to, stream);
  }

  /// The tree anew, with twice as many levels to go down to, and the points in its order.
  void grow_deep_tree(const Cube& root, PlanPoints& points) {
    const auto deep = [&](DevicePoints some) {
      return sort_points_deep(some.data, count(some), tree.scale, root, stream);
    };
    DeepKeys from = deep(sources), to;
    if (!tree.same) to = deep(targets);
    tree.tree = build_tree(root, from, tree.same ? nullptr : &to, choice.max_leaf, stream);
    points.source_order = std::move(from.order);
    points.target_order = std::move(to.order);
  }

  int targets_of_a_warp() const {
    return cuda::targets_of_a_warp(near_precision == Precision::single_precision, options.gradient,
                                   count(targets));
  }

  /// Trees end at the deepest level that keys can tell. What is left there in one box is summed
  /// directly, which would be too much where most points are.
  void refuse_crowded_boxes() const {
    constexpr double most_pairs = 1e5;  // of a target: 1e12 pairs of 1e7 points take some 0.4 s
    if (tree.tree.levels() <= tree.tree.deepest()) return;
    const double pairs = static_cast<double>(near_pairs()) / static_cast<double>(count(targets));
    FMBEM_REQUIRE(pairs <= most_pairs,
                  "the points crowd in less than "
                      << (is_treecode() ? "5e-7" : "3e-13") << " of their extent, where trees "
                      << (is_treecode() ? "of treecodes on the GPU " : "")
                      << "end, so that each would be summed with "
                      << static_cast<std::int64_t>(pairs) << " others directly: "
                      << (is_treecode() ? "take the method fmm" : "make the plan on the CPU"));
  }

  bool sums_laplace_directly() const {
    return options.method == fmm::Method::direct && options.kappa == 0;
  }
  bool is_treecode() const { return options.method == fmm::Method::treecode; }
  std::int64_t near_pairs() const { return is_treecode() ? treecode_pairs().p2p : tree.near.pairs; }
  TreecodePairs treecode_pairs() const {
    return count_treecode(tree, theta(), one_place.data(), stream);
  }
  double theta() const { return options.theta.value_or(fmm::default_theta(options.method)); }
  /// Expansions and pairs have one precision.
  TreecodeOptions treecode_options() {
    if (near_precision == Precision::double_precision) precision = near_precision;
    return {.precision = precision,
            .theta = theta(),
            .expansion = fmm::expansion_for(options, order.p),
            .tolerance = options.tolerance,
            .max_leaf = choice.max_leaf,
            .one_place = one_place.data()};
  }

  SortedKeys sort(DevicePoints points, const Cube& root) const {
    return sort_points(points.data, count(points), tree.scale, root, nullptr, stream);
  }

  /// Operators that other plans share must not be freed in the order of this plan's stream.
  ~Impl() { cudaStreamSynchronize(stream); }

  void check(const DeviceStrengths& strengths, const DeviceFields& fields) const {
    FMBEM_REQUIRE(strengths.count >= 1,
                  "there must be at least one right-hand side, not " << strengths.count);
    FMBEM_REQUIRE(!strengths.dipoles || options.dipoles,
                  "the plan was not made for dipoles: set PlanOptions::dipoles");
    FMBEM_REQUIRE(!fields.gradient || options.gradient,
                  "the plan was not made for gradients: set PlanOptions::gradient");
    FMBEM_REQUIRE(strengths.charges || strengths.dipoles, "there are no strengths to evaluate");
    FMBEM_REQUIRE(fields.potential || fields.gradient, "there are no results to write");
  }

  /// A direct sum has one box.
  fmm::PlanInfo direct_info() const {
    return {.order = order.p,
            .precision = precision,
            .levels = 1,
            .max_leaf = choice.max_leaf,
            .inflation = choice.inflation,
            .boxes = 1,
            .leaves = 1,
            .near_pairs = count(sources) * count(targets),
            .m2l_rows = 0,
            .memory_bytes = bytes(),
            .operator_bytes = 0,
            .method = fmm::Method::direct};
  }

  std::int64_t bytes() const { return tree.bytes() + evaluation->bytes(); }
};

FmmPlan::FmmPlan(DevicePoints sources, DevicePoints targets, const fmm::PlanOptions& options) {
  require_cuda_device();
  impl_ = std::make_unique<Impl>(sources, targets, options);
}
FmmPlan::~FmmPlan() = default;
FmmPlan::FmmPlan(FmmPlan&&) noexcept = default;
FmmPlan& FmmPlan::operator=(FmmPlan&&) noexcept = default;

std::size_t FmmPlan::sources() const { return impl_->sources.size; }
std::size_t FmmPlan::targets() const { return impl_->targets.size; }
CUstream_st* FmmPlan::stream() const { return impl_->stream; }
void FmmPlan::wait() const { impl_->stream.wait(); }

void FmmPlan::evaluate(const DeviceStrengths& strengths, const DeviceFields& fields) {
  impl_->check(strengths, fields);
  impl_->evaluation->evaluate(strengths, fields);
}

fmm::Seconds FmmPlan::evaluate_stages(const DeviceStrengths& strengths,
                                      const DeviceFields& fields) {
  impl_->check(strengths, fields);
  return impl_->evaluation->evaluate_stages(strengths, fields);
}

fmm::PlanInfo FmmPlan::info() const {
  const Impl& plan = *impl_;
  if (plan.options.method == fmm::Method::direct) return plan.direct_info();
  const DeviceTree& tree = plan.tree.tree;
  fmm::PlanInfo info{
      plan.order.p,
      plan.precision,
      tree.levels(),
      plan.choice.max_leaf,
      plan.choice.inflation,
      tree.boxes,
      tree.boxes - tree.splits,
      plan.tree.near.pairs,
      static_cast<std::int64_t>(plan.tree.far.m2l.parents.size()) * (fmm::orbits - 1),
      plan.bytes(),
      plan.evaluation->operator_bytes()};
  info.third_law = plan.third_law && !plan.is_treecode();
  if (plan.is_treecode()) {
    const TreecodePairs pairs = plan.treecode_pairs();
    info.method = fmm::Method::treecode;
    info.near_pairs = pairs.p2p;
    info.m2p_pairs = pairs.m2p;
    info.expansion = fmm::expansion_for(plan.options, plan.order.p);
  }
  return info;
}

fmm::Seconds FmmPlan::plan_seconds() const { return impl_->plan_seconds; }

std::int64_t FmmPlan::device_bytes() const {
  return impl_->bytes() + impl_->evaluation->operator_bytes();
}

}  // namespace fmbem::cuda
