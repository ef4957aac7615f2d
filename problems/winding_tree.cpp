#include "fmbem/problems/winding_tree.hpp"

#include <algorithm>
#include <cmath>

#include "fmbem/bem/geometry/triangle.hpp"

namespace fmbem {
namespace {

constexpr std::size_t most_in_leaf = 8;
/// The first opening, and the last one before all panels count by their solid angles.
constexpr double widest_opening = 0.4, narrowest_opening = 1e-3;

Vec3d area_vector(const Panels& panels, std::int32_t i) {
  const Vec3d a = panels.vertex(i, 0);
  return 0.5 * cross(panels.vertex(i, 1) - a, panels.vertex(i, 2) - a);
}

}  // namespace

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
  Node& node = nodes_[k];
  for (const std::int32_t i : panels_of(k)) {
    const Vec3d own = area_vector(panels_, i);
    node.area_vector += own;
    node.area += norm(own);
    node.centroid += norm(own) * panels_.centroid(i);
  }
  if (node.area > 0) node.centroid = node.centroid / node.area;
  for (const std::int32_t i : panels_of(k)) {
    double farthest = 0;
    for (int corner = 0; corner < 3; ++corner)
      farthest = std::max(farthest, norm(panels_.vertex(i, corner) - node.centroid));
    const Vec3d own = area_vector(panels_, i);
    node.add_moment(own, panels_.centroid(i) - node.centroid);
    node.spread += norm(own) * farthest * farthest;
    node.radius = std::max(node.radius, farthest);
  }
}

void WindingTree::measure_halves(std::size_t k) {
  Node& node = nodes_[k];
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
  }
}

WindingTree::Winding WindingTree::winding(Vec3d x, double opening) const {
  Winding sum;
  std::vector<std::size_t> open{0};
  while (!open.empty()) {
    const std::size_t k = open.back();
    open.pop_back();
    const Node& node = nodes_[k];
    const Vec3d d = node.centroid - x;
    const double distance = norm(d);
    if (node.radius <= opening * distance) {
      const double nearest2 = (distance - node.radius) * (distance - node.radius),
                   over2 = 1 / (distance * distance);
      const auto& [qx, qy, qz] = node.moment;
      const double trace = qx.x + qy.y + qz.z,
                   along = dot(d, d.x * qx + d.y * qy + d.z * qz) * over2;
      sum.value += inv_4pi * (dot(node.area_vector, d) + trace - 3 * along) * over2 / distance;
      sum.error += 3 * inv_4pi * node.spread / (nearest2 * nearest2);
    } else if (is_leaf(k)) {
      for (const std::int32_t i : panels_of(k))
        sum.value -= triangle_double_layer(panels_.triangle(i), x);
    } else {
      open.push_back(2 * k + 1);
      open.push_back(2 * k + 2);
    }
  }
  return sum;
}

bool WindingTree::encloses(Vec3d x) const {
  for (double opening = widest_opening; opening > narrowest_opening; opening /= 2) {
    const Winding w = winding(x, opening);
    if (std::abs(w.value - 0.5) > w.error) return w.value > 0.5;
  }
  return winding(x, 0).value > 0.5;
}

}  // namespace fmbem
