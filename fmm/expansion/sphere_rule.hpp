#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/expansion/half_rule.hpp"

namespace fmbem::fmm {

/// Nodes of the sphere's positive octant, which the other octants mirror, and their weights, which
/// add up to 4π/8: exact for harmonics of degrees that add up to less than 2 `rings`.
struct SphereRule {
  std::vector<Vec3d> node;
  std::vector<double> weight;

  explicit SphereRule(int rings) {
    const HalfRule heights(rings);
    for (std::size_t i = 0; i < heights.node.size(); ++i) {
      const double z = 2 * heights.node[i], across = std::sqrt(1 - z * z);
      for (int j = 0; j < rings / 2; ++j) {
        const double angle = (j + 0.5) * std::numbers::pi / rings;
        node.push_back({across * std::cos(angle), across * std::sin(angle), z});
        weight.push_back(std::numbers::pi / rings * heights.weight[i]);
      }
    }
  }
};

}  // namespace fmbem::fmm
