#include "fmbem/fmm/plan.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/choice/apart.hpp"
#include "fmbem/fmm/choice/choose.hpp"
#include "fmbem/fmm/choice/choose_method.hpp"
#include "fmbem/fmm/choice/close_pairs.hpp"
#include "fmbem/fmm/choice/corners.hpp"
#include "fmbem/fmm/choice/cost.hpp"
#include "fmbem/fmm/cpu/backend.hpp"
#include "fmbem/fmm/cpu/operators.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/lists/treecode_walk.hpp"
#include "fmbem/fmm/plan_impl.hpp"
#include "fmbem/fmm/plan_info.hpp"
#include "fmbem/fmm/tree/histogram.hpp"
#include "fmbem/fmm/tree/merge_leaves.hpp"

namespace fmbem::fmm {

void check_options(const PlanOptions& o, Processor processor) {
  const bool single = o.precision && *o.precision == Precision::single_precision;
  const double least = single ? 1e-6 : 1e-14;
  FMBEM_REQUIRE(o.tolerance >= least && o.tolerance <= 0.1,
                "the tolerance must be between "
                    << least << " and 0.1" << (single ? " in single precision" : "") << ", not "
                    << o.tolerance << (single ? ": use double precision or a looser one" : ""));
  check_kappa(o.kappa);
  check_method(o, processor);
  if (o.order) check_order(*o.order);
  check_tree_options(o.max_leaf, o.inflation);
  require_one_rank(*o.ranks, "a plan");
}

void check_move(const PlanSize& plan, const PlanSize& places) {
  FMBEM_REQUIRE(plan.same == places.same,
                (places.same ? "the plan has sources and targets: move(sources, targets) moves "
                               "them, which are two arrays"
                             : "the plan's sources are its targets: move(points) moves them"));
  const auto check_count = [](std::size_t now, std::size_t before, const char* what) {
    FMBEM_REQUIRE(now == before, "a plan of " << before << ' ' << what << "s cannot move to " << now
                                              << " places: make a new plan");
  };
  check_count(places.sources, plan.sources, "source");
  check_count(places.targets, plan.targets, "target");
}

bool stays_in(const Cube& root, const Cube& hull) {
  const Vec3d low = hull.corner - root.corner;
  bool inside = 2 * hull.side >= root.side;
  for (int axis = 0; axis < 3; ++axis)
    inside = inside && low[axis] >= 0 && low[axis] + hull.side <= root.side;
  return inside;
}

namespace {

CoordinateBounds bounds_of(std::span<const Vec3d> points) {
  return coordinate_bounds(static_cast<std::int64_t>(points.size()),
                           [&](std::int64_t k) { return points[k]; });
}

LargeVector<Vec3d> in_order(std::span<const Vec3d> points, std::span<const std::int32_t> order) {
  LargeVector<Vec3d> result(points.size());
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < points.size(); ++k) result[k] = points[order[k]];
  return result;
}

/// A plan on the CPU.
class CpuPlan final : public PlanImpl {
 public:
  CpuPlan(std::span<const Vec3d> sources, std::span<const Vec3d> targets, bool same,
          const PlanOptions& asked) {
    options = asked;
    check_options(options, Processor::cpu);
    check_theta(options, same);
    place(sources, targets, same);
  }

  std::size_t sources() const override { return tree().sources.size(); }
  std::size_t targets() const override { return tree().targets().size(); }
  PlanInfo info() const override {
    PlanInfo info = plan_info(tree(), placed_->accuracy, 0, placed_->backend->operator_bytes());
    info.method = options.method;
    info.expansion = accuracy_.expansion;
    if (options.method == Method::treecode) {
      const TreecodeWork work =
          treecode_work(tree().octree, tree().lists.p2p.targets, accuracy_.theta,
                        kernel_reach(accuracy_.kappa, placed_->accuracy.reach, tree().scale));
      info.near_pairs = static_cast<std::int64_t>(work.p2p_pairs);
      info.m2p_pairs = static_cast<std::int64_t>(work.m2p_pairs);
      info.m2l_rows = 0;
    }
    if (options.method == Method::hybrid) count_hybrid(tree(), info);
    return info;
  }
  void evaluate(const Strengths& strengths, const Fields& fields) override {
    placed_->backend->evaluate(strengths, fields, Direction::forward, evaluate_seconds);
  }
  void move(std::span<const Vec3d> sources, std::span<const Vec3d> targets, bool same) override {
    check_move({this->sources(), this->targets(), tree().sources_are_targets},
               {sources.size(), targets.size(), same});
    place(sources, targets, same);
  }

 private:
  /// What depends on where the points are.
  struct Placed {
    PointTree tree;
    Accuracy accuracy{};
    std::unique_ptr<Backend> backend{};
  };

  /// What is known of the points before there is a tree.
  struct Known {
    Hull hull;
    double scale;  ///< of the tree
    Cloud cloud;   ///< without its branching
  };

  const PointTree& tree() const { return placed_->tree; }

  /// Puts the points where they are now. Order and precision are known; the options get the leaf
  /// size and the inflation when these are chosen, the first time.
  void place(std::span<const Vec3d> sources, std::span<const Vec3d> targets, bool same) {
    Seconds seconds;
    Stopwatch watch(seconds);
    check_points(sources, "source");
    if (!same) check_points(targets, "target");
    auto placed = std::make_unique<Placed>();
    PointTree& tree = placed->tree;
    tree.sources_are_targets = same;
    const CoordinateBounds of_sources = bounds_of(sources),
                           of_targets = same ? of_sources : bounds_of(targets);
    CoordinateBounds bounds = of_sources;
    bounds.add(of_targets);
    const Hull hull = bounding_cube(bounds.low, bounds.high);
    const double nearest =
        options.kappa == 0 ? 0
        : same ? nearest_other(options.kappa, every(stride_apart(sources.size()), sources),
                               sources.size())
               : nearest_pair(options.kappa, every(stride_apart(sources.size()), sources),
                              every(stride_apart(targets.size()), targets));
    const bool root_stays = stays_in_root(hull);
    tree.scale = root_stays ? this->tree().scale : scale_for(hull);
    const Hull scaled = fmbem::scaled(hull, tree.scale);
    check_softening(options.softening, bounds.low, bounds.high);
    watch.add("choose");
    const bool counts = options.construction == Construction::histogram;
    const auto sort_anew = [&](std::span<const Vec3d> points, const Cube& root) {
      return counts ? sort_by_histogram(points, tree.scale, root)
                    : sort_points(points, tree.scale, root);
    };
    SortedPoints first;  // in the root that is most often chosen
    Cloud cloud;
    const auto some = [&](std::size_t k) { return every(k, sources); };
    if (!placed_) cloud = cloud_of(sources.size(), some);
    cloud.nearest = nearest;
    const bool on_lattice =
        placed_ ? is_on_lattice(some(stride_of_places(sources.size(), false))) : cloud.on_lattice;
    if (!placed_ && weighs_close_pairs(options, same)) {
      first = sort_anew(sources, inflated(scaled, first_inflation(), on_lattice));
      watch.add("sort");
      cloud.gradient_over_far =
          gradient_over_far(count_pairs(first), kernel_kappa(options.kappa, tree.scale));
    }
    const TreeChoice choice = placed_ ? TreeChoice{*options.max_leaf, *options.inflation}
                                      : choose(sources, targets, same, {hull, tree.scale, cloud});
    tree.max_leaf = choice.max_leaf;
    tree.inflation = choice.inflation;
    watch.add("choose");

    const Cube root =
        root_stays ? this->tree().octree.root : inflated(scaled, choice.inflation, on_lattice);
    const auto sort = [&](std::span<const Vec3d> points, SortedPoints PointTree::*which) {
      if (!placed_ || counts) return sort_anew(points, root);
      const auto& order = (this->tree().*which).order;
      return sort_points(in_order(points, order), tree.scale, root, {}, order);
    };
    tree.sources = first.size() > 0 && choice.inflation == first_inflation()
                       ? std::move(first)
                       : sort(sources, &PointTree::sources);
    if (!same) tree.other_targets = sort(targets, &PointTree::other_targets);
    watch.add("sort");
    tree.octree = build_octree(root, tree.sources, tree.targets(), choice.max_leaf);
    for (SortedPoints* points : {&tree.sources, &tree.other_targets}) points->bookmarks = {};
    if (options.method == Method::fmm) merge_leaves(tree.octree, choice.max_leaf);
    watch.add("tree");
    Accuracy& accuracy = placed->accuracy = accuracy_at(accuracy_, hull, nearest);
    const double reach = kernel_reach(accuracy.kappa, accuracy.reach, tree.scale);
    const int levels = tree.octree.levels();
    const bool expands =
        levels > first_far_level(options.method) && has_expansions(tree.octree, levels - 1, reach);
    if (nearest > 0 && expands && options.method != Method::direct) {
      const int wanted = order_across(options, same, known_for_order(cloud), nearest,
                                      choice.inflation * hull.side);
      accuracy.order =
          std::max(accuracy.order, checked_order(wanted, true, options.kappa, nearest));
    }
    if (options.method == Method::hybrid)
      make_hybrid_lists(tree, accuracy.theta,
                        CostModel(options, same, accuracy.order, 1).hybrid_costs(), any_reach,
                        reach);
    else
      tree.make_lists(reach);
    watch.add("lists");
    check_memory(tree, placed->accuracy, Moments::afresh);
    placed->backend = make_cpu_backend(tree, placed->accuracy);  // finds operators that are in use
    watch.add("operators");
    options.max_leaf = choice.max_leaf;
    options.inflation = choice.inflation;
    accuracy_.order = accuracy.order;
    placed_ = std::move(placed);
    plan_seconds = std::move(seconds);
  }

  /// Of a cloud, what orders across gaps take.
  static Cloud known_for_order(const Cloud& cloud) {
    return {.few_places = cloud.few_places, .on_lattice = cloud.on_lattice};
  }

  double first_inflation() const { return options.inflation.value_or(inflations[0]); }

  /// Chooses, the first time, method, accuracy, leaf size and inflation.
  TreeChoice choose(std::span<const Vec3d> sources, std::span<const Vec3d> targets, bool same,
                    const Known& known) {
    const double nearest = known.cloud.nearest;
    const bool is_special = (nearest > 0 || known.cloud.few_places) && !options.order &&
                            options.method != Method::direct;
    PlanOptions how = options;
    if (is_special) {
      const int wanted = order_across(options, same, known_for_order(known.cloud), nearest,
                                      first_inflation() * known.hull.side);
      how.order = std::min(wanted, highest_order);
      if (options.method == Method::automatic && wanted > highest_order)
        how.method = Method::direct;
    }
    const auto [method, choice] = choose_method(how, sources, targets, known.scale,
                                                scaled(known.hull, known.scale), known.cloud);
    const bool is_fmm = method == Method::fmm;
    options.method = how.method = method;
    if (is_special && (is_fmm || (nearest > 0 && method != Method::direct)))
      how.order = order_for(options, same, known_for_order(known.cloud));  // place() raises it
    Cloud cloud = has_pairs_of_fmm(how) ? known.cloud : Cloud{};
    cloud.branching = choice.branching;
    accuracy_ = accuracy_for(how, same, cloud);
    return choice;
  }

  /// Whether the root is to be kept, as Yukawa's operators belong to the sides of boxes.
  bool stays_in_root(const Hull& hull) const {
    if (!placed_ || accuracy_.kappa == 0) return false;
    return stays_in(tree().octree.root, scaled(hull, tree().scale));
  }

  Accuracy accuracy_;
  std::unique_ptr<Placed> placed_;
};

}  // namespace

Plan::Plan(std::span<const Vec3d> points, const PlanOptions& options)
    : impl_(std::make_unique<CpuPlan>(points, points, true, options)) {}
Plan::Plan(std::span<const Vec3d> sources, std::span<const Vec3d> targets,
           const PlanOptions& options)
    : impl_(std::make_unique<CpuPlan>(sources, targets, are_same(sources, targets), options)) {}
Plan::Plan(std::span<const Vec3d> points, std::initializer_list<NoOptions>) : Plan(points) {}
Plan::Plan(std::unique_ptr<PlanImpl> made) : impl_(std::move(made)) {}
Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

void set_to_zero(const Fields& fields) {
  std::fill(fields.potential.begin(), fields.potential.end(), 0.0);
  std::fill(fields.gradient.begin(), fields.gradient.end(), Vec3d{});
  std::fill(fields.hessian.begin(), fields.hessian.end(), Symmetric3d{});
}

std::size_t Plan::sources() const { return impl_->sources(); }
std::size_t Plan::targets() const { return impl_->targets(); }
PlanInfo Plan::info() const {
  const std::lock_guard<std::mutex> one_at_a_time(impl_->evaluating);
  return impl_->info();
}

/// Calls evaluate() for arguments that are checked, if there is anything to do.
template <class Evaluate>
void Plan::evaluate_checked(const Strengths& strengths, const Fields& fields,
                            Evaluate&& evaluate) const {
  check_evaluation(sources(), targets(), strengths, fields);
  FMBEM_REQUIRE(strengths.dipoles.empty() || impl_->options.dipoles,
                "the plan was not made for dipoles: set PlanOptions::dipoles");
  FMBEM_REQUIRE(fields.gradient.empty() || impl_->options.gradient,
                "the plan was not made for gradients: set PlanOptions::gradient");
  FMBEM_REQUIRE(fields.hessian.empty() || impl_->options.hessian,
                "the plan was not made for second derivatives: set PlanOptions::hessian");
  const std::lock_guard<std::mutex> one_at_a_time(impl_->evaluating);
  impl_->evaluate_seconds.clear();
  set_to_zero(fields);
  if (strengths.charges.empty() && strengths.dipoles.empty()) return;
  if (fields.potential.empty() && fields.gradient.empty() && fields.hessian.empty()) return;
  evaluate();
}

void Plan::evaluate(const Strengths& strengths, const Fields& fields) const {
  evaluate_checked(strengths, fields, [&] { impl_->evaluate(strengths, fields); });
}
void Plan::evaluate_stages(const Strengths& strengths, const Fields& fields) const {
  evaluate_checked(strengths, fields, [&] { impl_->evaluate_stages(strengths, fields); });
}

void Plan::move(std::span<const Vec3d> points) { impl_->move(points, points, true); }
void Plan::move(std::span<const Vec3d> sources, std::span<const Vec3d> targets) {
  impl_->move(sources, targets, are_same(sources, targets));
}

Seconds Plan::evaluate_seconds() const {
  const std::lock_guard<std::mutex> one_at_a_time(impl_->evaluating);
  return impl_->evaluate_seconds;
}
Seconds Plan::plan_seconds() const { return impl_->plan_seconds; }

}  // namespace fmbem::fmm
