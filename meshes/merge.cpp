#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "fmbem/meshes/clean.hpp"
#include "fmbem/meshes/shape.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

/// The distance within which each vertex is merged: one number for all, or one for each.
std::vector<double> merge_distances(const SurfaceMesh& mesh, MergeDistance distance,
                                    double diagonal) {
  if (distance == MergeDistance::box) return {1e-9 * diagonal};
  std::vector<double> shortest(mesh.vertices.size(), diagonal);
  for (const auto& t : mesh.triangles)
    for (int k = 0; k < 3; ++k) {
      const int a = t[k], b = t[(k + 1) % 3];
      const double length = norm(mesh.vertices[a] - mesh.vertices[b]);
      shortest[a] = std::min(shortest[a], length);
      shortest[b] = std::min(shortest[b], length);
    }
  for (double& d : shortest) d *= 1e-6;
  return shortest;
}

struct CellEntry {
  std::uint64_t cell;
  int vertex;
};

/// Every vertex, in the cell that holds it and in those that its distance reaches into, sorted by
/// cell. Cells are far larger than the distance, so there is little more than one entry for each
/// vertex.
std::vector<CellEntry> sort_into_cells(const SurfaceMesh& mesh, Vec3d corner, double side,
                                       double reach) {
  std::vector<CellEntry> entries;
  entries.reserve(mesh.vertices.size() + mesh.vertices.size() / 8);
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    std::uint64_t from[3], to[3];
    for (int axis = 0; axis < 3; ++axis) {
      const double x = mesh.vertices[v][axis] - corner[axis];
      from[axis] = static_cast<std::uint64_t>((x - reach) / side);
      to[axis] = static_cast<std::uint64_t>((x + reach) / side);
    }
    for (std::uint64_t i = from[0]; i <= to[0]; ++i)
      for (std::uint64_t j = from[1]; j <= to[1]; ++j)
        for (std::uint64_t k = from[2]; k <= to[2]; ++k)
          entries.push_back({i << 42 | j << 21 | k, static_cast<int>(v)});
  }
  std::sort(entries.begin(), entries.end(), [](const CellEntry& a, const CellEntry& b) {
    return a.cell != b.cell ? a.cell < b.cell : a.vertex < b.vertex;
  });
  return entries;
}

}  // namespace

void merge_duplicate_vertices(SurfaceMesh& mesh, MergeDistance distance) {
  const Box box = bounding_box(mesh);
  const double diagonal = norm(box.max - box.min);
  const std::vector<double> distances = merge_distances(mesh, distance, diagonal);
  const auto reach_of = [&](int v) { return distances.size() == 1 ? distances[0] : distances[v]; };
  const double reach = *std::max_element(distances.begin(), distances.end());

  std::vector<int> first(mesh.vertices.size());  // union-find; the root is the first vertex
  std::iota(first.begin(), first.end(), 0);
  const auto root = [&](int v) {
    while (first[v] != v) v = first[v] = first[first[v]];
    return v;
  };
  // At most 2^20 cells along an axis, which 21 bits hold. The odd offset keeps the planes of
  // structured meshes away from the cells' faces.
  const double side = std::max(diagonal / 0xfffff, 4 * reach);
  const Vec3d corner = box.min - 0.377 * side * Vec3d{1, 1, 1};
  std::vector<CellEntry> entries;
  if (diagonal > 0) entries = sort_into_cells(mesh, corner, side, reach);
  const auto x_of = [&](const CellEntry& e) { return mesh.vertices[e.vertex].x; };
  for (std::size_t begin = 0, end; begin < entries.size(); begin = end) {
    end = begin + 1;
    while (end < entries.size() && entries[end].cell == entries[begin].cell) ++end;
    // Within a cell, a sweep along x: on a strongly graded mesh one cell may hold many vertices.
    if (end - begin > 2)
      std::sort(entries.begin() + std::ptrdiff_t(begin), entries.begin() + std::ptrdiff_t(end),
                [&](const CellEntry& a, const CellEntry& b) { return x_of(a) < x_of(b); });
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t j = i + 1; j < end; ++j) {
        if (std::abs(x_of(entries[j]) - x_of(entries[i])) > reach) break;
        const int a = entries[i].vertex, b = entries[j].vertex;
        if (norm(mesh.vertices[a] - mesh.vertices[b]) > std::max(reach_of(a), reach_of(b)))
          continue;
        const int ra = root(a), rb = root(b);
        first[std::max(ra, rb)] = std::min(ra, rb);
      }
  }

  std::size_t merged = 0;
  for (std::size_t v = 0; v < first.size(); ++v) merged += root(int(v)) != int(v);
  if (merged == 0) return;
  for (auto& t : mesh.triangles)
    for (int& v : t) v = root(v);
  drop_unused_vertices(mesh);
  mesh.repairs.merged_vertices += merged;
  mesh.notices.push_back(counted(merged, "duplicate vertex was", "duplicate vertices were") +
                         " merged");
}

}  // namespace fmbem
