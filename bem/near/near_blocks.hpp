#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/linear_map.hpp"
#include "fmbem/bem/near/near_panels.hpp"
#include "fmbem/bem/near/near_targets.hpp"

namespace fmbem {

/// The near field of V or K in dense blocks, one for each row of the near lists.
class NearBlocks {
 public:
  virtual ~NearBlocks() = default;
  /// y += A x, or Aᵀ x, in the order of targets and panels.
  virtual void add(const double* x, double* y, const Product& product) const = 0;
  virtual std::int64_t bytes() const = 0;
  /// The most that an entry lost where it was rounded to be stored.
  virtual double largest_rounding() const = 0;
};

/// Integrates the entries to that relative error and stores them in that precision. Panels and
/// targets must outlive it. Throws ResourceError where memory does not suffice.
std::unique_ptr<NearBlocks> make_near_blocks(std::span<const Triangle> panels,
                                             const NearTargets& targets,
                                             std::shared_ptr<const NearPanels> near,
                                             const PanelKernel& kernel, double tolerance,
                                             Precision precision, const Progress& progress);

/// y += A x or Aᵀ x with integrals that are not stored.
void add_near_field_afresh(std::span<const Triangle> panels, const NearTargets& targets,
                           const NearPanels& near, const PanelKernel& kernel, double tolerance,
                           const double* x, double* y, const Product& product);

}  // namespace fmbem
