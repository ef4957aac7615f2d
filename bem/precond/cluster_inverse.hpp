#pragma once

#include <cstdint>
#include <span>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/precond/cluster_rows.hpp"

namespace fmbem {

/// An approximate inverse of the single layer V, the preconditioner of its systems.
///
/// For each leaf of panels one small dense system is solved. Its unknowns are charges: of the
/// leaf's panels and those close by, one by one, and of clusters of panels farther away, the
/// coarser the farther, so that every row sees the whole surface. Its equations are that the mean
/// potential of each unknown is that of the right-hand side; its entries those of the smooth kernel
/// of Cluster, or exact ones for panels that touch. Of its inverse the rows of the leaf's own
/// panels are kept, which act on means over clusters.
///
/// Rows of the inverse from small systems about each panel are Vavasis' (1992), overlapping ones
/// those of Nabors et al. (1994); both leave out what lies beyond (docs/decisions.md compares).
/// O(n) memory and work; applying it takes about 160 n operations.
class ClusterInverse final : public ApproximateInverse {
 public:
  /// The panels need not outlive it. Throws InputError for options out of range.
  explicit ClusterInverse(const Panels& panels, const ClusterInverseOptions& options = {});
  /// The same where their triangles are made already.
  ClusterInverse(const Panels& panels, std::span<const Triangle> triangles,
                 const ClusterInverseOptions& options = {});

  std::string name() const override { return "cluster inverse"; }
  std::int64_t memory_bytes() const override { return rows_.memory_bytes(); }

  std::size_t size() const override { return rows_.tree().size(); }
  std::size_t leaves() const { return rows_.leaves(); }
  /// Of the small systems.
  double mean_unknowns() const { return rows_.mean_unknowns(); }

 protected:
  /// The same bits for any number of threads.
  void multiply(const double* x, double* y, const Product& product) const override;

 private:
  class Assembly;
  ClusterRows rows_;  ///< times the extent of all panels
};

}  // namespace fmbem
