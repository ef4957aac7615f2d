#pragma once

#include <cstddef>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::fmm {

/// Points with weights, as a structure of arrays.
struct WeightedPoints {
  std::vector<double> x, y, z, weight;
};

/// Sources that are not points but spread out, such as panels with a density each.
class SpreadSources {
 public:
  virtual ~SpreadSources() = default;

  virtual std::size_t size() const = 0;
  /// The place that decides in which boxes source j is.
  virtual Vec3d centre(std::size_t j) const = 0;
  /// Smallest and largest coordinates of source j.
  virtual void bounds(std::size_t j, Vec3d& low, Vec3d& high) const = 0;
  /// Points that stand for source j of strength 1 in the far field of a box with that side: at
  /// targets at least a side away from its centre.
  virtual void quadrature(std::size_t j, double side, WeightedPoints& points) const = 0;
};

}  // namespace fmbem::fmm
