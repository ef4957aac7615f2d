#include "fmbem/problems/enclosures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

namespace fmbem {
namespace {

/// The class and the vertex of each corner, sorted, so that those that are the same are neighbours.
struct Corner {
  int of_class, vertex;
  std::int32_t panel;
};

/// Roots of trees of panels that hang together.
class Unions {
 public:
  explicit Unions(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }

  std::int32_t root(std::int32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::int32_t i, std::int32_t j) {
    i = root(i);
    j = root(j);
    parent_[std::max(i, j)] = std::min(i, j);
  }

 private:
  std::vector<std::int32_t> parent_;
};

/// An edge of a part, as one of its panels runs through it.
struct Edge {
  std::int32_t part;
  int low, high;
  bool forward;
};

void find_open_edges(const Panels& panels, Enclosures& result) {
  std::vector<Edge> edges;
  edges.reserve(3 * panels.size());
  for (std::size_t i = 0; i < panels.size(); ++i)
    for (int k = 0; k < 3; ++k) {
      const int a = panels.corners[i][k], b = panels.corners[i][(k + 1) % 3];
      edges.push_back({result.of[i], std::min(a, b), std::max(a, b), a < b});
    }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.part, a.low, a.high, a.forward) < std::tie(b.part, b.low, b.high, b.forward);
  });
  for (std::size_t first = 0, last; first < edges.size(); first = last) {
    const Edge& e = edges[first];
    last = first + 1;
    while (last < edges.size() && edges[last].part == e.part && edges[last].low == e.low &&
           edges[last].high == e.high)
      ++last;
    if (last - first != 2 || edges[first].forward == edges[first + 1].forward)
      result.parts[e.part].closed = false;
  }
}

}  // namespace

Enclosures find_enclosures(const Panels& panels, std::span<const int> class_of) {
  const auto n = static_cast<std::int32_t>(panels.size());
  std::vector<Corner> corners;
  corners.reserve(3 * panels.size());
  for (std::int32_t i = 0; i < n; ++i)
    for (const int vertex : panels.corners[i]) corners.push_back({class_of[i], vertex, i});
  std::sort(corners.begin(), corners.end(), [](const Corner& a, const Corner& b) {
    return std::tie(a.of_class, a.vertex, a.panel) < std::tie(b.of_class, b.vertex, b.panel);
  });
  Unions unions(n);
  for (std::size_t k = 1; k < corners.size(); ++k)
    if (corners[k].of_class == corners[k - 1].of_class &&
        corners[k].vertex == corners[k - 1].vertex)
      unions.join(corners[k - 1].panel, corners[k].panel);

  Enclosures result;
  result.of.resize(n);
  for (std::int32_t i = 0; i < n; ++i) {
    const std::int32_t root = unions.root(i);  // the first of its panels
    if (root == i) {
      result.of[i] = static_cast<std::int32_t>(result.parts.size());
      const Vec3d at = panels.vertex(i, 0);
      result.parts.push_back({.first = i, .low = at, .high = at});
    } else {
      result.of[i] = result.of[root];
    }
    Enclosure& part = result.parts[result.of[i]];
    const Vec3d origin = panels.vertex(part.first, 0);
    std::array<Vec3d, 3> d;
    for (int k = 0; k < 3; ++k) {
      const Vec3d v = panels.vertex(i, k);
      d[k] = v - origin;
      for (int axis = 0; axis < 3; ++axis) {
        part.low[axis] = std::min(part.low[axis], v[axis]);
        part.high[axis] = std::max(part.high[axis], v[axis]);
      }
    }
    part.volume += dot(d[0], cross(d[1], d[2])) / 6;
  }
  find_open_edges(panels, result);
  return result;
}

double winding_number(const Panels& panels, std::span<const std::int32_t> part, Vec3d x) {
  double sum = 0;
  for (const std::int32_t i : part) sum += triangle_double_layer(panels.triangle(i), x);
  return std::abs(sum);
}

}  // namespace fmbem
