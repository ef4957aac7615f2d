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

Box box_of_triangle(const SurfaceMesh& mesh, int triangle) {
  const auto& [a, b, c] = mesh.triangles[triangle];
  Box box{mesh.vertices[a], mesh.vertices[a]};
  include(box, {mesh.vertices[b], mesh.vertices[b]});
  include(box, {mesh.vertices[c], mesh.vertices[c]});
  return box;
}

}  // namespace

/// The place of a triangle, in parts of the mesh's box; 16 bytes, as sorting moves it often.
struct BoxTree::Centre {
  std::array<float, 3> x;
  int triangle;
};

BoxTree::BoxTree(const SurfaceMesh& mesh, double reach) : items_(mesh.triangles.size()) {
  constexpr std::size_t most_in_leaf = 8;
  while (items_.size() >> depth_ > most_in_leaf) ++depth_;
  boxes_.resize(2 * static_cast<std::size_t>(leaves()));
  if (items_.empty()) return;
  const Box all = bounding_box(mesh);
  const Vec3d sides = all.max - all.min, margin = 0.5 * reach * Vec3d{1, 1, 1};
  const double size = std::max({sides.x, sides.y, sides.z});
  std::vector<Centre> centres(items_.size());
#pragma omp parallel for
  for (int i = 0; i < static_cast<int>(centres.size()); ++i) {
    const Box box = box_of_triangle(mesh, i);
    centres[i].triangle = i;
    for (int axis = 0; axis < 3; ++axis) {
      const double x = (0.5 * (box.min[axis] + box.max[axis]) - all.min[axis]) / size;
      // NaN cannot be sorted. Others refuse such a mesh.
      centres[i].x[axis] = std::isnan(x) ? 0 : static_cast<float>(x);
    }
  }
#pragma omp parallel
#pragma omp single
  split(centres, 1);
#pragma omp parallel for
  for (int leaf = leaves(); leaf < 2 * leaves(); ++leaf)
    for (std::size_t k = first_item(leaf); k < first_item(leaf + 1); ++k) {
      const Box box = box_of_triangle(mesh, centres[k].triangle);
      items_[k] = {{box.min - margin, box.max + margin}, centres[k].triangle};
      if (k == first_item(leaf)) boxes_[leaf] = items_[k].box;
      include(boxes_[leaf], items_[k].box);
    }
  for (int node = leaves() - 1; node > 0; --node) {
    boxes_[node] = boxes_[2 * node];
    include(boxes_[node], boxes_[2 * node + 1]);
  }
}

/// Sorts a node's triangles into its two halves, across the longest side of the box of their
/// centres.
void BoxTree::split(std::vector<Centre>& centres, int node) const {
  const int on_level = level(node);
  if (on_level == depth_) return;
  const auto centre = [&](int n, int l) {
    return centres.begin() + static_cast<std::ptrdiff_t>(first_item(n, l));
  };
  const auto begin = centre(node, on_level), end = centre(node + 1, on_level);
  std::array<float, 3> min = begin->x, max = min;
  for (auto i = begin; i != end; ++i)
    for (int axis = 0; axis < 3; ++axis) {
      min[axis] = std::min(min[axis], i->x[axis]);
      max[axis] = std::max(max[axis], i->x[axis]);
    }
  const std::array side{max[0] - min[0], max[1] - min[1], max[2] - min[2]};
  const auto axis = std::max_element(side.begin(), side.end()) - side.begin();
  std::nth_element(begin, centre(2 * node + 1, on_level + 1), end,
                   [axis](const Centre& a, const Centre& b) { return a.x[axis] < b.x[axis]; });
  constexpr std::ptrdiff_t worth_a_task = 5000;  // so many centres take longer than starting a task
#pragma omp task shared(centres) if (end - begin > worth_a_task)
  split(centres, 2 * node);
  split(centres, 2 * node + 1);
}

}  // namespace fmbem
