#pragma once

#include "fmbem/fmm/choice/choose.hpp"

namespace fmbem::fmm {

/// A method and its tree; a direct sum has one box.
struct MethodChoice {
  Method method;
  TreeChoice tree;
};

/// The method that the options name, or the one that takes the least time by the cost model, and
/// its tree. Arguments are as of choose_tree().
MethodChoice choose_method(const PlanOptions& options, std::span<const Vec3d> sources,
                           std::span<const Vec3d> targets, double scale, const Cube& hull);

}  // namespace fmbem::fmm
