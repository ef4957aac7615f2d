#pragma once

#include <optional>
#include <span>

#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/functionals.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

// What Plan, grow_tree() and FarField refuse, each with a sentence: InputError, or ResourceError
// for memory.

void check_order(int order);
void check_tree_options(const std::optional<int>& max_leaf, const std::optional<double>& inflation);
void check_overhang(double overhang);
/// `what` is "source" or "target".
void check_points(std::span<const Vec3d> points, const char* what);
void check_point_count(std::size_t points, const char* what);
/// Sizes of what goes in and out, and whether the strengths are finite.
void check_evaluation(std::size_t sources, std::size_t targets, const Strengths& strengths,
                      const Fields& fields);
/// Bytes of expansions, operators and kept moments, before they are asked for.
void check_memory(const PointTree& tree, const Accuracy& accuracy, Moments moments);

}  // namespace fmbem::fmm
