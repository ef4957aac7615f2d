#pragma once

#include <memory>
#include <span>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/layer/layer.hpp"
#include "fmbem/bem/space/panel_sources.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem {

/// How layers on panels act on points that are far from them.
struct FarAtPoints {
  double tolerance = 0;  ///< of what is evaluated, in the norm of V, or of K as 1/2
  Trace trace = Trace::value;
  PanelSources::Strengths strengths = PanelSources::Strengths::density;
  bool gradient = false, hessian = false;
  double kappa = 0;
  double near_pair_seconds = 0;  ///< what a pair of a panel and a point costs one thread
};

/// Overwrites fields at points with what panels that are far give there, by an FMM that serves for
/// once. The near lists of the tree that is returned have the other pairs. Points and panels are in
/// the same coordinates.
std::shared_ptr<const fmm::PointTree> set_far_fields(const FarAtPoints& how,
                                                     std::span<const Triangle> panels,
                                                     std::span<const double> strengths,
                                                     std::span<const Vec3d> points,
                                                     const fmm::Fields& fields);

/// Whether all points, less an origin that panels are less, are farther from all panels than a
/// tenth of these' extent, by samples of some thousand.
bool are_apart(const Panels& panels, std::span<const Vec3d> points, Vec3d origin = {});

/// The parts of a tolerance that the far field gets: of points some of which are near panels, whose
/// fields hide its errors, and of points that are all apart from them (docs/decisions.md).
struct PartsOfTolerance {
  double near, apart;

  double of(const Panels& panels, std::span<const Vec3d> points, Vec3d origin = {}) const {
    return are_apart(panels, points, origin) ? apart : near;
  }
};

}  // namespace fmbem
