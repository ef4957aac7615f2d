#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "fmbem/fmm/tree/morton.hpp"

namespace fmbem::fmm {

// The search for the size of leaves and of the root with which an evaluation takes the least time.

/// Inflations of the root: each step doubles the volume of a box, and three make a level. The first
/// is not 1, because the points of a lattice would lie on the faces of boxes, where expansions are
/// worst.
inline constexpr double inflations[] = {1.02, 1.26, 1.59};

inline std::vector<double> inflations_to_try(const std::optional<double>& asked) {
  if (asked) return {*asked};
  return {std::begin(inflations), std::end(inflations)};
}

/// Those for lattices (choice/corners.hpp).
inline constexpr double inflations_of_lattices[] = {1.02, 1.1, 1.19, 1.28, 1.39, 1.5, 1.62, 1.74};

/// The cube of the hull, inflated about its middle; or off it for lattices: with an odd number of
/// points an axis they have a plane in the middle of the hull, which would be on faces of boxes on
/// all levels.
inline Cube inflated(const Hull& hull, double inflation, bool on_lattice = false) {
  const Vec3d below = on_lattice ? Vec3d{0.23, 0.695, 0.38} : hull.below;
  return {hull.corner - ((inflation - 1) * hull.side) * below, inflation * hull.side};
}

/// At most so many leaf sizes below `end`, ascending from the least one by steps.
inline std::vector<int> leaves_to_try(double least, double step, std::size_t most, double end) {
  std::vector<int> leaves;
  double leaf = std::max(least, 1.0);
  while (leaves.size() < most && leaf < end) {
    leaves.push_back(static_cast<int>(leaf));
    leaf = std::max(step * leaf, leaves.back() + 1.0);
  }
  return leaves;
}

/// Trees with fewer boxes to a split are of surfaces or lines.
inline constexpr double branching_of_volumes = 5;

/// The best choice found so far.
struct TreeChoice {
  int max_leaf = 1;
  double inflation = 1;
  double seconds = std::numeric_limits<double>::infinity();
  /// Boxes that a split makes, in the mean of the tree: 6.5 to 8 of points in volumes, 4 to 5 on
  /// surfaces, 2 on lines. 8 where no tree was tried.
  double branching = 8;

  /// Looks at the trees of one root, given the work of each leaf size, and takes the best of them
  /// if it beats what was found. Returns whether it did.
  template <class Work, class Seconds>
  bool improve(double root_inflation, std::span<const int> leaves, std::span<const Work> work,
               Seconds&& seconds_of) {
    bool better = false;
    for (std::size_t c = 0; c < leaves.size(); ++c) {
      const double trial = seconds_of(work[c]);
      if (trial >= seconds) continue;
      *this = {leaves[c], root_inflation, trial, work[c].branching()};
      better = true;
    }
    return better;
  }
};

}  // namespace fmbem::fmm
