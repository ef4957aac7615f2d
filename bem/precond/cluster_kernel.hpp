#pragma once

// The arithmetic of the cluster inverse, of CPU and GPU.
#include <cmath>
#include <cstdint>

#include "fmbem/bem/geometry/triangle.hpp"

namespace fmbem {

/// Panels closer than this many times their radii together take exact entries: the smooth kernel
/// knows nothing of their shapes, which matters for slivers.
inline constexpr double touching = 0.7;
/// Longest side over height from which a panel is a sliver. The potential at the centroid of one is
/// not its mean potential, and a matrix that is made symmetric may be nearly singular.
inline constexpr double sliver_aspect = 8;
/// What the opening is multiplied by as long as there are too many unknowns, and where that ends.
inline constexpr double coarser = 1.15, largest_opening = 100;
/// What the own entries are multiplied by where a system is not positive definite.
inline constexpr float stiffer = 1.01F;

/// A node of a tree over panels: a panel, or two nodes. What it tells of charge spread over it is
/// what the smooth kernel needs,
///
///     g(k, l) = 1/(4π) / √(|c_k − c_l|² + s_k² + s_l²),   g(k, k) = 1/(4π) / √(2 s_k²),
///
/// the mean potential on node k of a unit charge on node l: s_k is such that g(k, k) is that of a
/// panel, and of a cluster what g makes of its two halves.
struct Cluster {
  std::int32_t begin, end;   ///< its panels
  std::int32_t left, right;  ///< nodes; −1 for a panel
  double area;
  Vec3d centroid;
  double radius;  ///< largest distance of a panel's end from the centroid
  double smear2;  ///< s²

  FMBEM_HD bool is_panel() const { return left < 0; }
  FMBEM_HD std::int32_t size() const { return end - begin; }
};

/// Behind the last descendant of node k, in preorder.
FMBEM_HD inline std::int32_t descendants_end(const Cluster& node, std::int32_t k) {
  return k + 2 * node.size() - 1;
}

/// The smear whose own g(k, k) is g.
FMBEM_HD inline double smear2_of(double g) {
  const double distance = inv_4pi / g;
  return 0.5 * distance * distance;
}

/// Area, centroid, radius and smear of panel t.
FMBEM_HD inline void measure_panel(const Triangle& t, Cluster& node) {
  node.area = t.area;
  node.centroid = t.centroid;
  node.radius = t.radius;
  node.smear2 = smear2_of(triangle_potential(t, t.centroid) / t.area);
}

/// Area, centroid and smear of a node from its halves l and r.
FMBEM_HD inline void measure_halves(const Cluster& l, const Cluster& r, Cluster& node) {
  node.area = l.area + r.area;
  const double left = l.area / node.area, right = r.area / node.area;
  node.centroid = left * l.centroid + right * r.centroid;
  const double own =
      left * left / std::sqrt(2 * l.smear2) + right * right / std::sqrt(2 * r.smear2);
  const double mutual =
      2 * left * right / std::sqrt(norm2(l.centroid - r.centroid) + l.smear2 + r.smear2);
  node.smear2 = smear2_of(inv_4pi * (own + mutual));
}

/// A leaf as the rule sees it by which other nodes stay closed.
struct LeafView {
  std::int32_t begin, end;
  Vec3d low, high;     ///< bounds of the panels' centroids
  double mean_radius;  ///< of the panels

  FMBEM_HD double distance(Vec3d x) const {
    double sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double out = fmax(fmax(low[axis] - x[axis], x[axis] - high[axis]), 0.0);
      sum += out * out;
    }
    return std::sqrt(sum);
  }
};

/// Of panel[i] the centroid and the radius are asked for.
template <class PanelArray>
FMBEM_HD inline LeafView view_leaf(const PanelArray& panel, std::int32_t begin, std::int32_t end) {
  LeafView leaf{begin, end, panel[begin].centroid, panel[begin].centroid, 0};
  for (std::int32_t i = begin; i < end; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      leaf.low[axis] = fmin(leaf.low[axis], panel[i].centroid[axis]);
      leaf.high[axis] = fmax(leaf.high[axis], panel[i].centroid[axis]);
    }
    leaf.mean_radius += panel[i].radius / (end - begin);
  }
  return leaf;
}

/// What becomes of a node on the way to the cut of a leaf.
enum class CutStep { skip, take, open };

/// Skips what the leaf holds, takes panels and clusters of a radius up to opening times their
/// distance plus nearness times that of the leaf's panels, opens others.
FMBEM_HD inline CutStep cut_step(const LeafView& leaf, const Cluster& node, double opening,
                                 double nearness) {
  if (node.begin >= leaf.begin && node.end <= leaf.end) return CutStep::skip;
  const bool holds_leaf = node.begin < leaf.end && leaf.begin < node.end;
  const bool closed =
      node.is_panel() || (!holds_leaf && node.radius <= opening * leaf.distance(node.centroid) +
                                                            nearness * leaf.mean_radius);
  return closed ? CutStep::take : CutStep::open;
}

FMBEM_HD inline bool is_sliver(const Triangle& t) {
  const double longest = fmax(fmax(t.length[0], t.length[1]), t.length[2]);
  return longest * longest > sliver_aspect * 2 * t.area;
}

/// A node in coordinates from a leaf's centroid in units of its radius, in which single precision
/// has the range; scale brings the diagonal to 1.
struct PlacedCluster {
  float x, y, z, smear2, scale;
};

FMBEM_HD inline PlacedCluster place_cluster(const Cluster& node, Vec3d origin, double unit) {
  const Vec3d d = unit * (node.centroid - origin);
  PlacedCluster placed;
  placed.x = static_cast<float>(d.x);
  placed.y = static_cast<float>(d.y);
  placed.z = static_cast<float>(d.z);
  placed.smear2 = static_cast<float>(unit * unit * node.smear2);
  placed.scale = std::sqrt(std::sqrt(2 * placed.smear2));
  return placed;
}

/// An entry off the diagonal by the smooth kernel.
FMBEM_HD inline float smooth_entry(const PlacedCluster& k, const PlacedCluster& l) {
  const float dx = k.x - l.x, dy = k.y - l.y, dz = k.z - l.z;
  return l.scale * k.scale / std::sqrt(dx * dx + dy * dy + dz * dz + l.smear2 + k.smear2);
}

/// Of two panels by their centroids and radii.
template <class Panel>
FMBEM_HD inline bool touch(const Panel& s, const Panel& t) {
  const double reach = touching * (s.radius + t.radius);
  return norm2(s.centroid - t.centroid) < reach * reach;
}

/// Of panels that touch: the potential at the centroid of the target of a charge on `source`; scale
/// is the product of both nodes'.
FMBEM_HD inline double exact_entry(Vec3d target, const Triangle& source, float scale, double unit) {
  return scale / (inv_4pi * unit) * triangle_potential(source, target) / source.area;
}

/// What takes row i of the inverse of a small system, beside the other node's scale, to that of V
/// times the extent of all panels.
FMBEM_HD inline float row_scale(float scale, double extent, double unit, double area) {
  return static_cast<float>(scale * extent / (inv_4pi * unit * area));
}

}  // namespace fmbem
