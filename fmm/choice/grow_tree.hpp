#pragma once

#include <memory>
#include <optional>
#include <span>

#include "fmbem/fmm/functionals.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

struct TreeOptions {
  /// How far a source may stick out of its box, in sides of the box. One that would stick out
  /// farther stays in the parent, or in that one's.
  double overhang = 0.1;
  std::optional<int> max_leaf{};      ///< most sources that may sink, or targets, of a leaf
  std::optional<double> inflation{};  ///< side of the root over that of the bounding cube, [1, 2)
  const Ranks* ranks = &one_rank();   ///< that share it: one for now
  // What the cost model is to weigh where these are not given:
  int order = 10;  ///< degree of the expansions of most evaluations
  Precision precision = Precision::double_precision;
  bool gradient = false;
  double near_pair_seconds = 1e-9;  ///< of one thread for a near pair
};

/// The tree of functionals as sources and points as targets in which an evaluation takes the least
/// time by the cost model. `seconds` gets the times of making it. Neither need outlive the call.
/// Throws InputError for options that are out of range and positions that are not finite.
std::shared_ptr<const PointTree> grow_tree(const Functionals& sources,
                                           std::span<const Vec3d> targets,
                                           const TreeOptions& options, Seconds& seconds);

}  // namespace fmbem::fmm
