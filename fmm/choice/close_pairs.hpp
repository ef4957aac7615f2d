#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "fmbem/fmm/base/hd.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/tree/sorted_points.hpp"

namespace fmbem::fmm {

// How far close pairs raise gradients above the far field that a tree has to get right. With
// charges of random sign the square of the gradients' norm is the sum over all points i of
// S_i = Σ_j 1/r_ij⁴, and that of the far field's error is in proportion to the sum over leaves of
// n²/s⁴, of n points in a side of s. Both are estimated in one pass over points in Morton order, of
// which the next ones in that order stand for neighbours, and stretches for leaves
// (docs/decisions.md).

/// So many points before and after each are its neighbours. They miss some pairs, never add any.
inline constexpr int neighbours_a_side = 4;
/// Points that stand for a leaf: so many, twice and four times as many, and from each the mean. In
/// uniform clouds a stretch is a cell of the Morton order, or two, as their number of points has
/// it; with three sizes, all of which end with the largest, that is the same for all numbers.
inline constexpr int least_stretch = 32, largest_stretch = 4 * least_stretch;

/// Numbers are counted in bins of an eighth of a power of two, so that sums are the same bits in
/// whatever order they are counted.
inline constexpr int bins_of_power = 8, least_power = -8, magnitude_bins = 2048;

FMBEM_HD inline int magnitude_bin(double x) {
  std::int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  constexpr int bits_below = 52 - 3;  // of a double's mantissa
  const auto bin =
      static_cast<std::int32_t>((bits >> bits_below) - bins_of_power * (1023 + least_power));
  return bin < 0 ? 0 : bin < magnitude_bins ? bin : magnitude_bins - 1;
}

/// 1/r⁴ of a displacement, without fused operations; 0 where that is the point itself.
FMBEM_HD inline double inverse_fourth_power(double x, double y, double z) {
#ifdef __CUDA_ARCH__
  const double r2 = __dadd_rn(__dadd_rn(__dmul_rn(x, x), __dmul_rn(y, y)), __dmul_rn(z, z));
#else
  const double r2 = x * x + y * y + z * z;
#endif
  return r2 > 0 ? 1 / (r2 * r2) : 0;
}

/// 1/s⁴ of a stretch whose largest extent is s, times the square of its points, the least stretch
/// being 1.
FMBEM_HD inline double stretch_magnitude(int points, double largest_extent) {
  const int times = points / least_stretch;
  const double s2 = largest_extent * largest_extent;
  return times * times / (s2 * s2);
}

/// Points by S_i of their neighbours, and stretches by their magnitude.
struct PairCounts {
  std::array<std::uint32_t, magnitude_bins> points{}, stretches{};
};
/// Of points in the unit of a PointTree.
PairCounts count_pairs(const SortedPoints& points);

/// √(Σ S_i / Σ n²/s⁴), the latter of each size in the mean, without the thousandth of the points,
/// and the 32 at least, with the largest S_i: these may have no charges, and are not met again in a
/// sample of targets. 0 for few points. With κ > 0, in the tree's unit, pairs are Yukawa's and the
/// far field Laplace's, which is larger.
double gradient_over_far(const PairCounts& counts, double kappa);

/// Whether a plan's order depends on that.
bool weighs_close_pairs(const PlanOptions& options, bool sources_are_targets);

}  // namespace fmbem::fmm
