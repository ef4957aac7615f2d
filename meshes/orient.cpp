#include <algorithm>
#include <cstdint>
#include <optional>

#include "fmbem/meshes/text.hpp"
#include "fmbem/meshes/topology.hpp"

namespace fmbem {
namespace {

/// What a flood over manifold edges finds out about a set of triangles.
struct Patch {
  std::vector<int> triangles;
  bool one_sided = false;  // a Möbius strip: two ways round give opposite orientations
  bool closed = true;      // every edge belongs to two of its triangles
};

/// The triangle beyond each side, across edges of exactly two triangles.
struct Neighbours {
  std::vector<int> triangle;       // [3n], −1 at an open edge, −2 at a non-manifold one
  std::vector<std::uint8_t> same;  // [3n], whether both triangles have the same orientation
};

Neighbours find_neighbours(SurfaceMesh& mesh, const EdgeTable& edges) {
  Neighbours next{std::vector<int>(3 * mesh.triangles.size(), -1),
                  std::vector<std::uint8_t>(3 * mesh.triangles.size(), 1)};
  std::size_t n_bad = 0;
  Vec3d bad_place;
  mesh.closed = true;
  edges.for_each_edge([&](int lo, int hi, std::span<const EdgeSide> sides) {
    const auto slot = [](const EdgeSide& s) { return 3 * std::size_t(s.triangle) + s.corner; };
    if (sides.size() == 1) {
      mesh.closed = false;
    } else if (sides.size() == 2) {
      for (int s = 0; s < 2; ++s) {
        next.triangle[slot(sides[s])] = sides[1 - s].triangle;
        next.same[slot(sides[s])] = sides[0].forward != sides[1].forward;
      }
    } else {
      if (n_bad++ == 0) bad_place = 0.5 * (mesh.vertices[lo] + mesh.vertices[hi]);
      for (const EdgeSide& s : sides) next.triangle[slot(s)] = -2;
    }
  });
  if (n_bad > 0) {
    mesh.orientable = false;
    mesh.notices.push_back(counted(n_bad, "edge belongs", "edges belong") +
                           " to more than two triangles, " + (n_bad == 1 ? "at " : "one at ") +
                           place(bad_place));
  }
  return next;
}

/// Gathers the triangles that are connected to the one at `seed` by manifold edges. Sets turn (0 or
/// 1) such that turning the triangles with 1 makes all consistent with the seed.
Patch flood(int seed, const Neighbours& next, std::vector<std::int8_t>& turn) {
  Patch patch;
  patch.triangles = {seed};
  turn[seed] = 0;
  for (std::size_t i = 0; i < patch.triangles.size(); ++i) {
    const int t = patch.triangles[i];
    for (int k = 0; k < 3; ++k) {
      const int u = next.triangle[3 * std::size_t(t) + k];
      if (u < 0) {
        patch.closed = false;
        continue;
      }
      const std::int8_t wanted = next.same[3 * std::size_t(t) + k] ? turn[t] : 1 - turn[t];
      if (turn[u] < 0) {
        turn[u] = wanted;
        patch.triangles.push_back(u);
      } else if (turn[u] != wanted) {
        patch.one_sided = true;
      }
    }
  }
  return patch;
}

/// Six times the volume inside a closed patch, positive if the normals point outwards.
double signed_volume(const SurfaceMesh& mesh, const Patch& patch,
                     const std::vector<std::int8_t>& turn) {
  const Vec3d origin = mesh.vertices[mesh.triangles[patch.triangles[0]][0]];
  double sum = 0;
  for (int t : patch.triangles) {
    const auto& [a, b, c] = mesh.triangles[t];
    const double v =
        dot(mesh.vertices[a] - origin, cross(mesh.vertices[b] - origin, mesh.vertices[c] - origin));
    sum += turn[t] ? -v : v;
  }
  return sum;
}

}  // namespace

void orient(SurfaceMesh& mesh, const EdgeTable& edges) {
  mesh.orientable = true;
  const Neighbours next = find_neighbours(mesh, edges);
  std::vector<std::int8_t> turn(mesh.triangles.size(), -1);
  std::size_t n_one_sided = 0, flipped = 0;
  for (std::size_t seed = 0; seed < mesh.triangles.size(); ++seed) {
    if (turn[seed] >= 0) continue;
    const Patch patch = flood(static_cast<int>(seed), next, turn);
    if (patch.one_sided) {
      ++n_one_sided;
      mesh.orientable = false;
      for (int t : patch.triangles) turn[t] = 0;
      continue;
    }
    const double volume = patch.closed ? signed_volume(mesh, patch, turn) : 0;
    std::size_t n_turn = 0;
    for (int t : patch.triangles) n_turn += turn[t];
    const bool reverse = volume != 0 ? volume < 0 : 2 * n_turn > patch.triangles.size();
    for (int t : patch.triangles) {
      if (reverse) turn[t] = 1 - turn[t];
      if (turn[t]) {
        std::swap(mesh.triangles[t][1], mesh.triangles[t][2]);
        ++flipped;
      }
    }
  }
  mesh.repairs.flipped_triangles = flipped;
  if (n_one_sided > 0)
    mesh.notices.push_back(counted(n_one_sided, "component has", "components have") +
                           " only one side, like a Möbius strip, and " +
                           (n_one_sided == 1 ? "keeps" : "keep") + " the file's orientation");
  if (flipped > 0)
    mesh.notices.push_back(counted(flipped, "triangle was", "triangles were") +
                           " turned round to orient the surface");
}

}  // namespace fmbem
