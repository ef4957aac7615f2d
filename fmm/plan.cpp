#include "fmbem/fmm/plan.hpp"

#include <algorithm>
#include <cmath>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/check.hpp"
#include "fmbem/fmm/choose.hpp"
#include "fmbem/fmm/cost.hpp"
#include "fmbem/fmm/cpu/backend.hpp"
#include "fmbem/fmm/plan_data.hpp"
#include "fmbem/fmm/stopwatch.hpp"

namespace fmbem::fmm {
namespace {

void check_options(const PlanOptions& o) {
  const bool single = o.precision && *o.precision == Precision::single_precision;
  const double least = single ? 1e-6 : 1e-14;
  FMBEM_REQUIRE(o.tolerance >= least && o.tolerance <= 0.1,
                "the tolerance must be between "
                    << least << " and 0.1" << (single ? " in single precision" : "") << ", not "
                    << o.tolerance << (single ? ": use double precision or a looser one" : ""));
  if (o.order) check_order(*o.order);
  check_tree_options(o.max_leaf, o.inflation);
}

Cube hull_of(std::span<const Vec3d> sources, std::span<const Vec3d> targets) {
  const Cube s = bounding_cube(sources);
  if (are_same(sources, targets)) return s;
  const Cube t = bounding_cube(targets);
  const Vec3d s_side{s.side, s.side, s.side}, t_side{t.side, t.side, t.side};
  const std::array<Vec3d, 4> corners{s.corner, s.corner + s_side, t.corner, t.corner + t_side};
  return bounding_cube(corners);
}

}  // namespace

struct Plan::Impl {
  PlanOptions options;
  Choice choice;
  PlanData data;
  std::unique_ptr<Backend> backend;
  Seconds plan_seconds;
  Seconds evaluate_seconds;

  Impl(std::span<const Vec3d> sources, std::span<const Vec3d> targets, bool same,
       const PlanOptions& asked)
      : options(asked),
        choice{},
        data{.unit = 1, .sources_are_targets = same, .order = ParityOrder(0)} {
    check_options(options);
    check_points(sources, "source");
    if (!same) check_points(targets, "target");
    Stopwatch watch(plan_seconds);
    const Cube hull = hull_of(sources, targets);
    data.unit = unit_for(hull);
    const Cube scaled{data.unit * hull.corner, data.unit * hull.side};
    choice = choose(options, sources, targets, data.unit, scaled);
    data.order = ParityOrder(choice.order);
    data.precision = precision_of(options);
    data.near_precision = near_precision_of(options);
    data.root_terms = root_terms(options);
    watch.add("choose");

    const Cube root = inflated(scaled, choice.inflation);
    data.sources = sort_points(sources, data.unit, root);
    if (!same) data.other_targets = sort_points(targets, data.unit, root);
    watch.add("sort");
    data.tree = build_octree(root, data.sources, data.targets(), choice.max_leaf);
    watch.add("tree");
    data.near = near_lists(data.tree, data.sources, data.targets());
    list_boxes(data);
    watch.add("lists");
    check_memory(data);
    backend = make_cpu_backend(data);
    watch.add("operators");
  }
};

Plan::Plan(std::span<const Vec3d> points, const PlanOptions& options)
    : impl_(std::make_unique<Impl>(points, points, true, options)) {}
Plan::Plan(std::span<const Vec3d> sources, std::span<const Vec3d> targets,
           const PlanOptions& options)
    : impl_(std::make_unique<Impl>(sources, targets, are_same(sources, targets), options)) {}
Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

std::size_t Plan::sources() const { return impl_->data.sources.size(); }
std::size_t Plan::targets() const { return impl_->data.targets().size(); }

void Plan::evaluate(const Strengths& strengths, const Fields& fields) const {
  check_evaluation(impl_->data, strengths, fields);
  FMBEM_REQUIRE(strengths.dipoles.empty() || impl_->options.dipoles,
                "the plan was not made for dipoles: set PlanOptions::dipoles");
  FMBEM_REQUIRE(fields.gradient.empty() || impl_->options.gradient,
                "the plan was not made for gradients: set PlanOptions::gradient");
  impl_->evaluate_seconds.clear();
  std::fill(fields.potential.begin(), fields.potential.end(), 0.0);
  std::fill(fields.gradient.begin(), fields.gradient.end(), Vec3d{});
  if (strengths.charges.empty() && strengths.dipoles.empty()) return;
  if (fields.potential.empty() && fields.gradient.empty()) return;
  impl_->backend->evaluate(strengths, fields, impl_->evaluate_seconds);
}

PlanInfo Plan::info() const {
  return info_of(impl_->data, impl_->choice.max_leaf, impl_->choice.inflation,
                 impl_->backend->operator_bytes());
}

Seconds Plan::evaluate_seconds() const { return impl_->evaluate_seconds; }
Seconds Plan::plan_seconds() const { return impl_->plan_seconds; }

}  // namespace fmbem::fmm
