#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/fmm/base/hd.hpp"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem {

// The part of ‖V‖ that the near field has, from above: the largest of its row sums over the mean
// of V's, for some rows.

inline constexpr std::size_t near_fraction_rows = 32;

/// A panel's part of a row sum: right far away and at home, and there is nothing between.
FMBEM_HD inline double panel_size_over_distance(double area, Vec3d centroid, Vec3d x) {
  return area / sqrt(norm2(centroid - x) + area / 12);
}

inline double near_fraction_of(std::span<const double> near_sums, std::span<const double> sums) {
  constexpr double safety = 2;
  const double mean =
      std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(sums.size());
  return std::min(1.0, safety * *std::max_element(near_sums.begin(), near_sums.end()) / mean);
}

double near_fraction(std::span<const Triangle> panels, const fmm::PointTree& tree);

}  // namespace fmbem
