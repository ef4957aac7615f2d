#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panel_block.hpp"
#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/near/green_blocks.hpp"

namespace fmbem {

/// Relative error of the integrals of dense operators of charges and dipoles.
inline constexpr double dense_green_tolerance = 1e-12;

/// Sums of the potentials of charges σ and dipoles μ on panels, and of their derivatives along the
/// normals of the rows, over some kernels G with factors (GreenTerm):
///
///     y_0 = Σ_G v V σ + k K μ,     y_1 = Σ_G k' K' σ + d D μ,     D = ∂_n K,
///
/// at the centroids of the rows: x is [2][columns], y [1 or 2][rows]. All kernels take the same
/// tree, order and lists, one pass of the FMM each for both sources and both results, or two where
/// v d ≠ k k'. Where they are several the far field is in double precision, and near entries of
/// differences come from a series: factors that add up to 0 leave an operator that is as smooth as
/// the difference of the kernels, and to the tolerance as accurate against its norm (K' and D
/// against that of σ and μ in y_0).
class GreenOperator {
 public:
  /// Takes kind, processor, near_field, tolerance, precision, order and max_leaf of the options;
  /// `dense` has everything near, to 1e-12, on the CPU, and `automatic` does so there where it
  /// takes less time to set up. On the GPU potentials of one kernel alone may be lean; else an
  /// InputError says so. Throws what operators throw. `panels_to_come`: those of operators that are
  /// yet to be made and need as much memory, for the choice between stored and lean.
  GreenOperator(const Panels& panels, const PanelBlock& block, std::vector<GreenTerm> terms,
                const OperatorOptions& options, std::size_t panels_to_come = 0);
  ~GreenOperator();
  GreenOperator(GreenOperator&&) noexcept;
  GreenOperator& operator=(GreenOperator&&) noexcept;

  std::size_t rows() const;
  std::size_t columns() const;
  int outputs() const;
  /// Overwrites y. Products may not run at the same time.
  void multiply(std::span<const double> x, std::span<double> y) const;
  /// The transposed product, from y to x, overwriting it. On the GPU not of potentials of one
  /// kernel: an InputError says so.
  void multiply_transposed(std::span<const double> y, std::span<double> x) const;
  Processor processor() const;
  /// The product in the GPU's memory, in the order of its default stream, where processor() is the
  /// GPU; x is not checked.
  void multiply_on_device(const double* x, double* y) const;
  /// y_1 of charges alone, [columns] to [rows], likewise, where outputs() is 2.
  void flux_on_device(const double* charges, double* flux) const;
  /// Its transpose, [rows] to [columns].
  void flux_transposed_on_device(const double* flux, double* charges) const;
  /// Waits until these are done.
  void wait() const;
  /// About ‖V‖ of the kernel that falls least.
  double norm_of_v() const;
  OperatorInfo info() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fmbem
