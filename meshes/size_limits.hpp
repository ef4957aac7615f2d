#pragma once

#include <map>
#include <vector>

#include "fmbem/meshes/distance.hpp"
#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// Sizes that follow the geometry, in numbers of edges; 0 means no such rule. Figures:
/// docs/accuracy.md.
struct SizeRules {
  double per_turn = 14;    ///< edges along a full turn of a curved surface
  double per_extent = 24;  ///< edges along the diagonal of a body's box
  double per_width = 3;    ///< edges across a face, whose width is twice its area by its perimeter
  double per_gap = 1;      ///< edges along the gap to another body
  double smallest = 1. / 300;  ///< of the body's diagonal: the least size of widths and gaps
  double growth = 0.5;         ///< of sizes, by distance from where they have to be smaller
  double sharp = 0.5;          ///< radians between the normals of faces at an edge that is graded

  /// Rules by which nothing but the largest size and the grade limits sizes.
  static SizeRules none() { return {0, 0, 0, 0, 0}; }
};

/// The size that is exceeded nowhere, and where it comes from.
struct LargestSize {
  double size;
  SizeReason reason = SizeReason::box;
  double grade = 1;  ///< size at sharp edges over that elsewhere
};

/// A point of a face with the larger of its principal curvatures there, in 1/length.
struct CurvedPoint {
  Vec3d x;
  double curvature;
};

/// The sizes that a mesh needs, as a first, coarse one shows them.
///
/// A body is what is connected or in one group. The size at x on face s of body b is the least of:
/// the largest size, and those that the body's extent, the face's width, its curvature and the
/// distance to other bodies ask for by SizeRules. It grows gradually from small faces to their
/// neighbours, and is lowered towards sharp edges. Widths and gaps ask for no less than
/// SizeRules::smallest allows.
class SizeLimits {
 public:
  /// One size everywhere.
  explicit SizeLimits(const LargestSize& largest) : largest_(largest) {}
  /// surface_of [n triangles] are tags of faces, curvature [n triangles] is in 1/length; `points`
  /// add curvature that the mesh is too coarse to show.
  SizeLimits(const SurfaceMesh& coarse, const std::vector<int>& surface_of,
             const std::vector<double>& curvature, const std::vector<CurvedPoint>& points,
             const LargestSize& largest, const SizeRules& rules = {});

  bool uniform() const { return faces_.empty(); }
  /// The size at x on a face. O(log n).
  double at(int surface, Vec3d x) const { return why(surface, x, 0).size; }
  /// The same with its reason, for which the curvature there is needed, in 1/length.
  SizeLimit why(int surface, Vec3d x, double curvature) const;
  /// The smallest size that widths and gaps may ask for on any face; lowered at edges that are
  /// graded.
  double least() const;
  /// About how many triangles a mesh of these sizes has. The coarse mesh does not show those at a
  /// graded edge. Where the size is a + g x at the distance x, a unit of the edge's length has 4/√3
  /// ∫ dx/(a + g x)² = 4/(√3 g a) triangles on each face.
  double estimated_triangles(const SurfaceMesh& mesh, const std::vector<int>& surface_of) const;

 private:
  struct Face {
    int body;
    double extent, width, least;  ///< sizes
  };
  class Survey;

  double curved_size(double curvature) const;

  SizeRules rules_;
  LargestSize largest_;
  double graded_sides_ = 0;  ///< length of sharp edges, times the faces at each
  std::map<int, Face> faces_;
  BodyTree bodies_{{}}, edges_{{}}, small_{{}};
};

/// What limits the size of each triangle: SizeReason::file where its edges are not of the size
/// that was asked for: the geometry fixes its own subdivision, or Gmsh made others.
std::vector<SizeLimit> sizes_of_triangles(const SurfaceMesh& mesh,
                                          const std::vector<int>& surface_of,
                                          const std::vector<double>& curvature,
                                          const SizeLimits& limits);

/// The smallest size of each group for each reason, in that order.
std::vector<SizeLimit> smallest_sizes(const std::vector<SizeLimit>& of_triangles,
                                      const std::vector<int>& group_of);

}  // namespace fmbem
