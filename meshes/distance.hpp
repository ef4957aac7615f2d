#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/meshes/shape.hpp"

namespace fmbem {

/// Distance from a point to a triangle, which may be a segment or a point.
double distance_to_triangle(Vec3d x, const std::array<Vec3d, 3>& triangle);

/// Triangles of several bodies in a tree of boxes, to find distances from points to bodies.
class BodyTree {
 public:
  struct Item {
    std::array<Vec3d, 3> corners;
    int body;
    double size = 0;
  };
  static constexpr int no_body = -1;

  /// O(n log² n).
  explicit BodyTree(std::vector<Item> items);

  /// The least of `most` and size + growth · distance from x, over the items of all bodies but
  /// `except`. With sizes of 0 and a growth of 1 it is the distance. O(log n).
  double least(Vec3d x, double growth, double most, int except = no_body) const {
    return closest(x, growth, most, except).value;
  }
  /// The same with the body of that item; no_body if nothing is below `most`.
  struct Closest {
    double value;
    int body;
  };
  Closest closest(Vec3d x, double growth, double most, int except = no_body) const;
  /// The bodies of all items at most so far from x, in ascending order, each once.
  std::vector<int> within(Vec3d x, double distance) const;

 private:
  struct Node {
    Box box;
    int only_body;  // of all of its items; no_body if there are several
    double size;    // the least
    std::size_t begin, end;
    int left = -1, right = -1;
  };
  int build(std::size_t begin, std::size_t end);

  std::vector<Item> items_;
  std::vector<Node> nodes_;
};

}  // namespace fmbem
