#pragma once

#include <cmath>

#include "fmbem/bem/geometry/triangle.hpp"

namespace fmbem {

/// ∫ (x − y) × dl over −|x − y|³ along a line from x + a to x + b:
/// a × b (|a| + |b|)/(|a||b|(|a||b| + a·b)) [Hanson and Hirshman 2002, eq. 5]. Infinite on it.
FMBEM_HD inline Vec3d field_of_current(Vec3d a, Vec3d b) {
  const double lengths = norm(a) * norm(b), cosine = dot(a, b);
  const Vec3d product = cross(a, b - a);
  // Between the ends |a||b| + a·b cancels, but not its product with |a||b| − a·b.
  const double over = cosine > 0 ? 1 / (lengths + cosine) : (lengths - cosine) / norm2(product);
  return (norm(a) + norm(b)) / lengths * over * product;
}

/// 4π E, E = −∇φ being the field of a triangle with dipoles of density 1 along its normal: that of
/// a current round it [Biot and Savart].
FMBEM_HD inline Vec3d field_round(const Triangle& t, Vec3d x) {
  Vec3d sum{};
  for (int k = 0; k < 3; ++k) sum += field_of_current(t.vertex[k] - x, t.vertex[(k + 1) % 3] - x);
  return sum;
}

/// Whether x is closer to edge k than the tolerance.
FMBEM_HD inline bool is_on_edge(const Triangle& t, int k, Vec3d x, double tolerance) {
  const Vec3d d = x - t.vertex[k];
  const double along = fmin(fmax(dot(d, t.tangent[k]), 0.0), t.length[k]);
  return norm(d - along * t.tangent[k]) <= tolerance;
}
FMBEM_HD inline bool is_on_edge(const Triangle& t, Vec3d x, double tolerance) {
  return is_on_edge(t, 0, x, tolerance) || is_on_edge(t, 1, x, tolerance) ||
         is_on_edge(t, 2, x, tolerance);
}

/// How much of a small circle about x, a point of the triangle, lies in it: all in its interior,
/// half on an edge, and at a vertex its angle of 2π.
FMBEM_HD inline double part_about(const Triangle& t, Vec3d x, double tolerance) {
  double part = 1;
  for (int k = 0; k < 3; ++k) {
    if (!is_on_edge(t, k, x, tolerance)) continue;
    part = 0.5;
    if (norm(x - t.vertex[k]) > tolerance) continue;
    const Vec3d a = t.tangent[k], b = -1.0 * t.tangent[(k + 2) % 3];
    return 2 * inv_4pi * atan2(norm(cross(a, b)), dot(a, b));
  }
  return part;
}

}  // namespace fmbem
