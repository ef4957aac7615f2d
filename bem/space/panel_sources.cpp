#include "fmbem/bem/space/panel_sources.hpp"

#include <algorithm>

namespace fmbem {

void PanelSources::bounds(std::size_t j, Vec3d& low, Vec3d& high) const {
  const Triangle& t = panels_[j];
  low = high = t.vertex[0];
  for (int axis = 0; axis < 3; ++axis) {
    for (int k = 1; k < 3; ++k) {
      low[axis] = std::min(low[axis], t.vertex[k][axis]);
      high[axis] = std::max(high[axis], t.vertex[k][axis]);
    }
  }
}

void PanelSources::quadrature(std::size_t j, double side, fmm::WeightedPoints& points) const {
  const Triangle& t = panels_[j];
  const auto far = std::find_if(rules_.begin(), rules_.end(),
                                [&](const FarRule& rule) { return side >= rule.reach * t.radius; });
  const TriangleRule& rule = (far == rules_.end() ? rules_.back() : *far).rule;
  const std::size_t n = rule.weight.size();
  for (auto* column : {&points.x, &points.y, &points.z, &points.weight}) column->resize(n);
  const Vec3d e1 = t.vertex[1] - t.vertex[0], e2 = t.vertex[2] - t.vertex[0];
  for (std::size_t q = 0; q < n; ++q) {
    const Vec3d y = t.vertex[0] + rule.xi[q] * e1 + rule.eta[q] * e2;
    points.x[q] = y.x;
    points.y[q] = y.y;
    points.z[q] = y.z;
    points.weight[q] = t.area * rule.weight[q];
  }
}

}  // namespace fmbem
