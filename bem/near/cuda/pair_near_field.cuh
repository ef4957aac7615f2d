#pragma once

#include <memory>

#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/near/cuda/transposed_lists.cuh"
#include "fmbem/bem/near/green_entries.hpp"
#include "fmbem/bem/near/yukawa_integrals.hpp"
#include "fmbem/fmm/base/precision.hpp"

namespace fmbem::cuda::bem {

/// The near field of a kernel with all four entries of a pair, stored:
///     y_0 += v V σ + k K μ,     y_1 += k' K' σ + d D μ.
class PairNearField {
 public:
  virtual ~PairNearField() = default;
  /// Enqueues the product: x is [2][panels], σ and μ, and y [2][targets], all by number.
  virtual void add(const double* x, double* y, cudaStream_t stream) const = 0;
  /// Enqueues the transposed product, from y to x, with the tiles of the tree (TransposedLists).
  virtual void add_transposed(const NearTilesView& near, const double* y, double* x,
                              cudaStream_t stream) const = 0;
  virtual std::int64_t bytes() const = 0;
};

/// Factors and κ of the term, in the panels' unit; entries are integrated to the tolerance, of the
/// whole kernel, Laplace's for κ = 0, or of Yukawa's less Laplace's (difference_entries.hpp).
/// `normals`: [targets], by number. Panels, tree and normals must outlive it.
std::unique_ptr<PairNearField> make_pair_near_field(const PanelStore& panels,
                                                    const SpreadTree& tree, const Vec3d* normals,
                                                    const GreenTerm& term, YukawaPart part,
                                                    double tolerance, Precision precision,
                                                    cudaStream_t stream);

}  // namespace fmbem::cuda::bem
