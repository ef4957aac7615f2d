#pragma once

// The arithmetic of the cluster inverse, of CPU and GPU.
#include <cmath>
#include <cstdint>

#include "fmbem/bem/geometry/triangle.hpp"

namespace fmbem {

/// Panels closer than this many times their radii together take exact entries: the smooth kernel
/// knows nothing of their shapes, which matters for slivers.
inline constexpr double touching = 0.7;
/// Of slivers those that are that many of their heights away, too.
inline constexpr double sliver_touching = 20;
/// Longest side over height from which a panel is a sliver. The potential at the centroid of one is
/// not its mean potential, and a matrix that is made symmetric may be nearly singular.
inline constexpr double sliver_aspect = 8;
/// What the opening is multiplied by as long as there are too many unknowns, and where that ends.
inline constexpr double coarser = 1.15, largest_opening = 100;
/// What the own entries are multiplied by where a system is not positive definite, and others
/// divided by where it need not be.
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
  Vec3d half{};   ///< of long panels: half of the segment over which the charge is spread, else 0

  FMBEM_HD bool is_panel() const { return left < 0; }
  FMBEM_HD bool is_long() const { return dot(half, half) > 0; }
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

FMBEM_HD inline int longest_edge_of(const Triangle& t) {
  int longest = 0;
  for (int k = 1; k < 3; ++k)
    if (t.length[k] > t.length[longest]) longest = k;
  return longest;
}
FMBEM_HD inline double longest_length(const Triangle& t) { return t.length[longest_edge_of(t)]; }
FMBEM_HD inline bool is_sliver(const Triangle& t) {
  const double longest = longest_length(t);
  return longest * longest > sliver_aspect * 2 * t.area;
}
/// The height of a sliver, the radius of another panel.
FMBEM_HD inline double panel_width(const Triangle& t) {
  return is_sliver(t) ? 2 * t.area / longest_length(t) : t.radius;
}

/// ∫ 1/√(s² + d²) ds over a segment, over its length: as edge_log_ratio(), the middle of the
/// segment being t ahead.
template <class T>
FMBEM_HD inline T mean_over_segment(T t, T half, T d2) {
  t = t < 0 ? -t : t;
  const T far = t + half, near = t - half, r_far = std::sqrt(far * far + d2),
          r_near = std::sqrt(near * near + d2);
  const T low = near > 0 ? near + r_near : d2 / (r_near - near);
  return std::log((far + r_far) / low) / (2 * half);
}

/// 4π times the potential at a place d from the middle of a segment, with so much added to squared
/// distances.
template <class T>
FMBEM_HD inline T segment_potential(Vec3<T> d, Vec3<T> half, T smear2) {
  const T h2 = dot(half, half);
  if (h2 == 0) return 1 / std::sqrt(dot(d, d) + smear2);
  // The part across is a vector, as the difference of squares would lose it in single precision.
  const T along = dot(d, half) / h2;
  return mean_over_segment(along * std::sqrt(h2), std::sqrt(h2), norm2(d - along * half) + smear2);
}

/// The smear of a node with that segment whose own g(k, k) is g.
FMBEM_HD inline double smear2_of(double g, Vec3d half) {
  const double h = norm(half);
  if (h == 0) return smear2_of(g);
  const double d = h / std::sinh(g / inv_4pi * h);
  return 0.5 * d * d;
}

/// Area, centroid, radius and smear of panel t. The charge of a long one is spread over a segment
/// of the same second moment.
FMBEM_HD inline void measure_panel(const Triangle& t, Cluster& node) {
  node.area = t.area;
  node.centroid = t.centroid;
  node.radius = t.radius;
  node.half = {};
  if (is_sliver(t)) {
    const int longest = longest_edge_of(t);
    double squares = 0;
    for (const Vec3d& vertex : t.vertex) {
      const double s = dot(vertex - t.centroid, t.tangent[longest]);
      squares += s * s;
    }
    node.half = std::sqrt(squares / 4) * t.tangent[longest];
  }
  node.smear2 = smear2_of(triangle_potential(t, t.centroid) / t.area, node.half);
}

/// Area, centroid and smear of a node from its halves l and r.
FMBEM_HD inline void measure_halves(const Cluster& l, const Cluster& r, Cluster& node) {
  node.area = l.area + r.area;
  const double left = l.area / node.area, right = r.area / node.area;
  node.centroid = left * l.centroid + right * r.centroid;
  const Vec3d apart = l.centroid - r.centroid;
  const double smear2 = l.smear2 + r.smear2;
  if (!l.is_long() && !r.is_long()) {
    const double own =
        left * left / std::sqrt(2 * l.smear2) + right * right / std::sqrt(2 * r.smear2);
    const double mutual = 2 * left * right / std::sqrt(norm2(apart) + l.smear2 + r.smear2);
    node.half = {};
    node.smear2 = smear2_of(inv_4pi * (own + mutual));
    return;
  }
  // Along its mean direction a node is as long as its halves, and as they are apart.
  const double sign = dot(l.half, r.half) < 0 ? -1 : 1;
  const Vec3d mean = left * l.half + sign * right * r.half;
  const double length = norm(mean), along = length > 0 ? dot(apart, mean) / length : 0;
  const double longer =
      length > 0 ? std::sqrt(1 + 3 * left * right * along * along / (length * length)) : 1;
  node.half = longer * mean;
  const auto own = [](const Cluster& c) { return segment_potential({}, c.half, 2 * c.smear2); };
  const double mutual =
      0.5 * (segment_potential(apart, l.half, smear2) + segment_potential(apart, r.half, smear2));
  node.smear2 = smear2_of(
      inv_4pi * (left * left * own(l) + right * right * own(r) + 2 * left * right * mutual),
      node.half);
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
  if (node.is_long()) {
    const Vec3d half = unit * node.half;
    placed.scale = static_cast<float>(
        1 / std::sqrt(segment_potential({}, half, 2 * unit * unit * node.smear2)));
  }
  return placed;
}

FMBEM_HD inline Vec3<float> place_half(const Cluster& node, double unit) {
  return {static_cast<float>(unit * node.half.x), static_cast<float>(unit * node.half.y),
          static_cast<float>(unit * node.half.z)};
}

/// An entry off the diagonal by the smooth kernel.
FMBEM_HD inline float smooth_entry(const PlacedCluster& k, const PlacedCluster& l) {
  const float dx = k.x - l.x, dy = k.y - l.y, dz = k.z - l.z;
  return l.scale * k.scale / std::sqrt(dx * dx + dy * dy + dz * dz + l.smear2 + k.smear2);
}

/// The same where some nodes are long: the potential at k of the charge of l, whose segment it is.
/// A little less of it: of two nodes on sheets that are a thousandth of their radii apart, entries
/// are those of the diagonal but for rounding, and elimination makes anything of the difference.
FMBEM_HD inline float segment_entry(const PlacedCluster& k, const PlacedCluster& l,
                                    Vec3<float> half_l) {
  return l.scale * k.scale / stiffer *
         segment_potential(Vec3<float>{k.x - l.x, k.y - l.y, k.z - l.z}, half_l,
                           l.smear2 + k.smear2);
}

/// Of two panels by their centroids and radii.
template <class Panel>
FMBEM_HD inline bool touch(const Panel& s, const Panel& t) {
  const double reach = touching * (s.radius + t.radius);
  return norm2(s.centroid - t.centroid) < reach * reach;
}

/// Whether two panels take exact entries: those that touch, of slivers those that are that close
/// across one of them, as segments do for others.
FMBEM_HD inline bool triangles_touch(const Triangle& s, const Triangle& t) {
  if (!touch(s, t)) return false;
  if (!is_sliver(s) && !is_sliver(t)) return true;
  const double reach = sliver_touching * (panel_width(s) + panel_width(t));
  const auto is_close = [&](Vec3d x, const Triangle& sliver) {
    const Vec3d d = x - sliver.centroid, along = sliver.tangent[longest_edge_of(sliver)];
    const double at = dot(d, along), out = fmax(0.0, fabs(at) - 0.5 * longest_length(sliver));
    return norm2(d - at * along) + out * out < reach * reach;
  };
  return (is_sliver(t) && is_close(s.centroid, t)) || (is_sliver(s) && is_close(t.centroid, s));
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
