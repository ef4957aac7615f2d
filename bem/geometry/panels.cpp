#include "fmbem/bem/geometry/panels.hpp"

#include <algorithm>

#include "fmbem/fmm/base/bounds.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/tree/morton.hpp"

namespace fmbem {

Panels make_panels(const SurfaceMesh& mesh, int max_leaf) {
  FMBEM_REQUIRE(!mesh.triangles.empty(), "the mesh has no triangles");
  const auto n = static_cast<std::int64_t>(mesh.triangles.size());
  const auto [low, high] = coordinate_bounds(
      3 * n, [&](std::int64_t k) { return mesh.vertices[mesh.triangles[k / 3][k % 3]]; });

  Panels panels;
  panels.origin = low + 0.5 * (high - low);
  panels.extent = norm(high - low);

  const auto corner = [&](std::int64_t i, int k) {
    return mesh.vertices[mesh.triangles[i][k]] - panels.origin;
  };
  LargeVector<Vec3d> centroid(n);
#pragma omp parallel for
  for (std::int64_t i = 0; i < n; ++i)
    centroid[i] = centroid_of(corner(i, 0), corner(i, 1), corner(i, 2));

  MortonOrder morton = morton_order(centroid, max_leaf);
  panels.triangle.resize(n);
#pragma omp parallel for
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t i = morton.order[k];
    panels.triangle[k] = make_triangle(corner(i, 0), corner(i, 1), corner(i, 2));
  }
  panels.input_index = std::move(morton.order);
  panels.key = std::move(morton.keys);
  panels.leaf_begin = std::move(morton.leaf_begin);
  return panels;
}

std::vector<double> Panels::to_input_order(std::span<const double> values) const {
  FMBEM_REQUIRE(values.size() == size(),
                "there are " << size() << " panels, but " << values.size() << " values");
  std::vector<double> result(size());
  for (std::size_t k = 0; k < size(); ++k) result[input_index[k]] = values[k];
  return result;
}

std::vector<double> Panels::from_input_order(std::span<const double> values) const {
  FMBEM_REQUIRE(values.size() == size(),
                "there are " << size() << " panels, but " << values.size() << " values");
  std::vector<double> result(size());
  for (std::size_t k = 0; k < size(); ++k) result[k] = values[input_index[k]];
  return result;
}

}  // namespace fmbem
