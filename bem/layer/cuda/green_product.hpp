#pragma once

#include <memory>
#include <optional>
#include <span>

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
  OperatorOptions::NearField near_field;  ///< stored, of several kernels
  /// As GreenOperator has it.
  std::size_t panels_to_come = 0;
};

/// What a GreenOperator does on the current GPU, at the centroids of the same panels: y_0 = v V σ +
/// k K μ of one kernel, or of several kernels y_0 and y_1, where nothing but K is left of
/// Laplace's. Charges and dipoles go through the far field together; near entries are stored or,
/// of one kernel, integrated in every product.
class GreenProduct {
 public:
  /// Throws InputError without a usable GPU, ResourceError where its memory does not suffice.
  GreenProduct(const Panels& panels, std::span<const GreenTerm> terms,
               const GreenAccuracy& accuracy);
  ~GreenProduct();

  /// x is [2][panels], y [1 or 2][panels], in the host's memory.
  void multiply(const double* x, double* y) const;
  /// The same in the GPU's memory, in the order of its default stream; x is not checked.
  void multiply_on_device(const double* x, double* y) const;
  /// About ‖V‖.
  double norm_of_v() const;
  void describe(OperatorInfo& info) const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace fmbem::cuda::bem
