#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fmbem/fmm/cpu/kernels.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

/// Coordinates of the near field in precision N, point by point, and what they are from another
/// leaf: in double precision those of the points, in single precision integers, in 2^-29 sides of
/// the leaf that holds a point and relative to its centre, of less than half a side. What is near
/// to a leaf lies in boxes up to twice as large and within seven halves of its sides of the centre
/// (its parent's colleagues), so differences are of less than four sides and fit.
template <class N>
class NearCoordinates {
 public:
  using Coordinate = typename NearCoordinate<N>::Type;

  /// Of the points that stand in `points_of` the leaves.
  NearCoordinates(const Octree& tree, const SortedPoints& points, Range Box::*points_of);

  std::array<const Coordinate*, 3> axes() const;

  /// What lengths are multiplied by in coordinates as seen from a leaf of that level.
  static double scale(const Octree& tree, int level);

 private:
  const SortedPoints& points_;
  std::array<LargeVector<Coordinate>, 3> coordinates_;  ///< in single precision alone
};

/// Points of a box as that leaf sees them. Box and leaf differ by one level at most.
NearRange near_range(Range points, const Box& box, const Box& leaf);

}  // namespace fmbem::fmm
