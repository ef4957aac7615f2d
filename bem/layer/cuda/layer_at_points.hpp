#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/layer/field.hpp"
#include "fmbem/bem/layer/layer.hpp"
#include "fmbem/fmm/plan.hpp"

namespace fmbem::cuda::bem {

/// How the field of a layer is evaluated.
struct LayerAtPoints {
  Trace source = Trace::value;  ///< of the kernel at the panels: charges, or dipoles along normals
  double tolerance = 0;         ///< of the far field, as of FarAtPoints
  Side side = Side::mean;
  bool gradient_of_e = false;  ///< of charges, is wanted, too
  double kappa = 0;            ///< of Yukawa's kernel, without gradient_of_e
  double entries = 0;          ///< relative error of near integrals of Yukawa's kernel
  /// So many have a tree together, so that what they need of the GPU's memory has a bound.
  std::size_t points_at_once = std::size_t{1} << 24;
};

struct PointOnPanel {
  std::int32_t point, panel;
};

/// What an evaluation chose, and the seconds of its stages, of the last points that have a tree
/// together.
struct LayerAtPointsInfo {
  int order, levels, max_leaf;
  std::int64_t near_pairs;
  fmm::Seconds seconds;
};

/// Sets potential, E and, where asked for, its gradient at points, which are as the caller has
/// them: the panels' origin has not been taken from them. Near panels act by closed forms and
/// rules, others by the FMM, on the current GPU. Of charges it returns, sorted, the pairs of a
/// point and a panel on whose edge it lies: E and its gradient there lack what that panel gives. Of
/// dipoles E is NaN there. Densities are [panels]. Where `info` is asked for it takes longer.
/// Throws InputError for densities and points that are not finite and without a usable GPU,
/// ResourceError where its memory does not suffice. O(points + panels).
std::vector<PointOnPanel> set_layer_field(const Panels& panels, std::span<const double> density,
                                          std::span<const Vec3d> points, const LayerAtPoints& how,
                                          Field& field, LayerAtPointsInfo* info = nullptr);

}  // namespace fmbem::cuda::bem
