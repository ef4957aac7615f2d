#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem {

/// The parameters (u, v) of a point of a surface. NaN stands for a parameter on which the point
/// does not depend, as at a sphere's pole; two NaN for parameters that are unknown.
struct SurfaceParameters {
  static constexpr double any = std::numeric_limits<double>::quiet_NaN();
  double u = any, v = any;
};

/// Surfaces and curves that new vertices of a mesh are put on, known by their tags. Coordinates
/// come three by three, in the mesh's unit.
class Geometry {
 public:
  virtual ~Geometry() = default;

  /// Whether the surface is part of a plane, so that middles of edges inside it lie on it.
  virtual bool is_flat(int surface) = 0;
  /// Lengths after which u and v repeat themselves; 0 where they do not.
  virtual SurfaceParameters periods(int surface) = 0;
  /// x(u, v) of [2n] parameters: [3n].
  virtual std::vector<double> on_surface(int surface, const std::vector<double>& uv) = 0;
  /// ∂x/∂u and ∂x/∂v of [2n] parameters: [6n].
  virtual std::vector<double> derivatives(int surface, const std::vector<double>& uv) = 0;
  /// x(t) of [n] parameters: [3n].
  virtual std::vector<double> on_curve(int curve, const std::vector<double>& t) = 0;
  /// Replaces [3n] points by the nearest ones of a surface; gives their parameters, [2n].
  virtual std::vector<double> to_surface(int surface, std::vector<double>& x) = 0;
  /// Replaces [3n] points by the nearest ones of a curve; gives their parameters, [n].
  virtual std::vector<double> to_curve(int curve, std::vector<double>& x) = 0;
  /// The parameters, on a surface, of points of a curve: [2n]. A seam is on both ends of a surface,
  /// and `end` (0 or 1) chooses one. Empty if the curve is not known to lie on the surface.
  virtual std::vector<double> curve_on_surface(int curve, const std::vector<double>& t, int surface,
                                               int end) = 0;
};

/// A triangle's side that lies on a curve.
struct CurveSide {
  std::size_t side;   ///< 3 triangle + k, from the corner k to the next one
  int curve;          ///< its tag
  double begin, end;  ///< t at the corner k and at the next one
};

/// Where the triangles of a mesh lie on a geometry. Each triangle has parameters of its own for its
/// corners, so that along a seam those of either side keep to their end of the surface.
struct MeshPlaces {
  std::vector<int> surface;                               ///< [n], tags
  std::vector<std::array<SurfaceParameters, 3>> corners;  ///< [n]
  std::vector<CurveSide> sides;                           ///< in the order of `side`
};

/// Exchanges the corners 1 and 2 of triangle i; sides of `places` must be sorted afterwards.
void turn_round(MeshPlaces& places, std::size_t i);

}  // namespace fmbem
