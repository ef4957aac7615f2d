#include "fmbem/problems/winding_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"

namespace fmbem {
namespace {

constexpr std::size_t most_in_leaf = 16;
/// Clusters of a radius up to so many times their distance may count by their series.
constexpr double widest_opening = 0.7;
constexpr double infinite = std::numeric_limits<double>::infinity();
/// What sums of values that come and go may be off by.
constexpr double rounding = 1e-10;

Vec3d area_vector(const Panels& panels, std::int32_t i) {
  const Vec3d a = panels.vertex(i, 0);
  return 0.5 * cross(panels.vertex(i, 1) - a, panels.vertex(i, 2) - a);
}

}  // namespace

void WindingTree::Bounds::add(Vec3d other_low, Vec3d other_high) {
  for (int axis = 0; axis < 3; ++axis) {
    low[axis] = std::min(low[axis], other_low[axis]);
    high[axis] = std::max(high[axis], other_high[axis]);
  }
}

double WindingTree::Bounds::farthest_from(Vec3d x) const {
  Vec3d away;
  for (int axis = 0; axis < 3; ++axis)
    away[axis] = std::max(x[axis] - low[axis], high[axis] - x[axis]);
  return norm(away);
}

void WindingTree::Node::add_moment(Vec3d of_area, Vec3d from_centroid) {
  for (int axis = 0; axis < 3; ++axis) moment[axis] += from_centroid[axis] * of_area;
}

WindingTree::WindingTree(const Panels& panels, std::span<const std::int32_t> part)
    : panels_(panels), part_(part) {
  while (leaves_ * most_in_leaf < part.size()) leaves_ *= 2;
  nodes_.resize(2 * leaves_ - 1);
#pragma omp parallel for schedule(static)
  for (std::size_t k = leaves_ - 1; k < nodes(); ++k) measure_leaf(k);
  for (std::size_t level = leaves_ / 2; level > 0; level /= 2)
#pragma omp parallel for schedule(static)
    for (std::size_t k = level - 1; k < 2 * level - 1; ++k) measure_halves(k);
}

std::span<const std::int32_t> WindingTree::panels_of(std::size_t k) const {
  const std::size_t leaf = k - (leaves_ - 1), begin = leaf * part_.size() / leaves_;
  return part_.subspan(begin, (leaf + 1) * part_.size() / leaves_ - begin);
}

void WindingTree::measure_leaf(std::size_t k) {
  Node node;
  const std::span<const std::int32_t> panels = panels_of(k);
  std::array<Vec3d, most_in_leaf> area_vectors;
  for (std::size_t p = 0; p < panels.size(); ++p) {
    const Vec3d own = area_vectors[p] = area_vector(panels_, panels[p]);
    node.area_vector += own;
    node.area += norm(own);
    node.centroid += norm(own) * panels_.centroid(panels[p]);
  }
  if (node.area > 0) node.centroid = node.centroid / node.area;
  for (std::size_t p = 0; p < panels.size(); ++p) {
    const std::int32_t i = panels[p];
    double farthest = 0;
    for (int corner = 0; corner < 3; ++corner) {
      const Vec3d v = panels_.vertex(i, corner);
      farthest = std::max(farthest, norm(v - node.centroid));
      node.bounds.add(v, v);
    }
    const Vec3d own = area_vectors[p];
    node.add_moment(own, panels_.centroid(i) - node.centroid);
    node.spread += norm(own) * farthest * farthest;
    node.radius = std::max(node.radius, farthest);
  }
  nodes_[k] = node;
}

void WindingTree::measure_halves(std::size_t k) {
  Node node;
  const Node &l = nodes_[2 * k + 1], &r = nodes_[2 * k + 2];
  node.area_vector = l.area_vector + r.area_vector;
  node.area = l.area + r.area;
  if (node.area > 0) node.centroid = (l.area * l.centroid + r.area * r.centroid) / node.area;
  for (const Node* half : {&l, &r}) {
    const Vec3d from_centroid = half->centroid - node.centroid;
    const double apart = norm(from_centroid);
    for (int axis = 0; axis < 3; ++axis) node.moment[axis] += half->moment[axis];
    node.add_moment(half->area_vector, from_centroid);
    node.spread += half->spread + half->area * apart * apart;
    node.radius = std::max(node.radius, half->radius + apart);
    node.bounds.add(half->bounds.low, half->bounds.high);
  }
  // Along a curve through all panels sums of radii grow faster than what they enclose.
  node.radius = std::min(node.radius, node.bounds.farthest_from(node.centroid));
  nodes_[k] = node;
}

WindingTree::Part WindingTree::part(std::size_t k, Vec3d x) const {
  const Node& node = nodes_[k];
  const Vec3d d = node.centroid - x;
  const double distance = norm(d);
  if (node.radius > widest_opening * distance) return {k, 0, infinite};
  const double nearest2 = (distance - node.radius) * (distance - node.radius),
               over2 = 1 / (distance * distance);
  const auto& [qx, qy, qz] = node.moment;
  const double trace = qx.x + qy.y + qz.z, along = dot(d, d.x * qx + d.y * qy + d.z * qz) * over2;
  return {k, inv_4pi * (dot(node.area_vector, d) + trace - 3 * along) * over2 / distance,
          3 * inv_4pi * node.spread / (nearest2 * nearest2)};
}

double WindingTree::of_panels(std::size_t leaf, Vec3d x) const {
  double sum = 0;
  for (const std::int32_t i : panels_of(leaf)) sum -= triangle_double_layer(panels_.triangle(i), x);
  return sum;
}

bool WindingTree::encloses(Vec3d x) const {
  double value = 0, error = 0;
  std::vector<Part> parts;  // a heap, that with the largest error first
  const auto less = [](const Part& a, const Part& b) { return a.error < b.error; };
  std::vector<std::size_t> open{0};
  for (;;) {
    while (!open.empty()) {  // nodes that are too close for a series are opened at once
      const std::size_t k = open.back();
      open.pop_back();
      const Part own = part(k, x);
      if (own.error < infinite) {
        value += own.value;
        error += own.error;
        parts.push_back(own);
        std::push_heap(parts.begin(), parts.end(), less);
      } else if (is_leaf(k)) {
        value += of_panels(k, x);
      } else {
        open.insert(open.end(), {2 * k + 1, 2 * k + 2});
      }
    }
    if (std::abs(value - 0.5) > error + rounding) return value > 0.5;
    if (parts.empty()) break;
    std::pop_heap(parts.begin(), parts.end(), less);
    const Part worst = parts.back();
    parts.pop_back();
    value -= worst.value;
    error -= worst.error;
    if (is_leaf(worst.node))
      value += of_panels(worst.node, x);
    else
      open = {2 * worst.node + 1, 2 * worst.node + 2};
  }
  double sum = 0;
  for (std::size_t leaf = leaves_ - 1; leaf < nodes(); ++leaf) sum += of_panels(leaf, x);
  return sum > 0.5;
}

}  // namespace fmbem
