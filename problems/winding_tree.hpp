#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {

/// Tells which points a closed surface encloses, by how often it winds round them: 1 inside, 0
/// outside. Of clusters of panels far from a point two terms of Taylor's series about their
/// centroid c count, as in [Barill, Dickson, Schmidt, Levin and Jacobson 2018, ACM Trans. Graph.
/// 37], with A = ∫ n dS, Q = ∫ n (y − c)ᵀ dS and d = c − x:
///
///     4π w(x) = Σ A·d/|d|³ + tr Q/|d|³ − 3 dᵀ Q d/|d|⁵ + Σ solid angles of panels close by.
///
/// What that leaves out of 4π w is at most Σ 3 M/(|d| − r)⁴, M = ∫ |y − c|² dS and r the cluster's
/// radius, since third derivatives of 1/ρ are no larger than 6/ρ⁴. The cluster that leaves out most
/// is opened until w is farther from ½ than that.
class WindingTree {
 public:
  /// `part`: panels of one surface, ascending. The panels must outlive it. O(n).
  WindingTree(const Panels& panels, std::span<const std::int32_t> part);

  /// Whether it encloses a point, less the panels' origin. O(log n) but for points that are far
  /// closer to the surface than a panel's size, which may take O(n).
  bool encloses(Vec3d x) const;

 private:
  struct Bounds {
    Vec3d low{1e300, 1e300, 1e300}, high{-1e300, -1e300, -1e300};
    void add(Vec3d other_low, Vec3d other_high);
    double farthest_from(Vec3d x) const;
  };
  struct Node {
    Bounds bounds;
    Vec3d centroid, area_vector;
    std::array<Vec3d, 3> moment;              ///< Q, its columns
    double area = 0, spread = 0, radius = 0;  ///< spread: M, at most
    void add_moment(Vec3d of_area, Vec3d from_centroid);
  };
  /// What a cluster counts by its series, and what that leaves out at most.
  struct Part {
    std::size_t node;
    double value, error;
  };

  std::size_t nodes() const { return nodes_.size(); }
  bool is_leaf(std::size_t k) const { return 2 * k + 1 >= nodes(); }
  void measure_leaf(std::size_t k);
  void measure_halves(std::size_t k);
  Part part(std::size_t k, Vec3d x) const;
  /// The solid angles of a leaf's panels, over 4π.
  double of_panels(std::size_t leaf, Vec3d x) const;
  /// The panels of a leaf.
  std::span<const std::int32_t> panels_of(std::size_t k) const;

  const Panels& panels_;
  std::span<const std::int32_t> part_;
  std::size_t leaves_ = 1;   ///< a power of two
  LargeVector<Node> nodes_;  ///< node k has the halves 2k + 1 and 2k + 2
};

}  // namespace fmbem
