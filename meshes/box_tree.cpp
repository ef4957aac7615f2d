#include "fmbem/meshes/box_tree.hpp"

#include <algorithm>
#include <cmath>

namespace fmbem {
namespace {

void include(Box& box, const Box& other) {
  for (int axis = 0; axis < 3; ++axis) {
    box.min[axis] = std::min(box.min[axis], other.min[axis]);
    box.max[axis] = std::max(box.max[axis], other.max[axis]);
  }
}

}  // namespace

BoxTree::BoxTree(const SurfaceMesh& mesh, double reach) : items_(mesh.triangles.size()) {
  constexpr std::size_t most_in_leaf = 8;
  while (items_.size() >> depth_ > most_in_leaf) ++depth_;
  boxes_.resize(2 * static_cast<std::size_t>(leaves()));
  if (items_.empty()) return;
  const Vec3d margin = 0.5 * reach * Vec3d{1, 1, 1};
#pragma omp parallel for
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const auto& [a, b, c] = mesh.triangles[i];
    Box box{mesh.vertices[a], mesh.vertices[a]};
    include(box, {mesh.vertices[b], mesh.vertices[b]});
    include(box, {mesh.vertices[c], mesh.vertices[c]});
    items_[i] = {{box.min - margin, box.max + margin}, static_cast<int>(i)};
  }
#pragma omp parallel
#pragma omp single
  split(1);
}

/// Sorts the node's items into its two halves, across the longest side of its box.
void BoxTree::split(int node) {
  const int on_level = level(node);
  const auto item = [&](int n, int l) {
    return items_.begin() + static_cast<std::ptrdiff_t>(first_item(n, l));
  };
  const auto begin = item(node, on_level), end = item(node + 1, on_level);
  Box& box = boxes_[node] = begin->box;
  for (auto i = begin; i != end; ++i) include(box, i->box);
  if (on_level == depth_) return;
  const Vec3d side = box.max - box.min;
  const int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
  const auto place = [axis](const Item& i) {
    const double x = i.box.min[axis] + i.box.max[axis];
    return std::isnan(x) ? 0.0 : x;  // which no order has; others refuse such a mesh
  };
  std::nth_element(begin, item(2 * node + 1, on_level + 1), end,
                   [&](const Item& a, const Item& b) { return place(a) < place(b); });
  constexpr std::ptrdiff_t worth_a_task = 5000;  // items; a task starts in less than their time
#pragma omp task if (end - begin > worth_a_task)
  split(2 * node);
  split(2 * node + 1);
}

}  // namespace fmbem
