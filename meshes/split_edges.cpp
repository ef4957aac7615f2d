#include "fmbem/meshes/split_edges.hpp"

#include <limits>
#include <numeric>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/topology.hpp"

namespace fmbem {

SplitMesh split_edges(const SurfaceMesh& coarse) {
  const std::size_t n = coarse.triangles.size();
  constexpr std::size_t most = std::numeric_limits<int>::max() / 3;
  FMBEM_REQUIRE(n <= most / 4, "the " << counted(n, "triangle") << " of " << coarse.file
                                      << " would become more than " << most
                                      << "; refine fewer times");
  SplitMesh fine{coarse, std::vector<std::array<int, 3>>(n), {}};
  SurfaceMesh& mesh = fine.mesh;
  EdgeTable(coarse).for_each_edge([&](int lo, int hi, std::span<const EdgeSide> sides) {
    const int m = static_cast<int>(mesh.vertices.size());
    mesh.vertices.push_back(0.5 * (mesh.vertices[lo] + mesh.vertices[hi]));
    for (const EdgeSide& s : sides) fine.middle[s.triangle][s.corner] = m;
    fine.first_side.push_back(3 * std::size_t(sides[0].triangle) + std::size_t(sides[0].corner));
  });
  mesh.triangles.resize(4 * n);
  mesh.group_of.resize(4 * n);
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < n; ++i) {
    const auto& [a, b, c] = coarse.triangles[i];
    const auto& [ab, bc, ca] = fine.middle[i];
    const std::array<int, 3> children[] = {{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}};
    for (std::size_t k = 0; k < 4; ++k) {
      mesh.triangles[4 * i + k] = children[k];
      mesh.group_of[4 * i + k] = coarse.group_of[i];
    }
  }
  return fine;
}

void number_tags(SurfaceMesh& mesh) {
  mesh.vertex_tags.resize(mesh.vertices.size());
  mesh.triangle_tags.resize(mesh.triangles.size());
  std::iota(mesh.vertex_tags.begin(), mesh.vertex_tags.end(), std::size_t{1});
  std::iota(mesh.triangle_tags.begin(), mesh.triangle_tags.end(), std::size_t{1});
}

}  // namespace fmbem
