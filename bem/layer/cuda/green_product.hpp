#pragma once

#include <memory>
#include <optional>
#include <span>

#include "fmbem/bem/geometry/panel_block.hpp"
#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/near/green_entries.hpp"

namespace fmbem::cuda::bem {

/// What a GreenProduct is made for.
struct GreenAccuracy {
  int order;
  Precision far, near;      ///< of expansions, and of stored entries
  double moments, entries;  ///< relative errors of panels' moments and of near integrals
  double overhang;
  std::optional<int> max_leaf;
  OperatorOptions::NearField near_field;  ///< stored, but of potentials of one kernel
  /// As GreenOperator has it.
  std::size_t panels_to_come = 0;
};

/// What a GreenOperator does on the current GPU. Charges and dipoles go through the far field
/// together; near entries are stored or, of potentials of one kernel, integrated in every product.
class GreenProduct {
 public:
  /// Throws InputError without a usable GPU, ResourceError where its memory does not suffice.
  GreenProduct(const Panels& panels, const PanelBlock& block, std::span<const GreenTerm> terms,
               const GreenAccuracy& accuracy);
  ~GreenProduct();

  /// x is [2][columns], y [1 or 2][rows], in the host's memory.
  void multiply(const double* x, double* y) const;
  /// The same in the GPU's memory, in the order of its default stream; x is not checked.
  void multiply_on_device(const double* x, double* y) const;
  /// Of charges alone the derivatives y_1, where there are such: [columns] to [rows], likewise.
  void flux_on_device(const double* charges, double* flux) const;
  /// The transposed products of both, from y to x.
  void multiply_transposed(const double* y, double* x) const;
  void flux_transposed_on_device(const double* flux, double* charges) const;
  /// Until all that was enqueued is done.
  void wait() const;
  /// About ‖V‖.
  double norm_of_v() const;
  void describe(OperatorInfo& info) const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace fmbem::cuda::bem
