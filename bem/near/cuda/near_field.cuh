#pragma once

#include <memory>
#include <optional>

#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/layer/layer.hpp"
#include "fmbem/bem/near/cuda/transposed_lists.cuh"

namespace fmbem::cuda::bem {

/// The near field of V or of K on the device, in the tree's unit: for the row of each target leaf,
/// y_i = Σ scale V_ij x_j or Σ K_ij x_j over the sources j of its near list.
class NearField {
 public:
  /// Enqueues the products of strengths x, [vectors][panels], times factor[vectors], which is in
  /// device memory: [vectors][targets] in the tree's order.
  virtual void multiply(const double* x, int vectors, const double* factor, double* y,
                        cudaStream_t stream) const = 0;
  /// The transposed products: from strengths of the targets, [vectors][targets], the sums over rows
  /// y_j = Σ scale V_ij x_i, or Σ K_ij x_i, of each panel, [vectors][panels]; both by number.
  virtual void multiply_transposed(const TransposedLists& lists, const double* x, int vectors,
                                   const double* factor, double* y, cudaStream_t stream) = 0;
  virtual std::int64_t bytes() const = 0;
  virtual ~NearField() = default;
};

/// A near field with stored entries: row after row, [near sources][targets]. κ is of the panels'
/// unit.
template <class Entry>
std::unique_ptr<NearField> make_stored_near_field(const PanelStore& panels, const SpreadTree& tree,
                                                  const PanelKernel& kernel, double tolerance,
                                                  cudaStream_t stream);

/// What a lean near field keeps of pairs that are too close for a rule: their integrals, or
/// nothing, so that every product lists and integrates them again, some rows at a time.
enum class ClosePairStorage { entries, none };

/// A lean near field: what rules serve is integrated in every product, in that precision. κ is of
/// the panels' unit.
std::unique_ptr<NearField> make_lean_near_field(const PanelStore& panels, const SpreadTree& tree,
                                                const PanelKernel& kernel, double tolerance,
                                                Precision precision, ClosePairStorage close,
                                                cudaStream_t stream);
/// Single where it is wanted and the tolerance of each integral allows it.
Precision lean_precision_for(double tolerance, const PanelKernel& kernel, Precision wanted);
/// The tolerance of integrals by rules of that error in single precision, if their rounding counts
/// for little in a product: it has either sign. Of Laplace's kernel alone.
std::optional<double> lean_tolerance_in_single(double own, const PanelKernel& kernel);

}  // namespace fmbem::cuda::bem
