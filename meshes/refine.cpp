#include "fmbem/meshes/refine.hpp"

#include <limits>
#include <numeric>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/topology.hpp"

namespace fmbem {
namespace {

void refine_once(SurfaceMesh& mesh) {
  const std::size_t n = mesh.triangles.size();
  std::vector<std::array<int, 3>> middle(n);  // the vertex between the corners k and k+1
  EdgeTable(mesh).for_each_edge([&](int lo, int hi, std::span<const EdgeSide> sides) {
    const int m = static_cast<int>(mesh.vertices.size());
    mesh.vertices.push_back(0.5 * (mesh.vertices[lo] + mesh.vertices[hi]));
    for (const EdgeSide& s : sides) middle[s.triangle][s.corner] = m;
  });
  std::vector<std::array<int, 3>> children;
  std::vector<int> group_of;
  children.reserve(4 * n);
  group_of.reserve(4 * n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto& [a, b, c] = mesh.triangles[i];
    const auto& [ab, bc, ca] = middle[i];
    for (const auto& child : {std::array{a, ab, ca}, {b, bc, ab}, {c, ca, bc}, {ab, bc, ca}})
      children.push_back(child);
    group_of.insert(group_of.end(), 4, mesh.group_of[i]);
  }
  mesh.triangles = std::move(children);
  mesh.group_of = std::move(group_of);
}

}  // namespace

SurfaceMesh refine_uniformly(const SurfaceMesh& mesh, int times) {
  constexpr int most_times = 12;
  constexpr std::size_t most_triangles = std::numeric_limits<int>::max() / 3;
  FMBEM_REQUIRE(times >= 0 && times <= most_times,
                "a mesh can be refined 0 to " << most_times << " times, not " << times);
  FMBEM_REQUIRE(mesh.triangles.size() <= most_triangles >> (2 * times),
                "refined " << counted(static_cast<std::size_t>(times), "time") << ", the "
                           << counted(mesh.triangles.size(), "triangle") << " of " << mesh.file
                           << " would become more than " << most_triangles
                           << "; refine fewer times");
  SurfaceMesh fine = mesh;
  if (times == 0) return fine;
  for (int t = 0; t < times; ++t) refine_once(fine);
  fine.vertex_tags.resize(fine.vertices.size());
  fine.triangle_tags.resize(fine.triangles.size());
  std::iota(fine.vertex_tags.begin(), fine.vertex_tags.end(), std::size_t{1});
  std::iota(fine.triangle_tags.begin(), fine.triangle_tags.end(), std::size_t{1});
  return fine;
}

}  // namespace fmbem
