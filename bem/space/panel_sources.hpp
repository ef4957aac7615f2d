#pragma once

#include <span>
#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/near/far_rules.hpp"
#include "fmbem/fmm/functionals.hpp"

namespace fmbem {

/// Panels with a constant density each, as sources of the FMM.
class PanelSources final : public fmm::Functionals {
 public:
  /// `tolerance`: relative error of a panel's far field. The panels must outlive it.
  PanelSources(std::span<const Triangle> panels, double tolerance)
      : panels_(panels), rules_(far_rules(tolerance, FarKernel::potential)) {}

  std::size_t size() const override { return panels_.size(); }
  Vec3d centre(std::size_t j) const override { return panels_[j].centroid; }
  void bounds(std::size_t j, Vec3d& low, Vec3d& high) const override;
  /// By the rule that is accurate from a side of the box on.
  void quadrature(std::size_t j, double side, fmm::WeightedPoints& points) const override;

 private:
  std::span<const Triangle> panels_;
  std::vector<FarRule> rules_;
};

}  // namespace fmbem
