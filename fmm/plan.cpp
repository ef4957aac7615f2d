#include "fmbem/fmm/plan.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/stopwatch.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/choice/choose.hpp"
#include "fmbem/fmm/cpu/backend.hpp"
#include "fmbem/fmm/plan_impl.hpp"
#include "fmbem/fmm/plan_info.hpp"

namespace fmbem::fmm {

void check_options(const PlanOptions& o, Processor processor) {
  FMBEM_REQUIRE(processor == Processor::cpu || !o.hessian,
                "second derivatives are computed on the CPU alone: make the plan there, or set "
                "PlanOptions::hessian to false");
  const bool single = o.precision && *o.precision == Precision::single_precision;
  const double least = single ? 1e-6 : 1e-14;
  FMBEM_REQUIRE(o.tolerance >= least && o.tolerance <= 0.1,
                "the tolerance must be between "
                    << least << " and 0.1" << (single ? " in single precision" : "") << ", not "
                    << o.tolerance << (single ? ": use double precision or a looser one" : ""));
  check_kappa(o.kappa);
  FMBEM_REQUIRE(o.kappa == 0 || processor == Processor::cpu,
                "Yukawa's kernel is for plans on the CPU: make the plan there, or set "
                "PlanOptions::kappa to 0");
  if (o.order) check_order(*o.order);
  check_tree_options(o.max_leaf, o.inflation);
  require_one_rank(*o.ranks, "a plan");
}

namespace {

Cube hull_of(std::span<const Vec3d> sources, std::span<const Vec3d> targets) {
  if (are_same(sources, targets)) return bounding_cube(sources);
  const auto n = static_cast<std::int64_t>(sources.size()),
             all = n + static_cast<std::int64_t>(targets.size());
  const CoordinateBounds bounds =
      coordinate_bounds(all, [&](std::int64_t k) { return k < n ? sources[k] : targets[k - n]; });
  return bounding_cube(bounds.low, bounds.high);
}

/// A plan on the CPU.
class CpuPlan final : public PlanImpl {
 public:
  CpuPlan(std::span<const Vec3d> sources, std::span<const Vec3d> targets, bool same,
          const PlanOptions& asked) {
    options = asked;
    check_options(options, Processor::cpu);
    check_points(sources, "source");
    if (!same) check_points(targets, "target");
    Stopwatch watch(plan_seconds);
    const Cube hull = hull_of(sources, targets);
    tree_.sources_are_targets = same;
    tree_.scale = scale_for(hull);
    const Cube scaled{tree_.scale * hull.corner, tree_.scale * hull.side};
    accuracy_ = accuracy_for(options, same);
    const TreeChoice choice =
        choose_tree(options, accuracy_.order, sources, targets, tree_.scale, scaled);
    tree_.max_leaf = choice.max_leaf;
    tree_.inflation = choice.inflation;
    watch.add("choose");

    const Cube root = inflated(scaled, choice.inflation);
    tree_.sources = sort_points(sources, tree_.scale, root);
    if (!same) tree_.other_targets = sort_points(targets, tree_.scale, root);
    watch.add("sort");
    tree_.octree = build_octree(root, tree_.sources, tree_.targets(), choice.max_leaf);
    watch.add("tree");
    tree_.make_lists();
    watch.add("lists");
    check_memory(tree_, accuracy_, Moments::afresh);
    backend_ = make_cpu_backend(tree_, accuracy_);
    watch.add("operators");
  }

  std::size_t sources() const override { return tree_.sources.size(); }
  std::size_t targets() const override { return tree_.targets().size(); }
  PlanInfo info() const override {
    return plan_info(tree_, accuracy_, 0, backend_->operator_bytes());
  }
  void evaluate(const Strengths& strengths, const Fields& fields) override {
    backend_->evaluate(strengths, fields, Direction::forward, evaluate_seconds);
  }

 private:
  PointTree tree_;
  Accuracy accuracy_;
  std::unique_ptr<Backend> backend_;
};

}  // namespace

Plan::Plan(std::span<const Vec3d> points, const PlanOptions& options)
    : impl_(std::make_unique<CpuPlan>(points, points, true, options)) {}
Plan::Plan(std::span<const Vec3d> sources, std::span<const Vec3d> targets,
           const PlanOptions& options)
    : impl_(std::make_unique<CpuPlan>(sources, targets, are_same(sources, targets), options)) {}
Plan::Plan(std::unique_ptr<PlanImpl> made) : impl_(std::move(made)) {}
Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

std::size_t Plan::sources() const { return impl_->sources(); }
std::size_t Plan::targets() const { return impl_->targets(); }
PlanInfo Plan::info() const { return impl_->info(); }

void Plan::evaluate(const Strengths& strengths, const Fields& fields) const {
  check_evaluation(sources(), targets(), strengths, fields);
  FMBEM_REQUIRE(strengths.dipoles.empty() || impl_->options.dipoles,
                "the plan was not made for dipoles: set PlanOptions::dipoles");
  FMBEM_REQUIRE(fields.gradient.empty() || impl_->options.gradient,
                "the plan was not made for gradients: set PlanOptions::gradient");
  FMBEM_REQUIRE(fields.hessian.empty() || impl_->options.hessian,
                "the plan was not made for second derivatives: set PlanOptions::hessian");
  const std::lock_guard<std::mutex> one_at_a_time(impl_->evaluating);
  impl_->evaluate_seconds.clear();
  std::fill(fields.potential.begin(), fields.potential.end(), 0.0);
  std::fill(fields.gradient.begin(), fields.gradient.end(), Vec3d{});
  std::fill(fields.hessian.begin(), fields.hessian.end(), Symmetric3d{});
  if (strengths.charges.empty() && strengths.dipoles.empty()) return;
  if (fields.potential.empty() && fields.gradient.empty() && fields.hessian.empty()) return;
  impl_->evaluate(strengths, fields);
}

Seconds Plan::evaluate_seconds() const {
  const std::lock_guard<std::mutex> one_at_a_time(impl_->evaluating);
  return impl_->evaluate_seconds;
}
Seconds Plan::plan_seconds() const { return impl_->plan_seconds; }

}  // namespace fmbem::fmm
