#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <span>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/fmm/base/hd.hpp"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem {

class PanelSources;

/// ‖V‖ or ‖K‖ from the row sums of some targets.
struct NormEstimate {
  double norm = 0;           ///< of V, from above; of K what it is on a sphere
  double near_fraction = 1;  ///< the near field's part of it, from above
};

inline constexpr std::size_t rows_of_estimate = 32;
/// Every stride-th row, some rows_of_estimate of them, which stand for all.
struct SampledRows {
  explicit SampledRows(std::int64_t rows)
      : stride(std::max<std::int64_t>(1, rows / std::int64_t{rows_of_estimate})),
        count((rows + stride - 1) / stride) {}
  std::int64_t stride, count;
};
/// Where panels are cut, of far pieces every so-many-th stands for all.
inline std::int64_t stride_of_far_pieces(std::int64_t pieces) {
  constexpr std::int64_t enough = 1 << 18;
  return std::max<std::int64_t>(1, pieces / enough);
}

/// A panel's part of a row sum, times 4π. The formula is right for panels far away and for the
/// panel itself; between these it is a smooth transition.
FMBEM_HD inline double panel_size_over_distance(double area, Vec3d centroid, Vec3d x) {
  return area / sqrt(norm2(centroid - x) + area / 12);
}

/// The same of a piece of a long panel, from −half to half about its centroid; 0 is no piece.
FMBEM_HD inline double piece_size_over_distance(double area, Vec3d centroid, Vec3d half, Vec3d x) {
  constexpr double far_away = 4;
  const Vec3d d = x - centroid;
  const double h2 = norm2(half), d2 = norm2(d);
  if (d2 >= far_away * far_away * h2) return panel_size_over_distance(area, centroid, x);
  const double h = sqrt(h2), s = dot(d, half) / h, width = area / (2 * h),
               off = sqrt(fmax(d2 - s * s, 0.0) + width * width / 12);
  return area * (asinh((h - s) / off) + asinh((h + s) / off)) / (2 * h);
}

/// The same of Yukawa's kernel, from above: e^{−κr} from the disk of that area on, and within it
/// the mean over its radius ρ, (1 − e^{−κρ})/(κρ).
FMBEM_HD inline double panel_size_over_distance(double area, Vec3d centroid, Vec3d x,
                                                double kappa) {
  const double of_laplace = panel_size_over_distance(area, centroid, x);
  if (kappa == 0) return of_laplace;
  const double radius = sqrt(area * std::numbers::inv_pi), z = kappa * radius;
  return of_laplace * (z > 0 ? -expm1(-z) / z : 1) *
         exp(-kappa * fmax(0.0, norm(centroid - x) - radius));
}

/// A panel's part of a row sum of |K|, times 4π, right for panels far away; `normal` is as long as
/// the area. No power of a length beyond its square is formed.
FMBEM_HD inline double panel_flux(Vec3d normal, double area, Vec3d centroid, Vec3d x) {
  const Vec3d d = centroid - x;
  const double r2 = norm2(d) + area / 12;
  return fabs(dot(normal / r2, d)) / sqrt(r2);
}

/// The estimate of V from sums of sizes over near panels, and over all. Where panels are cut,
/// leaves and with them the near parts of rows are of very different sizes, and count by their mean
/// square: for constant x that is the norm.
inline NormEstimate norm_estimate_of(std::span<const double> near_sums,
                                     std::span<const double> sums, bool of_pieces) {
  constexpr double safety = 2;
  const auto rows = static_cast<double>(sums.size());
  const double mean = std::accumulate(sums.begin(), sums.end(), 0.0) / rows;
  const double near = of_pieces ? std::sqrt(std::inner_product(near_sums.begin(), near_sums.end(),
                                                               near_sums.begin(), 0.0) /
                                            rows)
                                : *std::max_element(near_sums.begin(), near_sums.end());
  return {inv_4pi * *std::max_element(sums.begin(), sums.end()),
          std::min(1.0, safety * near / mean)};
}

/// The estimate of K from sums of |K| over near panels. They count by their mean square, as rows at
/// edges have far larger ones than those in a face, and as no less than 0.07: integrals are
/// accurate relative to the field of the panel, of which K is the part along the normal.
inline NormEstimate double_layer_estimate_of(std::span<const double> near_sums) {
  constexpr double norm = 0.5, safety = 2, least = 0.07;
  const double mean_square =
      std::inner_product(near_sums.begin(), near_sums.end(), near_sums.begin(), 0.0) /
      static_cast<double>(near_sums.size());
  return {norm, std::clamp(safety * inv_4pi * std::sqrt(mean_square) / norm, least, 1.0)};
}

/// How much of V is close to its diagonal: the largest sum of a row over some 400 panels around the
/// target, over the mean sum of a whole row. On surfaces of N panels it is some √(400/N), 0.4 for
/// 2000 and 0.02 for a million; on what is nearly a line it falls only like a logarithm: 0.8 and
/// 0.5. From samples, in a millisecond.
double crowding(const Panels& panels, double kappa = 0);

/// `sources`: the panels or their pieces, of which the tree is made; `targets`: its points. κ > 0
/// is Yukawa's kernel.
NormEstimate estimate_norm(std::span<const Vec3d> targets, const PanelSources& sources,
                           const fmm::PointTree& tree, double kappa = 0);

/// The same of K, of the panels of which the tree is made. Yukawa's K is smaller than Laplace's.
NormEstimate estimate_double_layer(std::span<const Vec3d> targets, std::span<const Triangle> panels,
                                   const fmm::PointTree& tree);

}  // namespace fmbem
