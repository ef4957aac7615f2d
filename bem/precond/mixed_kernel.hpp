#pragma once

// The arithmetic of the inverse of mixed rows, shared by CPU and GPU.
#include <cmath>

#include "fmbem/bem/precond/cluster_kernel.hpp"

namespace fmbem {

/// The mean row, weighted by area, of a node of a tree over panels with rows α V + β K' + γ. As
/// unknowns are densities and equations mean rows, the smooth kernel's entries are
///
///     e(k, l) = A_l/(4π) (α_k/D − m_k·d/D³),   d = c_k − c_l,   D² = d² + s_k² + s_l²,
///
/// between nodes; of a node with itself α_k A_k/(4π √(2 s_k²)) and `own`.
struct MeanRow {
  double alpha;
  Vec3d flux;  ///< m, the mean of βn
  double own;  ///< the mean of γ, and what K' makes of the charge of each half at the other
};

/// s² of the point that stands for a node. A long node's own smear is that across its segment; the
/// point's is such that g(k, k) is the same.
FMBEM_HD inline double point_smear2(const Cluster& node) {
  return node.is_long() ? smear2_of(inv_4pi * own_potential(node)) : node.smear2;
}

/// e(k, l) and e(l, k) of different nodes.
struct MutualEntries {
  double kl, lk;
};

FMBEM_HD inline MutualEntries smooth_entries(const Cluster& k, const MeanRow& of_k,
                                             const Cluster& l, const MeanRow& of_l) {
  const Vec3d d = k.centroid - l.centroid;
  const double inverse2 = 1 / (norm2(d) + point_smear2(k) + point_smear2(l)),
               factor = inv_4pi * std::sqrt(inverse2);
  return {factor * l.area * (of_k.alpha - dot(of_k.flux, d) * inverse2),
          factor * k.area * (of_l.alpha + dot(of_l.flux, d) * inverse2)};
}

/// e(k, k).
FMBEM_HD inline double own_entry(const Cluster& k, const MeanRow& of_k) {
  return of_k.alpha * inv_4pi * k.area * own_potential(k) + of_k.own;
}

FMBEM_HD inline MeanRow mean_row_of_halves(const Cluster& l, MeanRow of_l, const Cluster& r,
                                           MeanRow of_r) {
  const double area = l.area + r.area, left = l.area / area, right = r.area / area;
  MeanRow of_fluxes_l = of_l, of_fluxes_r = of_r;
  of_fluxes_l.alpha = of_fluxes_r.alpha = 0;
  const MutualEntries fluxes = smooth_entries(l, of_fluxes_l, r, of_fluxes_r);
  return {left * of_l.alpha + right * of_r.alpha, left * of_l.flux + right * of_r.flux,
          left * (of_l.own + fluxes.kl) + right * (of_r.own + fluxes.lk)};
}

/// α V + β K' of a density 1 on panel `from` at panel `to`: the potential at its centroid, and the
/// mean flux through it, for which `from` is lumped at its centroid.
FMBEM_HD inline double exact_entry(double alpha, double beta, const Triangle& to,
                                   const Triangle& from) {
  double entry = 0;
  if (alpha != 0) entry += alpha * triangle_potential(from, to.centroid);
  if (beta != 0) entry += beta * (from.area / to.area) * triangle_double_layer(to, from.centroid);
  return entry;
}

/// A mean row in a leaf's coordinates, where the unit of length is 1/unit.
struct PlacedRow {
  float alpha, flux_x, flux_y, flux_z;
};

FMBEM_HD inline PlacedRow place_row(const MeanRow& row, double unit) {
  return {static_cast<float>(row.alpha / unit), static_cast<float>(row.flux.x),
          static_cast<float>(row.flux.y), static_cast<float>(row.flux.z)};
}

// In the same coordinates: the smear of the point that stands for a node, what entries in its
// column have as a factor, and the entry on the diagonal.
FMBEM_HD inline float placed_point_smear2(const Cluster& node, double unit) {
  return static_cast<float>(unit * unit * point_smear2(node));
}
FMBEM_HD inline float placed_strength(const Cluster& node, double unit) {
  return static_cast<float>(inv_4pi * unit * unit * node.area);
}
FMBEM_HD inline float placed_own_entry(const Cluster& node, MeanRow row) {
  row.alpha *= node.is_panel() ? 1 + rounding_of_sums : stiffer;
  return static_cast<float>(own_entry(node, row));
}

/// e(k, l) over A_l/(4π) from d and s_k² + s_l².
FMBEM_HD inline float mixed_entry(const PlacedRow& of_k, float x, float y, float z, float smear2) {
  const float r2 = x * x + y * y + z * z + smear2;
#ifdef __CUDA_ARCH__
  const float inverse = rsqrtf(r2), inverse2 = inverse * inverse;  // without branches
#else
  const float inverse2 = 1 / r2, inverse = std::sqrt(inverse2);
#endif
  return inverse * (of_k.alpha - (of_k.flux_x * x + of_k.flux_y * y + of_k.flux_z * z) * inverse2);
}

}  // namespace fmbem
