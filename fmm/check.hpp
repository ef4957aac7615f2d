#pragma once

#include <optional>
#include <span>

#include "fmbem/fmm/base/processor.hpp"
#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/functionals.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

// What Plan, grow_tree() and FarField refuse, each with a sentence: an InputError, or for memory a
// ResourceError.

void check_order(int order);
void check_kappa(double kappa);
void check_tree_options(const std::optional<int>& max_leaf, const std::optional<double>& inflation);
void check_overhang(double overhang);
/// The method, and whether what else is asked for belongs to it.
void check_method(const PlanOptions& options, Processor processor);
/// Whether a treecode's highest order meets the tolerance with its θ.
void check_theta(const PlanOptions& options, bool sources_are_targets);
/// Against the largest extent of all points.
void check_softening(double softening, Vec3d low, Vec3d high);
/// The order of a plan for which order_across() found `wanted`. Throws InputError where no order
/// meets the tolerance, but of a plan without a far field.
int checked_order(int wanted, bool has_far_field, double kappa, double nearest);
/// `what` is "source" or "target".
void check_points(std::span<const Vec3d> points, const char* what);
void check_point_count(std::size_t points, const char* what);
/// Checks the sizes of what goes in and out, and that strengths are finite.
void check_evaluation(std::size_t sources, std::size_t targets, const Strengths& strengths,
                      const Fields& fields);
/// Checks that there is memory for expansions, operators and kept moments, before it is asked for.
void check_memory(const PointTree& tree, const Accuracy& accuracy, Moments moments,
                  int strengths = 1);

}  // namespace fmbem::fmm
