#pragma once

#include <algorithm>

#include "fmbem/fmm/choice/choose.hpp"
#include "fmbem/fmm/choice/policy.hpp"

namespace fmbem::fmm {

/// A method and its tree; a direct sum has one box.
struct MethodChoice {
  Method method;
  TreeChoice tree;
};

/// The method that the options name, or the one that takes the least time by the cost model, and
/// its tree. Arguments are as of choose_tree() and order_for().
MethodChoice choose_method(const PlanOptions& options, std::span<const Vec3d> sources,
                           std::span<const Vec3d> targets, double scale, const Hull& hull,
                           const Cloud& cloud);

/// Leaf size of a hybrid's tree: half of what is best for an FMM, or what is asked for if that is
/// less. The hybrid finds out by itself how far to split, whatever larger leaves are asked for.
inline int hybrid_leaf(const std::optional<int>& asked, int best_of_fmm) {
  const int finest = std::max(1, best_of_fmm / 2);
  return std::min(asked.value_or(finest), finest);
}

}  // namespace fmbem::fmm
