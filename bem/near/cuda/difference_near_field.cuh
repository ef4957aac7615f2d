#pragma once

#include <memory>

#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/near/green_entries.hpp"
#include "fmbem/fmm/base/precision.hpp"

namespace fmbem::cuda::bem {

/// The near field of Yukawa's kernel less Laplace's (difference_entries.hpp), stored:
///     y_0 += v V σ + k K μ,     y_1 += k' K' σ + d D μ.
class DifferenceNearField {
 public:
  virtual ~DifferenceNearField() = default;
  /// Enqueues the product: x is [2][panels], σ and μ, and y [2][panels], all by number.
  virtual void add(const double* x, double* y, cudaStream_t stream) const = 0;
  virtual std::int64_t bytes() const = 0;
};

/// Factors and κ of the term, in the panels' unit; entries are integrated to the tolerance. Panels
/// and tree must outlive it.
std::unique_ptr<DifferenceNearField> make_difference_near_field(
    const PanelStore& panels, const SpreadTree& tree, const GreenTerm& term, double tolerance,
    Precision precision, cudaStream_t stream);

}  // namespace fmbem::cuda::bem
