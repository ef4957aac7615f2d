#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/base/processor.hpp"
#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

namespace cuda::bem {
struct PanelStore;
}
struct PanelImages;
struct KeptAreas;

/// Panels of a surface mesh in Morton order of their centroids, one unknown each. Coordinates are
/// the mesh's, less `origin`. Copies share the arrays, so that each operator can have its own copy.
struct Panels {
  std::span<const Vec3d> vertices;              ///< [n_vertices], in the mesh's order
  std::span<const std::array<int, 3>> corners;  ///< [n], vertices of each panel
  std::span<const std::int64_t> input_index;    ///< [n], triangle of the mesh
  std::span<const std::uint64_t> key;           ///< [n], Morton keys of the centroids, ascending
  std::span<const std::int64_t> leaf_begin;     ///< [n_leaves + 1]: leaves of an octree
  Vec3d origin;                                 ///< centre of the bounding box
  double extent = 0;                            ///< diagonal of the bounding box
  std::shared_ptr<const void> arrays;           ///< what owns them
  std::shared_ptr<KeptAreas> kept_areas;        ///< for areas_of()
  /// What operators on the GPU need, in its memory, where panels were sorted there; else null.
  std::shared_ptr<const cuda::bem::PanelStore> on_device;
  /// What symmetry planes put behind them (panel_images.hpp), else null: operators, inverses and
  /// fields of the panels include it.
  std::shared_ptr<const PanelImages> images;

  std::size_t size() const { return corners.size(); }
  std::size_t leaves() const { return leaf_begin.size() - 1; }

  Vec3d vertex(std::size_t i, int k) const { return vertices[corners[i][k]]; }
  Vec3d centroid(std::size_t i) const {
    return centroid_of(vertex(i, 0), vertex(i, 1), vertex(i, 2));
  }
  double area(std::size_t i) const {
    return triangle_area(vertex(i, 0), vertex(i, 1), vertex(i, 2));
  }
  /// Made again for each call, as it takes 304 bytes.
  Triangle triangle(std::size_t i) const {
    return make_triangle(vertex(i, 0), vertex(i, 1), vertex(i, 2));
  }

  /// Values, times a factor, in the mesh's order from values in Morton order, and back.
  std::vector<double> to_input_order(std::span<const double> values, double factor = 1) const;
  std::vector<double> from_input_order(std::span<const double> values) const;
};

/// How far off a panel a point x, less the origin, may be that is meant to lie on it, after both
/// have been rounded.
inline double surface_rounding(const Panels& panels, Vec3d x) {
  return 4 * std::numeric_limits<double>::epsilon() *
         (panels.extent + norm(panels.origin) + norm(x));
}

/// Sorts the panels on the processor that operators will be on. The order is the same on either,
/// and GPU operators also take panels sorted on the CPU. Leaves hold at most max_leaf panels.
/// Throws InputError for a mesh without triangles.
Panels make_panels(const SurfaceMesh& mesh, Processor processor = Processor::cpu,
                   int max_leaf = 64);

using Areas = std::shared_ptr<const LargeVector<double>>;

/// The areas of the chosen panels, [chosen], or of all, which are found once and kept with the
/// panels: several objects of one problem need them, and those of ten million take 50 ms.
Areas areas_of(const Panels& panels, std::span<const std::int32_t> chosen = {});

/// The numbers of the chosen panels, or of all, for those who go through them again and again.
LargeVector<Triangle> triangles_of(const Panels& panels, std::span<const std::int32_t> chosen = {});

}  // namespace fmbem
