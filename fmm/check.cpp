#include "fmbem/fmm/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/plan_info.hpp"

namespace fmbem::fmm {
namespace {

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

void check_order(int order) {
  FMBEM_REQUIRE(order >= 1 && order <= highest_order,
                "the order must be between 1 and " << highest_order << ", not " << order);
}

void check_kappa(double kappa) {
  FMBEM_REQUIRE(kappa >= 0 && std::isfinite(kappa),
                "κ must be positive, or 0 for Laplace's kernel, not " << kappa);
}

void check_tree_options(const std::optional<int>& max_leaf,
                        const std::optional<double>& inflation) {
  FMBEM_REQUIRE(!max_leaf || *max_leaf >= 1,
                "a leaf must hold at least one point, not " << *max_leaf);
  FMBEM_REQUIRE(!inflation || (*inflation >= 1 && *inflation < 2),
                "the inflation of the root must be at least 1 and below 2, not " << *inflation);
}

void check_point_count(std::size_t points, const char* what) {
  FMBEM_REQUIRE(points > 0, "a plan needs at least one of its " << what << "s");
  FMBEM_REQUIRE(points <= std::numeric_limits<std::int32_t>::max() / 2,
                points << " " << what << "s are more than a plan can hold, "
                       << std::numeric_limits<std::int32_t>::max() / 2);
}

void check_method(const PlanOptions& o, Processor processor) {
  const bool direct = o.method == Method::direct, treecode = o.method == Method::treecode,
             hybrid = o.method == Method::hybrid;
  FMBEM_REQUIRE(processor == Processor::gpu || o.third_law == ThirdLaw::automatic,
                "Newton's third law is to be chosen for plans on the GPU alone: leave it to the "
                "plan, which takes it on the CPU where it applies");
  FMBEM_REQUIRE(
      o.third_law != ThirdLaw::always || ((o.method == Method::fmm || hybrid) && !o.dipoles),
      "the near field by Newton's third law is that of an FMM or a hybrid without dipoles: "
      "take one of these methods, and no dipoles");
  FMBEM_REQUIRE(!o.theta || (*o.theta > 0 && *o.theta <= 1),
                "θ must be above 0 and at most 1, not " << *o.theta);
  FMBEM_REQUIRE(!o.theta || treecode || hybrid || o.method == Method::automatic,
                "θ is a treecode's or a hybrid's: take one of these methods, or give no θ");
  FMBEM_REQUIRE(!o.theta || *o.theta <= largest_sure_theta(o.method) || o.order,
                "no order is sure to meet a tolerance with θ above "
                    << largest_sure_theta(o.method) << ", such as " << *o.theta
                    << ": give an order, or a smaller θ");
  FMBEM_REQUIRE(
      !o.expansion || treecode || hybrid,
      "the expansions to choose are a treecode's or a hybrid's: take one of these methods, "
      "or give no expansion");
  FMBEM_REQUIRE(o.softening >= 0 && std::isfinite(o.softening),
                "the softening must be a length of 0 or more, not " << o.softening);
  FMBEM_REQUIRE(o.softening == 0 || direct,
                "direct sums alone have a softening: take the method direct, or set it to 0");
  FMBEM_REQUIRE(o.softening == 0 || o.kappa == 0,
                "softening is of Laplace's kernel: set it to 0, or κ to 0");
  FMBEM_REQUIRE(
      (!treecode && !hybrid) || !o.hessian,
      "a " << name_of(o.method) << " has no second derivatives: take the method fmm or direct");
  FMBEM_REQUIRE(o.kappa == 0 || o.expansion != Expansion::cartesian,
                "Cartesian expansions are of Laplace's kernel: take spherical ones, or set κ to 0");
  FMBEM_REQUIRE(!direct || (!o.order && !o.max_leaf && !o.inflation),
                "a direct sum has neither order nor leaves: give none, or take another method");
}

void check_theta(const PlanOptions& o, bool sources_are_targets) {
  if (o.method != Method::treecode || o.order) return;
  const double theta = o.theta.value_or(default_theta(o.method)),
               largest = theta_of_highest_order(o, sources_are_targets);
  FMBEM_REQUIRE(theta <= largest, "no order up to "
                                      << highest_order << " meets a tolerance of " << o.tolerance
                                      << " with θ = " << theta
                                      << ": take θ = " << std::floor(100 * largest) / 100
                                      << " or less, or give an order");
}

void check_softening(double softening, Vec3d low, Vec3d high) {
  constexpr double most = 100;  // beyond it single precision would end
  const Vec3d extents = high - low;
  const double extent = std::max({extents.x, extents.y, extents.z});
  // Points at one place do not act on each other.
  FMBEM_REQUIRE(extent == 0 || softening <= most * extent,
                "a softening of " << softening << " is more than " << most
                                  << " times the points' extent: all pairs would be alike");
}

int checked_order(int wanted, bool has_far_field, double kappa, double nearest) {
  FMBEM_REQUIRE(wanted <= highest_order || !has_far_field,
                "no order up to " << highest_order << " meets the tolerance where κ is " << kappa
                                  << " and no source is nearer to another target than " << nearest
                                  << ": take the method direct, or a looser tolerance");
  return std::min(wanted, highest_order);
}

void check_overhang(double overhang) {
  FMBEM_REQUIRE(overhang > 0 && overhang <= 0.5,
                "sources stick out by more than 0 and up to 0.5 of a box's side, not " << overhang);
}

void check_points(std::span<const Vec3d> points, const char* what) {
  check_point_count(points.size(), what);
  const std::size_t bad = first_not_finite(points);
  FMBEM_REQUIRE(bad == points.size(),
                what << " " << bad << " is not at a finite position (counted from 0)");
}

void check_evaluation(std::size_t sources, std::size_t targets, const Strengths& strengths,
                      const Fields& fields) {
  FMBEM_REQUIRE(strengths.count >= 1,
                "there must be at least one right-hand side, not " << strengths.count);
  const auto count = static_cast<std::size_t>(strengths.count);
  check_size(strengths.charges, count * sources, "charges");
  check_size(strengths.dipoles, count * sources, "dipoles");
  check_size(fields.potential, count * targets, "potentials");
  check_size(fields.gradient, count * targets, "gradients");
  check_size(fields.hessian, count * targets, "second derivatives");
  check_finite(strengths.charges, "charges");
  check_finite(strengths.dipoles, "dipoles");
}

void check_memory(const PointTree& tree, const Accuracy& accuracy, Moments moments, int strengths) {
  const std::int64_t number = bytes_of_a_number(accuracy);
  const std::int64_t count = harmonic_count(accuracy.order);
  const std::int64_t expansions =
      2 * static_cast<std::int64_t>(tree.octree.boxes.size()) * count * number;
  const std::int64_t operators = m2l_bytes(tree, accuracy);
  const std::int64_t points = 64 * static_cast<std::int64_t>(tree.targets().size());
  const std::int64_t kept = strengths * kept_moment_bytes(tree, accuracy, moments);
  const std::int64_t needed = expansions + operators + points + kept, free = available_memory();
  if (needed > free)
    throw ResourceError("the plan needs " + std::to_string(needed >> 20) + " MiB for " +
                        std::to_string(tree.octree.boxes.size()) + " boxes at order " +
                        std::to_string(accuracy.order) + ", but " + std::to_string(free >> 20) +
                        " MiB are free: use a looser tolerance or larger leaves");
}

}  // namespace fmbem::fmm
