#include "fmbem/meshes/gmsh/folds.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "fmbem/meshes/text.hpp"

namespace fmbem {
namespace {

/// Whether two triangles with the same corners run round them in opposite directions.
bool are_opposite(const std::array<int, 3>& s, const std::array<int, 3>& t) {
  const auto at = std::find(t.begin(), t.end(), s[0]) - t.begin();
  return t[(at + 1) % 3] != s[1];
}

}  // namespace

void drop_folds(ModelMesh& model) {
  SurfaceMesh& mesh = model.mesh;
  std::vector<std::pair<std::array<int, 3>, std::size_t>> by_corners;
  by_corners.reserve(mesh.triangles.size());
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    by_corners.emplace_back(mesh.triangles[i], i);
    std::sort(by_corners.back().first.begin(), by_corners.back().first.end());
  }
  std::sort(by_corners.begin(), by_corners.end());
  std::vector<bool> in_fold(mesh.triangles.size(), false);
  std::size_t pairs = 0;
  for (std::size_t k = 1; k < by_corners.size(); ++k) {
    const auto& [corners, i] = by_corners[k];
    const auto& [others, j] = by_corners[k - 1];
    if (corners != others || in_fold[j] || model.surface_of[i] != model.surface_of[j] ||
        !are_opposite(mesh.triangles[i], mesh.triangles[j]))
      continue;
    in_fold[i] = in_fold[j] = true;
    ++pairs;
  }
  if (pairs == 0) return;
  const auto keep = [&](auto& of_triangles) {
    std::size_t n = 0;
    for (std::size_t i = 0; i < in_fold.size(); ++i)
      if (!in_fold[i]) of_triangles[n++] = of_triangles[i];
    of_triangles.resize(n);
  };
  keep(mesh.triangles);
  keep(mesh.group_of);
  keep(mesh.triangle_tags);
  keep(model.surface_of);
  mesh.notices.push_back(counted(pairs, "pair") +
                         " of triangles that Gmsh had laid onto each other were left out");
}

}  // namespace fmbem
