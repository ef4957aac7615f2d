#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/layer/field.hpp"
#include "fmbem/bem/layer/layer.hpp"
#include "fmbem/fmm/plan.hpp"

namespace fmbem::cuda::bem {

/// How the field of a layer of Laplace's kernel is evaluated.
struct LayerAtPoints {
  Trace source = Trace::value;  ///< of the kernel at the panels: charges, or dipoles along normals
  double tolerance = 0;         ///< of the far field, as of FarAtPoints
  Side side = Side::mean;
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

/// Overwrites potential and E of a field, for points before the origin is taken from them, on the
/// current GPU: near panels by closed forms, others by the FMM. Returns the pairs, in order, of
/// points and panels on whose edges they are, and whose part of E is left out, of charges; of
/// dipoles E is NaN there. Densities are [panels]. Where `info` is asked for it takes longer.
/// Throws InputError for densities and points that are not finite and without a usable GPU,
/// ResourceError where its memory does not suffice. O(points + panels).
std::vector<PointOnPanel> set_layer_field(const Panels& panels, std::span<const double> density,
                                          std::span<const Vec3d> points, const LayerAtPoints& how,
                                          Field& field, LayerAtPointsInfo* info = nullptr);

}  // namespace fmbem::cuda::bem
