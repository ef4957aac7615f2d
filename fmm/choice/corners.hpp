#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fmbem/fmm/base/hd.hpp"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/choice/policy.hpp"
#include "fmbem/fmm/choice/search.hpp"
#include "fmbem/fmm/plan.hpp"

namespace fmbem::fmm {

// Expansions of high order are worst at the corners of boxes: (r/r_max)^(p+1) at a distance r from
// the centre, r_max being the corners', falls to 1/e within a fortieth of the side at order 28. Of
// random points few are there; but a lattice's may be there in all boxes, or in few, depending on
// the root. So lattices have roots of their own to try, of which those with many points near
// corners are left out. Of other clouds one target in 400, the one closest to a corner, has most of
// the error below a tolerance of 1e-11, where roots a little larger than the one that is chosen for
// its time are therefore looked at.

inline constexpr int corner_roots = 8, corner_levels = 5;

inline double inflation_beside(double inflation, int k) { return inflation * (1 + 0.0125 * k); }

/// Those that are tried for lattices, and those next to the one that is chosen.
std::vector<Cube> roots_of_lattice(const Hull& hull);
std::vector<Cube> roots_beside(const Hull& hull, double inflation);

/// A point's (r/r_max)^(2(p+1)) in its box of a level, in units of 2^-32. `cells` is 2^level over
/// the root's side.
FMBEM_HD inline std::uint64_t corner_weight(Vec3d point, Vec3d root_corner, double cells,
                                            int order) {
  double r2 = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double place = (point[axis] - root_corner[axis]) * cells;
    const double from_centre = place - floor(place) - 0.5;
    r2 += from_centre * from_centre;
  }
  double weight = 1, power = r2 / 0.75;
  for (int exponent = order + 1; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) weight *= power;
    power *= power;
  }
  return static_cast<std::uint64_t>(weight * 0x1p32);
}

/// Sums of the weights of some points, for each root and the levels from 2 on.
using CornerWeights = std::array<std::array<std::uint64_t, corner_levels>, corner_roots>;
CornerWeights corner_weights(std::span<const Vec3d> points, double scale,
                             std::span<const Cube> roots, int order);
/// The roots whose weights are the least or nearly so on the levels of uniform trees of so many
/// points with such leaves or larger ones; and the one with the least on those of one such tree.
std::vector<int> roots_off_corners(const CornerWeights& weights, std::int64_t points,
                                   int smallest_leaf);
int root_off_corners(const CornerWeights& weights, std::int64_t points, int max_leaf);

/// The inflations to try, `weights(roots)` being corner_weights().
template <class Weights>
std::vector<double> inflations_to_try(const std::optional<double>& asked, bool on_lattice,
                                      const Hull& hull, std::int64_t points, int smallest_leaf,
                                      Weights&& weights) {
  if (asked || !on_lattice) return inflations_to_try(asked);
  std::vector<double> tried;
  for (const int k : roots_off_corners(weights(roots_of_lattice(hull)), points, smallest_leaf))
    tried.push_back(inflations_of_lattices[k]);
  return tried;
}
/// The inflation that is chosen for its time, or of a root beside it where that is to be looked at.
template <class Weights>
double inflation_off_corners(const PlanOptions& options, bool on_lattice, const Hull& hull,
                             const TreeChoice& choice, std::int64_t points, Weights&& weights) {
  const bool weighs = !on_lattice && options.tolerance < 1e-11 && !options.inflation &&
                      (options.method == Method::fmm || options.method == Method::automatic);
  if (!weighs || choice.max_leaf >= points) return choice.inflation;
  return inflation_beside(
      choice.inflation,
      root_off_corners(weights(roots_beside(hull, choice.inflation)), points, choice.max_leaf));
}

// Where many points share few places, these may be at corners on all levels, whatever the root; and
// copies do not act on each other, so that no near pairs hide the far field's error.

/// Every so many-th point is in a sample of some thousand points, or of 16 times as many.
inline std::size_t stride_of_places(std::size_t points, bool more) {
  return std::max<std::size_t>(1, points / (more ? 16'384 : 1024));
}
/// Whether a sample has copies at all; and whether it has four or more of each place in the mean,
/// of which there is more than one.
bool has_copies(std::vector<Vec3d> sample);
bool is_crowded(std::vector<Vec3d> sample);
/// Whether a sample has at most half as many values of each coordinate as places.
bool is_on_lattice(std::vector<Vec3d> sample);

/// What `some(stride)`, every stride-th of the points, tells of the places that they are in.
template <class Some>
Cloud cloud_of(std::size_t points, Some&& some) {
  const std::vector<Vec3d> sample = some(stride_of_places(points, false));
  return {.few_places = has_copies(sample) && is_crowded(some(stride_of_places(points, true))),
          .on_lattice = is_on_lattice(sample)};
}

}  // namespace fmbem::fmm
