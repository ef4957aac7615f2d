#include "fmbem/bem/geometry/enclosures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include "fmbem/fmm/base/machine.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/surfaces.hpp"

namespace fmbem::test::enclosures_tests {

namespace {

struct Part {
  std::vector<std::int32_t> panels;
  bool closed = true;
};

/// What hangs together, by going from panel to panel, and whether each directed edge of it is there
/// once, as is the edge backwards.
std::vector<Part> parts_by_walking(const Panels& panels, const std::vector<int>& class_of) {
  const auto n = static_cast<std::int32_t>(panels.size());
  const auto touch = [&](std::int32_t i, std::int32_t j) {
    for (const int a : panels.corners[i])
      for (const int b : panels.corners[j])
        if (a == b) return class_of[i] == class_of[j];
    return false;
  };
  std::vector<Part> parts;
  std::vector<char> is_taken(n, false);
  for (std::int32_t first = 0; first < n; ++first) {
    if (is_taken[first]) continue;
    Part& part = parts.emplace_back(Part{{first}});
    is_taken[first] = true;
    for (std::size_t k = 0; k < part.panels.size(); ++k)
      for (std::int32_t j = 0; j < n; ++j)
        if (!is_taken[j] && touch(part.panels[k], j)) {
          is_taken[j] = true;
          part.panels.push_back(j);
        }
    std::sort(part.panels.begin(), part.panels.end());
    std::map<std::pair<int, int>, int> edges;
    for (const std::int32_t i : part.panels)
      for (int k = 0; k < 3; ++k) ++edges[{panels.corners[i][k], panels.corners[i][(k + 1) % 3]}];
    for (const auto& [edge, count] : edges) {
      const auto back = edges.find({edge.second, edge.first});
      if (count != 1 || back == edges.end() || back->second != 1) part.closed = false;
    }
  }
  return parts;
}

void check_like_walking(const SurfaceMesh& mesh, const std::vector<bool>& expected_closed) {
  const Panels panels = make_panels(mesh);
  std::vector<int> class_of;
  for (const std::int64_t triangle : panels.input_index)
    class_of.push_back(mesh.group_of[triangle] % 2);
  const std::vector<Part> expected = parts_by_walking(panels, class_of);
  std::vector<bool> closed;
  for (const Part& part : expected) closed.push_back(part.closed);
  std::vector<bool> sorted = closed, sorted_expected = expected_closed;
  std::sort(sorted.begin(), sorted.end());
  std::sort(sorted_expected.begin(), sorted_expected.end());
  CHECK(sorted == sorted_expected);
  for (const int threads : {1, 3}) {
    set_threads(threads);
    const Enclosures found = find_enclosures(panels, class_of);
    const GroupOrder panels_of = panels_of_parts(found);
    REQUIRE(found.parts.size() == expected.size());
    for (std::size_t p = 0; p < expected.size(); ++p) {
      CHECK(found.parts[p].first == expected[p].panels.front());
      CHECK(found.parts[p].closed == expected[p].closed);
      CHECK(std::equal(panels_of[p].begin(), panels_of[p].end(), expected[p].panels.begin(),
                       expected[p].panels.end()));
    }
  }
  set_threads(available_cores());
}

/// Two spheres, in groups 0 and 1.
SurfaceMesh two_spheres() {
  SurfaceMesh mesh = sphere(1);
  add_ellipsoid(mesh, "other", 1, {1, 1, 1}, {3, 0, 0});
  return mesh;
}

}  // namespace

TEST_CASE("surfaces are closed where each edge has two panels that run through it in turn",
          "[threads]") {
  check_like_walking(two_spheres(), {true, true});

  SurfaceMesh hole = two_spheres();
  hole.triangles.pop_back();
  hole.group_of.pop_back();
  check_like_walking(hole, {true, false});

  SurfaceMesh turned = two_spheres();
  std::swap(turned.triangles[5][0], turned.triangles[5][1]);
  check_like_walking(turned, {false, true});

  SurfaceMesh fin = two_spheres();  // a third panel at an edge
  const auto [a, b, c] = fin.triangles.back();
  const int tip = add_vertex(fin, {3, 0, 5});
  add_triangle(fin, b, a, tip, 1);
  check_like_walking(fin, {true, false});

  // Surfaces of two classes that share edges, and one of two that share a vertex.
  SurfaceMesh split = sphere(2);
  add_group(split, "half");
  for (std::size_t t = 0; t < split.triangles.size(); ++t)
    split.group_of[t] = split.vertices[split.triangles[t][0]].x > 0;
  check_like_walking(split, {false, false});

  SurfaceMesh pinched = two_spheres();
  for (auto& triangle : pinched.triangles)
    for (int& v : triangle)
      if (v == static_cast<int>(pinched.vertices.size()) - 1) v = 0;
  pinched.group_of.assign(pinched.triangles.size(), 0);
  check_like_walking(pinched, {true});
}

TEST_CASE("winding numbers of many panels are the same bits for any number of threads",
          "[threads]") {
  const Panels panels = make_panels(sphere(6));
  std::vector<std::int32_t> all(panels.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
  REQUIRE(all.size() > 16384);
  for (const Vec3d x : {Vec3d{0.1, 0.2, 0.3}, Vec3d{2, 0, 0}}) {
    set_threads(1);
    const double of_one = winding_number(panels, all, x);
    set_threads(3);
    CHECK(winding_number(panels, all, x) == of_one);
    CHECK(std::abs(of_one - (norm(x) < 1)) < 1e-12);
  }
  set_threads(available_cores());
}

}  // namespace fmbem::test::enclosures_tests
