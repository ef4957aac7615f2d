#pragma once

#include <cmath>

#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/kernel/laplace.hpp"

namespace fmbem {

inline constexpr double inv_4pi = fmm::Laplace::scale;

/// A flat triangle with what its potential needs. Edge k runs from vertex[k] to vertex[(k+1)%3].
struct Triangle {
  Vec3d vertex[3];
  Vec3d tangent[3];  ///< unit vectors along the edges
  Vec3d outward[3];  ///< unit vectors in the plane, normal to the edges
  double length[3];  ///< of the edges
  Vec3d normal;      ///< (v1−v0)×(v2−v0)/(2 area)
  Vec3d centroid;
  double area;
  double radius;  ///< largest distance of a vertex from the centroid
};

/// A difference of vectors with its rounding error: value + error = a − b exactly [Knuth, TwoSum].
struct ExactDifference {
  Vec3d value, error;
  FMBEM_HD ExactDifference(Vec3d a, Vec3d b) : value(a - b) {
    for (int k = 0; k < 3; ++k) {
      const double b_virtual = a[k] - value[k];
      const double a_virtual = value[k] + b_virtual;
      error[k] = (a[k] - a_virtual) + (b_virtual - b[k]);
    }
  }
};

/// ad − bc to the last digit or two [Kahan].
FMBEM_HD inline double difference_of_products(double a, double d, double b, double c) {
  const double bc = b * c;
  return fma(a, d, -bc) - fma(b, c, -bc);
}

/// The cross product to full relative accuracy, also of vectors that are nearly parallel, as two
/// edges of a sliver are. Computed plainly, a sliver's area would be off by rounding times the
/// aspect ratio.
FMBEM_HD inline Vec3d accurate_cross(const ExactDifference& a, const ExactDifference& b) {
  const Vec3d u = a.value, v = b.value;
  const Vec3d leading{difference_of_products(u.y, v.z, u.z, v.y),
                      difference_of_products(u.z, v.x, u.x, v.z),
                      difference_of_products(u.x, v.y, u.y, v.x)};
  return leading + (cross(u, b.error) + cross(a.error, v));
}

FMBEM_HD inline Vec3d centroid_of(Vec3d v0, Vec3d v1, Vec3d v2) {
  return v0 + ((v1 - v0) - (v0 - v2)) / 3.0;
}

/// Of a triangle, as make_triangle() has it.
FMBEM_HD inline double triangle_area(Vec3d v0, Vec3d v1, Vec3d v2) {
  return 0.5 * norm(accurate_cross({v1, v0}, {v2, v0}));
}

FMBEM_HD inline Triangle make_triangle(Vec3d v0, Vec3d v1, Vec3d v2) {
  Triangle t;
  t.vertex[0] = v0;
  t.vertex[1] = v1;
  t.vertex[2] = v2;
  const Vec3d edge[3] = {v1 - v0, v2 - v1, v0 - v2};
  const Vec3d twice_area = accurate_cross({v1, v0}, {v2, v0});
  t.area = 0.5 * norm(twice_area);
  t.normal = twice_area / (2 * t.area);
  t.centroid = centroid_of(v0, v1, v2);
  t.radius = 0;
  for (int k = 0; k < 3; ++k) {
    t.length[k] = norm(edge[k]);
    t.tangent[k] = edge[k] / t.length[k];
    t.outward[k] = cross(t.tangent[k], t.normal);
    t.radius = fmax(t.radius, norm(t.vertex[k] - t.centroid));
  }
  return t;
}

/// What potential and gradient share at one edge, seen from x.
struct EdgeView {
  double distance;   ///< in the plane, from x's projection to the edge's line; > 0 inside
  double log_ratio;  ///< ∫ ds/|x−y| along the edge; infinite on the edge itself
};

/// ∫ ds/|x−y| along an edge without cancellation: the textbook ln((R⁺+s⁺)/(R⁻+s⁻)) loses digits
/// when the edge is seen from behind its end, or from far away [Wilton et al. 1984, eq. 5-6]. s⁻,
/// s⁺: coordinates of the ends along the edge, from the foot of x; r⁻, r⁺: distances to the ends;
/// d2: squared distance of x to the edge's line.
template <class T>
FMBEM_HD inline T edge_log_ratio(T s_minus, T s_plus, T r_minus, T r_plus, T length, T d2) {
  // Before the edge or behind it, in one branch for those of a warp on either side.
  const bool before = s_minus >= T(-0.5) * r_minus;
  if (before || s_plus <= T(0.5) * r_plus) {
    const T tilt = (s_plus + s_minus) / (r_plus + r_minus);
    return log1p(length * (1 + (before ? tilt : -tilt)) /
                 (before ? r_minus + s_minus : r_plus - s_plus));
  }
  // The foot lies well inside the edge: the ratio is at least 3.
  return log((r_plus + s_plus) * (r_minus - s_minus) / d2);
}

/// The corners of a triangle as seen from x. Nothing is looked up by a number that is not known
/// before, which GPUs can only do in memory.
struct CornerView {
  Vec3d to[3];    ///< from x
  double r[3];    ///< distances
  double height;  ///< (x − vertex)·normal, by the closest corner, which rounds least

  FMBEM_HD CornerView(const Triangle& t, Vec3d x) {
    Vec3d closest{};
    double least = 0;
    for (int k = 0; k < 3; ++k) {
      to[k] = t.vertex[k] - x;
      r[k] = norm(to[k]);
      if (k > 0 && !(r[k] < least)) continue;
      closest = to[k];
      least = r[k];
    }
    height = -dot(closest, t.normal);
  }
  /// In the plane, from x's projection to an edge's line; > 0 inside.
  FMBEM_HD double edge_distance(const Triangle& t, int edge) const {
    const int next = (edge + 1) % 3;
    return dot(r[edge] < r[next] ? to[edge] : to[next], t.outward[edge]);
  }
};

/// Position of x relative to a triangle.
struct TriangleView {
  EdgeView edge[3];
  double height;       ///< (x − vertex)·normal
  double solid_angle;  ///< ≥ 0; 2π at height 0 inside the triangle
};

/// Solid angle by van Oosterom & Strackee (1983), edge integrals by Wilton et al. (1984).
FMBEM_HD inline TriangleView view_triangle(const Triangle& t, Vec3d x) {
  const CornerView corners(t, x);
  const auto& [d, r, height] = corners;
  TriangleView view;
  view.height = height;
  for (int k = 0; k < 3; ++k) {
    const int next = (k + 1) % 3;
    view.edge[k].distance = corners.edge_distance(t, k);
    const double d2 = view.edge[k].distance * view.edge[k].distance + view.height * view.height;
    view.edge[k].log_ratio = edge_log_ratio(dot(d[k], t.tangent[k]), dot(d[next], t.tangent[k]),
                                            r[k], r[next], t.length[k], d2);
  }
  const double denominator =
      r[0] * r[1] * r[2] + dot(d[0], d[1]) * r[2] + dot(d[1], d[2]) * r[0] + dot(d[2], d[0]) * r[1];
  view.solid_angle = 2 * atan2(2 * t.area * fabs(view.height), denominator);
  return view;
}

/// 1/(4π) ∫_T 1/|x−y| dS_y, exact for every x, which the view is from.
/// Σ_edges distance·log_ratio − |height|·solid_angle [Wilton et al. 1984, eq. 5].
FMBEM_HD inline double potential_of(const TriangleView& view) {
  double sum = -fabs(view.height) * view.solid_angle;
  for (const EdgeView& e : view.edge)
    if (e.distance != 0) sum += e.distance * e.log_ratio;
  return inv_4pi * sum;
}
FMBEM_HD inline double triangle_potential(const Triangle& t, Vec3d x) {
  return potential_of(view_triangle(t, x));
}

/// The gradient in x of triangle_potential: −Σ outward·log_ratio − sign(height)·solid_angle·normal
/// [Graglia 1993, eq. 34]. In the interior of the triangle, where |height| ≤ tolerance, it is the
/// mean of both sides' limits, which are ∓½n apart from it. On an edge (closer than the tolerance)
/// it is infinite: NaN.
FMBEM_HD inline Vec3d gradient_of(const TriangleView& view, const Triangle& t, Vec3d x,
                                  double tolerance) {
  const bool in_plane = fabs(view.height) <= tolerance;
  Vec3d sum{};
  if (!in_plane) sum -= copysign(view.solid_angle, view.height) * t.normal;
  for (int k = 0; k < 3; ++k) {
    if (in_plane && fabs(view.edge[k].distance) <= tolerance) {
      const double s = dot(x - t.vertex[k], t.tangent[k]);
      if (s >= -tolerance && s <= t.length[k] + tolerance) {
        const double nan = NAN;
        return {nan, nan, nan};
      }
    }
    sum -= view.edge[k].log_ratio * t.outward[k];
  }
  return inv_4pi * sum;
}
FMBEM_HD inline Vec3d triangle_gradient(const Triangle& t, Vec3d x, double tolerance) {
  return gradient_of(view_triangle(t, x), t, x, tolerance);
}

/// 1/(4π) ∫_T n·(x−y)/|x−y|³ dS_y: the solid angle over 4π, positive where x is ahead of the
/// normal, 0 in the plane (inside the triangle: the mean of both limits). By van Oosterom &
/// Strackee (1983); close to slivers, where their denominator cancels by the square of the aspect
/// ratio, as a sum of the edges' angles [Wilton et al. 1984, eq. 5], which loses digits of small
/// differences only.
FMBEM_HD inline double triangle_double_layer(const Triangle& t, Vec3d x) {
  constexpr double cancels = 0.05;
  const CornerView corners(t, x);
  const auto& [d, r, height] = corners;
  const double h = fabs(height);
  if (height == 0) return 0;
  double denominator = r[0] * r[1] * r[2], size = denominator;
  for (int k = 0; k < 3; ++k) {
    const double term = dot(d[k], d[(k + 1) % 3]) * r[(k + 2) % 3];
    denominator += term;
    size += fabs(term);
  }
  double angle = 0;
  if (fabs(denominator) > cancels * size) {
    angle = 2 * atan2(2 * t.area * h, denominator);
  } else {
    for (int k = 0; k < 3; ++k) {
      const int next = (k + 1) % 3;
      const double distance = corners.edge_distance(t, k);
      const double d2 = distance * distance + height * height;
      angle += atan2(distance * dot(d[next], t.tangent[k]), d2 + h * r[next]) -
               atan2(distance * dot(d[k], t.tangent[k]), d2 + h * r[k]);
    }
  }
  return inv_4pi * copysign(angle, height);
}

/// Whether x lies in the triangle's interior or on its boundary, to within the tolerance.
FMBEM_HD inline bool on_triangle(const Triangle& t, Vec3d x, double tolerance) {
  for (int k = 0; k < 3; ++k)
    if (dot(t.vertex[k] - x, t.outward[k]) < -tolerance) return false;
  return fabs(dot(x - t.vertex[0], t.normal)) <= tolerance;
}

}  // namespace fmbem
