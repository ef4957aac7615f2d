#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/near/green_entries.hpp"
#include "fmbem/bem/near/near_panels.hpp"
#include "fmbem/fmm/base/precision.hpp"

namespace fmbem {

/// The near field of a sum of kernels with charges σ and dipoles μ on panels, in dense blocks.
class GreenBlocks {
 public:
  virtual ~GreenBlocks() = default;
  /// Adds to potentials and, where some term has them, derivatives: x is [2][panels], σ and then μ,
  /// y [1 or 2][targets].
  virtual void add(const double* x, double* y) const = 0;
  /// Adds the transposed product: y is [1 or 2][targets], x [2][panels].
  virtual void add_transposed(const double* y, double* x) const = 0;
  virtual std::int64_t bytes() const = 0;
};

/// Integrates the entries (green_entries.hpp) to that relative error. What is handed over must
/// outlive the result. Throws ResourceError where memory does not suffice.
std::unique_ptr<GreenBlocks> make_green_blocks(std::span<const Triangle> panels,
                                               const GreenTargets& targets,
                                               std::shared_ptr<const NearPanels> near,
                                               std::span<const GreenTerm> terms, double tolerance,
                                               Precision precision);

}  // namespace fmbem
