#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/near/difference_entries.hpp"
#include "fmbem/bem/near/near_panels.hpp"
#include "fmbem/fmm/base/precision.hpp"

namespace fmbem {

/// What a kernel's V, K, K' and D = ∂_n K count in a sum of kernels: potentials V σ and K μ, and
/// their derivatives along the normals of the rows, K' σ and D μ. κ = 0 is Laplace's kernel.
struct GreenTerm {
  double kappa = 0;
  double v = 1, k = 1, k_adjoint = 0, d = 0;

  bool has_flux() const { return k_adjoint != 0 || d != 0; }
};

/// The entries of a sum of kernels between a panel and a point with a normal, times their factors,
/// by closed forms. `same`: the point is the panel's own centroid, where K and K' are 0, the mean
/// of both sides' limits. Of several terms as make_green_blocks() has them.
PanelEntries green_entries(std::span<const GreenTerm> terms, const Triangle& t, Vec3d x,
                           Vec3d normal, bool same);

/// The rows of a near field.
struct GreenTargets {
  std::vector<Vec3d> centroid, normal;
  std::vector<std::int32_t> own;  ///< the panel's column, −1 where it has none
};

/// The near field of a sum of kernels with charges σ and dipoles μ on panels, in dense blocks.
class GreenBlocks {
 public:
  virtual ~GreenBlocks() = default;
  /// Adds to potentials and, where some term has them, derivatives: x is [2][panels], σ and then μ,
  /// y [1 or 2][targets].
  virtual void add(const double* x, double* y) const = 0;
  virtual std::int64_t bytes() const = 0;
};

/// Integrates the entries to that relative error. Of one term all are those of its kernel; of
/// several what Laplace's kernel has in all of them is taken together, and the rest are entries of
/// differences (difference_entries.hpp), so that nothing cancels. What is handed over must outlive
/// the result. Throws ResourceError where memory does not suffice.
std::unique_ptr<GreenBlocks> make_green_blocks(std::span<const Triangle> panels,
                                               const GreenTargets& targets,
                                               std::shared_ptr<const NearPanels> near,
                                               std::span<const GreenTerm> terms, double tolerance,
                                               Precision precision);

}  // namespace fmbem
