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

/// Whether x is closer to one of the edges than the tolerance.
FMBEM_HD inline bool is_on_edge(const Triangle& t, Vec3d x, double tolerance) {
  for (int k = 0; k < 3; ++k) {
    const Vec3d d = x - t.vertex[k];
    const double along = fmin(fmax(dot(d, t.tangent[k]), 0.0), t.length[k]);
    if (norm(d - along * t.tangent[k]) <= tolerance) return true;
  }
  return false;
}

}  // namespace fmbem
