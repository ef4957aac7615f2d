#pragma once

// The arithmetic of the cluster inverse, shared by CPU and GPU.
#include <cmath>
#include <cstdint>

#include "fmbem/bem/geometry/strip.hpp"

namespace fmbem {

/// Panels closer than this many times the sum of their radii take exact entries, as the smooth
/// kernel knows nothing of their shapes.
inline constexpr double touching = 0.7;
/// Long panels take them if they are at most that many heights apart.
inline constexpr double long_touching = 6;
/// The factor of the radius of a cluster of long panels, as the potential beside them falls only
/// like a logarithm.
inline constexpr double long_closer = 1.75;
/// The factor of the opening as long as there are too many unknowns, and the opening at which that
/// ends.
inline constexpr double coarser = 1.15, largest_opening = 100;
/// Leaves that may be halved are halved where an opening that is this much larger, one step, does
/// not suffice.
inline constexpr double much_coarser = 1.2;
/// The factor of own entries where a system is not positive definite; other entries are divided by
/// it where it need not be.
inline constexpr float stiffer = 1.01F;
/// The error of a row's sums in single precision; panels' own entries are raised by it where it
/// makes a system indefinite.
inline constexpr float rounding_of_sums = 1e-5F;

/// A node of a tree over panels: a panel, or two nodes. Of the charge spread over it the smooth
/// kernel knows
///
///     g(k, l) = 1/(4π) / √(|c_k − c_l|² + s_k² + s_l²),   g(k, k) = 1/(4π) / √(2 s_k²),
///
/// the mean potential on node k of a unit charge on node l. The smear s_k is such that g(k, k) is
/// right for a panel, and for a cluster is what g gives between its two halves.
struct Cluster {
  std::int32_t begin, end;   ///< its panels, or their places
  std::int32_t left, right;  ///< nodes; −1 for a panel
  double area;
  Vec3d centroid;
  double radius;  ///< largest distance of a panel's end from the centroid; of long ones across
  double smear2;  ///< s²
  /// For long panels the segment over which the charge is spread, from −half to half about its
  /// middle, with density 1 + tilt at the end and 1 − tilt at the beginning; else 0.
  Vec3d half{};
  double tilt = 0;

  FMBEM_HD bool is_panel() const { return left < 0; }
  FMBEM_HD bool is_long() const { return dot(half, half) > 0; }
  /// Its place for the rule that opens nodes: the middle of the segment. The two triangles of a
  /// long cell are at the same place, although their centroids are a third of their length apart.
  FMBEM_HD Vec3d place() const { return centroid - tilt / 3 * half; }
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

/// The height of a long panel, the radius of another.
FMBEM_HD inline double panel_width(const Triangle& t) {
  return is_long(t) ? height_of(t) : t.radius;
}

/// 4π times the potential of a charge spread over a segment, d from its centroid, with this much
/// added to squared distances. The mean of 1/r over the segment is as in edge_log_ratio(). From
/// far_away half lengths on it is that of a point, since ratios near 1 have no digits left in
/// single precision.
template <class T>
FMBEM_HD inline T segment_potential(Vec3<T> d, Vec3<T> half, T tilt, T smear2) {
  constexpr T far_away = 30;
  const T h2 = dot(half, half), r2 = dot(d, d) + smear2, h = std::sqrt(h2);
  // The part across is a vector, as the difference of squares would lose it in single precision.
  const T of_centroid = dot(d, half) / h2, d2 = norm2(d - of_centroid * half) + smear2;
  const T of_middle = of_centroid + tilt / 3, turn = of_middle < 0 ? -tilt : tilt,
          t = of_middle < 0 ? -of_middle : of_middle;
  const T far = (t + 1) * h, near = (t - 1) * h, r_far = std::sqrt(far * far + d2),
          r_near = std::sqrt(near * near + d2);
  const T low = near > 0 ? near + r_near : d2 / (r_near - near);
  const T mean = std::log((far + r_far) / low) / (2 * h);
  const T sum = mean + turn * t * (mean - 2 / (r_far + r_near));
  return r2 > far_away * far_away * h2 ? 1 / std::sqrt(r2) : sum;
}

/// Half the length of the even segment that has the same charge density near the centroid.
FMBEM_HD inline double even_half(const Cluster& node) {
  return norm(node.half) / (1 + node.tilt * node.tilt / 3);
}

/// The smear of a node with that even segment whose own g(k, k) is g, and back.
FMBEM_HD inline double smear2_of(double g, double half) {
  if (half == 0) return smear2_of(g);
  const double d = half / std::sinh(g / inv_4pi * half);
  return 0.5 * d * d;
}
FMBEM_HD inline double own_potential(const Cluster& node) {
  const double s = std::sqrt(2 * node.smear2), half = even_half(node);
  return half == 0 ? 1 / s : std::asinh(half / s) / half;
}

/// Spreads the charge of a node over a segment along `along`, given its middle's distance from the
/// centroid and the variance about the centroid.
FMBEM_HD inline void spread(Cluster& node, Vec3d along, double from_middle, double variance) {
  const double half = std::sqrt(3 * (variance + from_middle * from_middle));
  node.half = half * along;
  node.tilt = fmax(-1.0, fmin(3 * from_middle / half, 1.0));
}

/// Area, centroid, radius and smear of panel t. The segment of a long panel has the middle of its
/// longest edge, where a right triangle spread along that edge has all of its charge.
FMBEM_HD inline void measure_panel(const Triangle& t, Cluster& node) {
  node.area = t.area;
  node.centroid = t.centroid;
  node.radius = panel_width(t);
  node.half = {};
  node.tilt = 0;
  if (is_long(t)) {
    const int edge = longest_edge_of(t);
    const Vec3d along = t.tangent[edge];
    double squares = 0;
    for (const Vec3d& vertex : t.vertex) {
      const double s = dot(vertex - t.centroid, along);
      squares += s * s;
    }
    spread(node, along, dot(t.centroid - t.vertex[edge], along) - 0.5 * t.length[edge],
           squares / 12);
  }
  node.smear2 = smear2_of(triangle_potential(t, t.centroid) / t.area, even_half(node));
}

/// What balls about both halves reach from the node's place.
FMBEM_HD inline double radius_of_halves(const Cluster& l, const Cluster& r, const Cluster& node) {
  return fmax(norm(l.place() - node.place()) + l.radius, norm(r.place() - node.place()) + r.radius);
}

/// Area, centroid and smear of a node from its halves l and r, and an upper bound of its radius;
/// that of one that is not long is measured afterwards.
FMBEM_HD inline void measure_halves(const Cluster& l, const Cluster& r, Cluster& node) {
  node.area = l.area + r.area;
  const double left = l.area / node.area, right = r.area / node.area;
  node.centroid = left * l.centroid + right * r.centroid;
  const Vec3d apart = l.centroid - r.centroid;
  const double smear2 = l.smear2 + r.smear2;
  node.half = {};
  node.tilt = 0;
  if (!l.is_long() && !r.is_long()) {
    const double own =
        left * left / std::sqrt(2 * l.smear2) + right * right / std::sqrt(2 * r.smear2);
    const double mutual = 2 * left * right / std::sqrt(norm2(apart) + l.smear2 + r.smear2);
    node.smear2 = smear2_of(inv_4pi * (own + mutual));
    node.radius = radius_of_halves(l, r, node);
    return;
  }
  const double sign = dot(l.half, r.half) < 0 ? -1 : 1;
  const Vec3d sum = left * l.half + sign * right * r.half;
  const Vec3d along = sum / norm(sum);
  double variance = 0;
  const auto add = [&](const Cluster& c, double part) {
    const double half = dot(c.half, along), from = dot(c.centroid - node.centroid, along);
    variance += part * (half * half * (1.0 / 3 - c.tilt * c.tilt / 9) + from * from);
  };
  add(l, left);
  add(r, right);
  const Vec3d middle = left * l.place() + right * r.place();
  spread(node, along, dot(node.centroid - middle, along), variance);
  const double mutual = segment_potential(-1.0 * apart, l.half, l.tilt, smear2) +
                        segment_potential(apart, r.half, r.tilt, smear2);
  node.smear2 = smear2_of(inv_4pi * (left * left * own_potential(l) +
                                     right * right * own_potential(r) + left * right * mutual),
                          even_half(node));
  node.radius = radius_of_halves(l, r, node);
}

/// What the rule that opens nodes has to know of a leaf.
struct LeafView {
  std::int32_t begin, end;
  Vec3d low, high;     ///< bounds of the panels' places
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

FMBEM_HD inline LeafView view_leaf(const Cluster* nodes, std::int32_t leaf_node) {
  const Cluster& leaf = nodes[leaf_node];
  LeafView view{leaf.begin, leaf.end, leaf.place(), leaf.place(), 0};
  bool is_first = true;
  for (std::int32_t k = leaf_node; k < descendants_end(leaf, leaf_node); ++k) {
    if (!nodes[k].is_panel()) continue;
    const Vec3d place = nodes[k].place();
    for (int axis = 0; axis < 3; ++axis) {
      view.low[axis] = is_first ? place[axis] : fmin(view.low[axis], place[axis]);
      view.high[axis] = is_first ? place[axis] : fmax(view.high[axis], place[axis]);
    }
    is_first = false;
    view.mean_radius += nodes[k].radius / leaf.size();
  }
  return view;
}

/// What happens to a node on the way to the cut of a leaf.
enum class CutStep { skip, take, open };

/// Skips nodes that the leaf holds. Takes panels, and clusters whose radius is at most opening
/// times their distance plus, for short panels, nearness times the radius of the leaf's panels.
/// Opens all others.
FMBEM_HD inline CutStep cut_step(const LeafView& leaf, const Cluster& node, double opening,
                                 double nearness) {
  if (node.begin >= leaf.begin && node.end <= leaf.end) return CutStep::skip;
  const bool holds_leaf = node.begin < leaf.end && leaf.begin < node.end;
  // The long panels of a leaf have many different heights. Opposite the finest of them a close
  // sheet has to be as open as the leaf is: the charges of both all but cancel, and have to be in
  // the same places.
  const double radius = node.is_long() ? long_closer * node.radius : node.radius;
  const double near = node.is_long() ? 0 : nearness * leaf.mean_radius;
  const bool closed =
      node.is_panel() || (!holds_leaf && radius <= opening * leaf.distance(node.place()) + near);
  return closed ? CutStep::take : CutStep::open;
}

/// A node in coordinates from a leaf's centroid, in units of the leaf's radius, which single
/// precision can hold. scale brings the diagonal to 1.
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
  if (node.is_long()) placed.scale = static_cast<float>(std::sqrt(unit / own_potential(node)));
  return placed;
}

/// The segment of a node in the same units.
struct PlacedSegment {
  Vec3<float> half;
  float tilt;
};

FMBEM_HD inline PlacedSegment place_segment(const Cluster& node, double unit) {
  const Vec3d half = unit * node.half;
  return {{static_cast<float>(half.x), static_cast<float>(half.y), static_cast<float>(half.z)},
          static_cast<float>(node.tilt)};
}

/// An entry off the diagonal by the smooth kernel.
FMBEM_HD inline float smooth_entry(const PlacedCluster& k, const PlacedCluster& l) {
  const float dx = k.x - l.x, dy = k.y - l.y, dz = k.z - l.z;
  return l.scale * k.scale / std::sqrt(dx * dx + dy * dy + dz * dz + l.smear2 + k.smear2);
}

/// The same where some nodes are long: the potential at k of the charge of l, and a little less of
/// it. Two nodes on sheets that are a thousandth of their radii apart have the same entry off and
/// on the diagonal but for rounding, from which elimination could make anything.
FMBEM_HD inline float segment_entry(const PlacedCluster& k, const PlacedCluster& l,
                                    const PlacedSegment& of_l) {
  return l.scale * k.scale / stiffer *
         segment_potential(Vec3<float>{k.x - l.x, k.y - l.y, k.z - l.z}, of_l.half, of_l.tilt,
                           l.smear2 + k.smear2);
}

/// Whether two panels are close, by their centroids and radii.
template <class Panel>
FMBEM_HD inline bool touch(const Panel& s, const Panel& t) {
  const double reach = touching * (s.radius + t.radius);
  return norm2(s.centroid - t.centroid) < reach * reach;
}

/// Whether a point is close to the longest edge of a triangle.
FMBEM_HD inline bool close_to_edge(Vec3d x, const Triangle& t, double reach) {
  const int edge = longest_edge_of(t);
  const Vec3d d = x - t.vertex[edge], along = t.tangent[edge];
  const double at = fmin(fmax(dot(d, along), 0.0), t.length[edge]);
  return norm2(d - at * along) < reach * reach;
}

/// Whether two panels take exact entries: those that touch. If one is long only those close to its
/// longest edge do, as the segment serves the others.
FMBEM_HD inline bool triangles_touch(const Triangle& s, const Triangle& t) {
  if (!touch(s, t)) return false;
  if (!is_long(s) && !is_long(t)) return true;
  const double reach = long_touching * (panel_width(s) + panel_width(t));
  return (is_long(t) && close_to_edge(s.centroid, t, reach)) ||
         (is_long(s) && close_to_edge(t.centroid, s, reach));
}

/// The entry of panels that touch: the potential at the target's centroid of a charge on `source`.
/// scale is the product of both nodes'.
FMBEM_HD inline double exact_entry(Vec3d target, const Triangle& source, float scale, double unit) {
  return scale / (inv_4pi * unit) * triangle_potential(source, target) / source.area;
}

/// The factor that takes row i of a small system's inverse, beside the other node's scale, to that
/// of V times the extent of all panels.
FMBEM_HD inline float row_scale(float scale, double extent, double unit, double area) {
  return static_cast<float>(scale * extent / (inv_4pi * unit * area));
}

}  // namespace fmbem
