#include "fmbem/fmm/plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/choose.hpp"
#include "fmbem/fmm/cost.hpp"
#include "fmbem/fmm/cpu/backend.hpp"
#include "fmbem/fmm/harmonics.hpp"
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
  FMBEM_REQUIRE(!o.order || (*o.order >= 1 && *o.order <= highest_order),
                "the order must be between 1 and " << highest_order << ", not " << *o.order);
  FMBEM_REQUIRE(!o.max_leaf || *o.max_leaf >= 1,
                "a leaf must hold at least one point, not " << *o.max_leaf);
  FMBEM_REQUIRE(!o.inflation || (*o.inflation >= 1 && *o.inflation < 2),
                "the inflation of the root must be at least 1 and below 2, not " << *o.inflation);
}

bool is_finite(double x) { return std::isfinite(x); }
bool is_finite(Vec3d v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }

/// Index of the first entry that is not finite, or the size.
template <class T>
std::size_t first_not_finite(std::span<const T> values) {
  std::size_t bad = values.size();
#pragma omp parallel for reduction(min : bad)
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!is_finite(values[i])) bad = std::min(bad, i);
  return bad;
}

void check_points(std::span<const Vec3d> points, const char* what) {
  FMBEM_REQUIRE(!points.empty(), "a plan needs at least one of its " << what << "s");
  FMBEM_REQUIRE(points.size() <= std::numeric_limits<std::int32_t>::max() / 2,
                points.size() << " " << what << "s are more than a plan can hold, "
                              << std::numeric_limits<std::int32_t>::max() / 2);
  const std::size_t bad = first_not_finite(points);
  FMBEM_REQUIRE(bad == points.size(),
                what << " " << bad << " is not at a finite position (counted from 0)");
}

Cube hull_of(std::span<const Vec3d> sources, std::span<const Vec3d> targets) {
  const Cube s = bounding_cube(sources);
  if (are_same(sources, targets)) return s;
  const Cube t = bounding_cube(targets);
  const Vec3d s_side{s.side, s.side, s.side}, t_side{t.side, t.side, t.side};
  const std::array<Vec3d, 4> corners{s.corner, s.corner + s_side, t.corner, t.corner + t_side};
  return bounding_cube(corners);
}

std::int64_t bytes_of_a_number(const PlanData& data) {
  return data.precision == Precision::single_precision ? sizeof(float) : sizeof(double);
}

/// Bytes of a plan and one evaluation, to be refused before they are asked for.
void check_memory(const PlanData& data) {
  const std::int64_t number = bytes_of_a_number(data);
  const std::int64_t count = data.order.count;
  const std::int64_t expansions =
      2 * static_cast<std::int64_t>(data.tree.boxes.size()) * count * number;
  const std::int64_t operators = data.tree.levels() > 2 ? 8 * 26 * count * count * number : 0;
  const std::int64_t points = 64 * static_cast<std::int64_t>(data.targets().size());
  const std::int64_t needed = expansions + operators + points, free = available_memory();
  if (needed > free)
    throw ResourceError("the plan needs " + std::to_string(needed >> 20) + " MiB for " +
                        std::to_string(data.tree.boxes.size()) + " boxes at order " +
                        std::to_string(data.order.p) + ", but " + std::to_string(free >> 20) +
                        " MiB are free: use a looser tolerance or larger leaves");
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
    FMBEM_REQUIRE(std::isfinite(hull.side) && std::isfinite(norm(hull.corner)),
                  "the points are too far apart for double precision: use another unit of length");
    data.unit = std::ldexp(1.0, -std::ilogb(hull.side));
    FMBEM_REQUIRE(std::isfinite(data.unit),
                  "the points are too close together for double "
                  "precision: use another unit of length");
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

namespace {

template <class T>
void check_size(std::span<T> values, std::size_t wanted, const char* what) {
  FMBEM_REQUIRE(values.empty() || values.size() == wanted,
                "the " << what << " have " << values.size() << " entries, but need " << wanted);
}

template <class T>
void check_finite(std::span<const T> values, const char* what) {
  const std::size_t bad = first_not_finite(values);
  FMBEM_REQUIRE(bad == values.size(), "entry " << bad << " of the " << what << " is not finite");
}

}  // namespace

void Plan::evaluate(const Strengths& strengths, const Fields& fields) const {
  FMBEM_REQUIRE(strengths.count >= 1,
                "there must be at least one right-hand side, not " << strengths.count);
  const auto count = static_cast<std::size_t>(strengths.count);
  check_size(strengths.charges, count * sources(), "charges");
  check_size(strengths.dipoles, count * sources(), "dipoles");
  check_size(fields.potential, count * targets(), "potentials");
  check_size(fields.gradient, count * targets(), "gradients");
  FMBEM_REQUIRE(strengths.dipoles.empty() || impl_->options.dipoles,
                "the plan was not made for dipoles: set PlanOptions::dipoles");
  FMBEM_REQUIRE(fields.gradient.empty() || impl_->options.gradient,
                "the plan was not made for gradients: set PlanOptions::gradient");
  check_finite(strengths.charges, "charges");
  check_finite(strengths.dipoles, "dipoles");
  impl_->evaluate_seconds.clear();
  std::fill(fields.potential.begin(), fields.potential.end(), 0.0);
  std::fill(fields.gradient.begin(), fields.gradient.end(), Vec3d{});
  if (strengths.charges.empty() && strengths.dipoles.empty()) return;
  if (fields.potential.empty() && fields.gradient.empty()) return;
  impl_->backend->evaluate(strengths, fields, impl_->evaluate_seconds);
}

PlanInfo Plan::info() const {
  const PlanData& d = impl_->data;
  const auto boxes = static_cast<std::int64_t>(d.tree.boxes.size());
  std::int64_t leaves = 0;
  for (const Box& box : d.tree.boxes) leaves += box.is_leaf;
  const auto points = static_cast<std::int64_t>(d.sources.size() + d.other_targets.size());
  const std::int64_t bytes =
      boxes * static_cast<std::int64_t>(sizeof(Box) + sizeof(d.tree.colleagues[0])) + points * 36 +
      static_cast<std::int64_t>(d.near.sources.size()) * 4 +
      2 * boxes * d.order.count * bytes_of_a_number(d);
  return {d.order.p,
          d.precision,
          d.tree.levels(),
          impl_->choice.max_leaf,
          impl_->choice.inflation,
          boxes,
          leaves,
          near_pairs(d.tree, d.near),
          m2l_rows(d.tree),
          bytes,
          impl_->backend->operator_bytes()};
}

Seconds Plan::evaluate_seconds() const { return impl_->evaluate_seconds; }
Seconds Plan::plan_seconds() const { return impl_->plan_seconds; }

}  // namespace fmbem::fmm
