#include "fmbem/bem/geometry/panels.hpp"

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/cuda/sort_panels.hpp"
#include "fmbem/bem/geometry/panel_block.hpp"
#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/tree/morton.hpp"

namespace fmbem {

struct KeptAreas {
  std::once_flag are_found;
  Areas areas;
};

namespace {

Areas areas_where(std::int64_t n, const auto& area_of) {
  LargeVector<double> areas(n);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) areas[i] = area_of(i);
  return std::make_shared<const LargeVector<double>>(std::move(areas));
}

LargeVector<Vec3d> centroids_of(std::span<const Vec3d> vertices,
                                std::span<const std::array<int, 3>> triangles) {
  const auto n = static_cast<std::int64_t>(triangles.size());
  LargeVector<Vec3d> centroid(n);
#pragma omp parallel for
  for (std::int64_t i = 0; i < n; ++i) {
    const auto [a, b, c] = triangles[i];
    centroid[i] = centroid_of(vertices[a], vertices[b], vertices[c]);
  }
  return centroid;
}

struct PanelArrays {
  LargeVector<Vec3d> vertices;
  LargeVector<std::array<int, 3>> corners;
  LargeVector<std::int64_t> input_index;
  LargeVector<std::uint64_t> key;
  std::vector<std::int64_t> leaf_begin;
};

}  // namespace

Panels make_panels(const SurfaceMesh& mesh, Processor processor, int max_leaf) {
  FMBEM_REQUIRE(!mesh.triangles.empty(), "the mesh has no triangles");
  const auto n = static_cast<std::int64_t>(mesh.triangles.size());
  const auto n_vertices = static_cast<std::int64_t>(mesh.vertices.size());
  const auto [low, high] =
      coordinate_bounds(n_vertices, [&](std::int64_t k) { return mesh.vertices[k]; });

  Panels panels;
  panels.origin = low + 0.5 * (high - low);
  panels.extent = norm(high - low);
  const auto arrays = std::make_shared<PanelArrays>();
  arrays->vertices.resize(n_vertices);
#pragma omp parallel for
  for (std::int64_t k = 0; k < n_vertices; ++k)
    arrays->vertices[k] = mesh.vertices[k] - panels.origin;

  if (processor == Processor::gpu) {
    cuda::bem::SortedPanels sorted =
        cuda::bem::sort_panels(arrays->vertices, mesh.triangles, panels.extent);
    arrays->input_index = std::move(sorted.order);
    arrays->key = std::move(sorted.keys);
    panels.on_device = std::move(sorted.store);
  } else {
    MortonOrder sorted = morton_order(centroids_of(arrays->vertices, mesh.triangles));
    arrays->input_index = std::move(sorted.order);
    arrays->key = std::move(sorted.keys);
  }
  arrays->leaf_begin = octree_leaves(arrays->key, max_leaf);
  arrays->corners.resize(n);
#pragma omp parallel for
  for (std::int64_t k = 0; k < n; ++k) arrays->corners[k] = mesh.triangles[arrays->input_index[k]];

  panels.vertices = arrays->vertices;
  panels.corners = arrays->corners;
  panels.input_index = arrays->input_index;
  panels.key = arrays->key;
  panels.leaf_begin = arrays->leaf_begin;
  panels.arrays = arrays;
  panels.kept_areas = std::make_shared<KeptAreas>();
  return panels;
}

Areas areas_of(const Panels& panels, std::span<const std::int32_t> chosen) {
  KeptAreas& kept = *panels.kept_areas;
  std::call_once(kept.are_found, [&] {
    kept.areas = areas_where(static_cast<std::int64_t>(panels.size()),
                             [&](std::int64_t i) { return panels.area(i); });
  });
  if (chosen.empty()) return kept.areas;
  return areas_where(static_cast<std::int64_t>(chosen.size()),
                     [&](std::int64_t k) { return (*kept.areas)[chosen[k]]; });
}

LargeVector<Triangle> triangles_of(const Panels& panels, std::span<const std::int32_t> chosen) {
  const auto n = static_cast<std::int64_t>(count_of(chosen, panels.size()));
  LargeVector<Triangle> triangles(n);
#pragma omp parallel for
  for (std::int64_t i = 0; i < n; ++i) triangles[i] = panels.triangle(panel_of(chosen, i));
  return triangles;
}

std::vector<double> Panels::to_input_order(std::span<const double> values, double factor) const {
  FMBEM_REQUIRE(values.size() == size(),
                "there are " << size() << " panels, but " << values.size() << " values");
  std::vector<double> result(size());
#pragma omp parallel for
  for (std::size_t k = 0; k < size(); ++k) result[input_index[k]] = factor * values[k];
  return result;
}

std::vector<double> Panels::from_input_order(std::span<const double> values) const {
  FMBEM_REQUIRE(values.size() == size(),
                "there are " << size() << " panels, but " << values.size() << " values");
  std::vector<double> result(size());
#pragma omp parallel for
  for (std::size_t k = 0; k < size(); ++k) result[k] = values[input_index[k]];
  return result;
}

}  // namespace fmbem
