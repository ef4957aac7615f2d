#include "fmbem/meshes/distance.hpp"

#include <algorithm>
#include <cmath>

namespace fmbem {
namespace {

double distance_to_segment(Vec3d x, Vec3d a, Vec3d b) {
  const Vec3d ab = b - a;
  const double length2 = norm2(ab);
  const double s = length2 > 0 ? std::clamp(dot(x - a, ab) / length2, 0., 1.) : 0;
  return norm(x - a - s * ab);
}

double distance_to_box(Vec3d x, const Box& box) {
  double sum = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double d = std::max({box.min[axis] - x[axis], x[axis] - box.max[axis], 0.});
    sum += d * d;
  }
  return std::sqrt(sum);
}

}  // namespace

double distance_to_triangle(Vec3d x, const std::array<Vec3d, 3>& t) {
  const Vec3d normal = cross(t[1] - t[0], t[2] - t[0]);
  bool inside = norm2(normal) > 0;
  double nearest = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 3; ++k) {
    const Vec3d a = t[k], b = t[(k + 1) % 3];
    inside = inside && dot(cross(b - a, x - a), normal) >= 0;
    nearest = std::min(nearest, distance_to_segment(x, a, b));
  }
  return inside ? std::abs(dot(x - t[0], normal)) / norm(normal) : nearest;
}

BodyTree::BodyTree(std::vector<Item> items) : items_(std::move(items)) {
  if (!items_.empty()) build(0, items_.size());
}

int BodyTree::build(std::size_t begin, std::size_t end) {
  constexpr std::size_t leaf_size = 4;
  const int index = static_cast<int>(nodes_.size());
  const Vec3d first = items_[begin].corners[0];
  Node node{{first, first}, items_[begin].body, items_[begin].size, begin, end};
  for (std::size_t i = begin; i < end; ++i) {
    for (const Vec3d& x : items_[i].corners) enclose(node.box, x);
    if (items_[i].body != node.only_body) node.only_body = no_body;
    node.size = std::min(node.size, items_[i].size);
  }
  nodes_.push_back(node);
  if (end - begin <= leaf_size) return index;
  const Vec3d side = node.box.max - node.box.min;
  const int axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
  const auto centre = [axis](const Item& item) {
    return item.corners[0][axis] + item.corners[1][axis] + item.corners[2][axis];
  };
  const std::size_t middle = begin + (end - begin) / 2;
  std::nth_element(items_.begin() + std::ptrdiff_t(begin), items_.begin() + std::ptrdiff_t(middle),
                   items_.begin() + std::ptrdiff_t(end),
                   [&](const Item& a, const Item& b) { return centre(a) < centre(b); });
  const int left = build(begin, middle), right = build(middle, end);
  nodes_[index].left = left;
  nodes_[index].right = right;
  return index;
}

BodyTree::Closest BodyTree::closest(Vec3d x, double growth, double most, int except) const {
  Closest found{most, no_body};
  if (nodes_.empty()) return found;
  const auto bound = [&](const Node& node) {
    return node.size + growth * distance_to_box(x, node.box);
  };
  const auto look_at = [&](const Item& item) {
    if (except != no_body && item.body == except) return;
    const double value = item.size + growth * distance_to_triangle(x, item.corners);
    if (value < found.value) found = {value, item.body};
  };
  std::vector<int> stack{0};
  while (!stack.empty()) {
    const Node& node = nodes_[stack.back()];
    stack.pop_back();
    if ((except != no_body && node.only_body == except) || bound(node) >= found.value) continue;
    if (node.left < 0) {
      for (std::size_t i = node.begin; i < node.end; ++i) look_at(items_[i]);
      continue;
    }
    // The one with the lower bound is taken from the stack first.
    const bool left_first = bound(nodes_[node.left]) <= bound(nodes_[node.right]);
    stack.push_back(left_first ? node.right : node.left);
    stack.push_back(left_first ? node.left : node.right);
  }
  return found;
}

std::vector<int> BodyTree::within(Vec3d x, double distance) const {
  std::vector<int> found, stack;
  if (!nodes_.empty()) stack.push_back(0);
  while (!stack.empty()) {
    const Node& node = nodes_[stack.back()];
    stack.pop_back();
    if (distance_to_box(x, node.box) > distance) continue;
    if (node.left >= 0) {
      stack.insert(stack.end(), {node.left, node.right});
      continue;
    }
    for (std::size_t i = node.begin; i < node.end; ++i)
      if (distance_to_triangle(x, items_[i].corners) <= distance) found.push_back(items_[i].body);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace fmbem
