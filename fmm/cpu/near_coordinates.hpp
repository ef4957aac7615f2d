#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

/// Coordinates of the near field in precision N, and what they are as seen from another leaf. In
/// double precision they are those of the points. In single precision they are integers, in 2^-29
/// sides of the leaf that holds the point and relative to its centre, so less than half a side.
/// What is near to a leaf in boxes up to twice as large lies within seven halves of its sides of
/// its centre (in its parent's colleagues), so differences are less than four sides and fit into 32
/// bits. Boxes four times as large or farther away, which few leaves have, are left to double
/// precision.
template <class N>
class NearCoordinates {
 public:
  using Coordinate = typename NearCoordinate<N>::Type;

  /// Coordinates of the points in the leaves, as `points_of` them.
  NearCoordinates(const Octree& tree, const SortedPoints& points, Range Box::*points_of);

  std::array<const Coordinate*, 3> axes() const;

  /// The factor by which lengths are multiplied in coordinates as seen from a leaf of that level.
  static double scale(const Octree& tree, int level);

 private:
  const SortedPoints& points_;
  std::array<LargeVector<Coordinate>, 3> coordinates_;  ///< in single precision alone
};

/// Whether integers hold the differences of coordinates of a leaf and a box near to it.
bool integers_hold(const Box& leaf, const Box& box);

/// The points of a box as that leaf sees them. Those that integers do not hold have no offset, and
/// double precision alone serves.
NearRange near_range(Range points, const Box& box, const Box& leaf);
inline bool integers_hold(const NearRange& piece) { return piece.levels != beyond_integers; }

}  // namespace fmbem::fmm
