#include "fmbem/meshes/topology.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem {

EdgeTable::EdgeTable(const SurfaceMesh& mesh)
    : begin_(mesh.vertices.size() + 1, 0), sides_(3 * mesh.triangles.size()) {
  const auto lo = [](const std::array<int, 3>& t, int k) {
    return static_cast<std::size_t>(std::min(t[k], t[(k + 1) % 3]));
  };
  for (const auto& t : mesh.triangles)
    for (int k = 0; k < 3; ++k) ++begin_[lo(t, k) + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto& t = mesh.triangles[i];
    for (int k = 0; k < 3; ++k) {
      const int a = t[k], b = t[(k + 1) % 3];
      sides_[next[lo(t, k)]++] = {std::max(a, b), static_cast<int>(i), k, a < b};
    }
  }
  for (std::size_t v = 0; v + 1 < begin_.size(); ++v)
    std::sort(sides_.begin() + static_cast<std::ptrdiff_t>(begin_[v]),
              sides_.begin() + static_cast<std::ptrdiff_t>(begin_[v + 1]),
              [](const EdgeSide& a, const EdgeSide& b) {
                return a.hi != b.hi ? a.hi < b.hi : a.triangle < b.triangle;
              });
}

Components connected_components(const SurfaceMesh& mesh) {
  std::vector<int> parent(mesh.vertices.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  for (const auto& t : mesh.triangles)
    for (int k = 1; k < 3; ++k) {
      const int a = root(t[0]), b = root(t[k]);
      parent[std::max(a, b)] = std::min(a, b);
    }
  Components components;
  components.of.reserve(mesh.triangles.size());
  std::vector<int> number(mesh.vertices.size(), -1);
  for (const auto& t : mesh.triangles) {
    int& c = number[root(t[0])];
    if (c < 0) c = components.n++;
    components.of.push_back(c);
  }
  return components;
}

void refuse_coincident_triangles(const SurfaceMesh& mesh, const EdgeTable& edges,
                                 const std::function<std::string(int)>& part_of) {
  const auto opposite = [&](const EdgeSide& s) {
    return mesh.triangles[s.triangle][(s.corner + 2) % 3];
  };
  edges.for_each_edge([&](int, int, std::span<const EdgeSide> sides) {
    for (std::size_t i = 1; i < sides.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (opposite(sides[i]) == opposite(sides[j])) {
          const int a = sides[j].triangle, b = sides[i].triangle;
          const std::string first = part_of(a), second = part_of(b);
          std::ostringstream why;
          if (first == second)
            why << "; remove one of them";
          else
            why << ", as " << first << " and " << second
                << " touch there: leave a gap, or give them one surface that both share (in Gmsh "
                   "by BooleanFragments)";
          FMBEM_REQUIRE(false, "in " << mesh.file << " the elements " << mesh.triangle_tags[a]
                                     << " and " << mesh.triangle_tags[b]
                                     << " are the same triangle at "
                                     << place(mesh.vertices[mesh.triangles[a][0]]) << why.str());
        }
  });
}

}  // namespace fmbem
