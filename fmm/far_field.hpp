#pragma once

#include <memory>
#include <span>

#include "fmbem/fmm/functionals.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

struct FarFieldOptions {
  int order = 10;  ///< degree p of the expansions, 1 to 40
  Precision precision = Precision::double_precision;
  bool gradient = false;  ///< gradients will be asked for
  bool hessian = false;   ///< second derivatives will be
  Moments moments = Moments::kept;
  double kappa = 0;   ///< of Yukawa's kernel, 1/length; 0 is Laplace's
  double reach = 40;  ///< κr from which on its pairs may be left out, as e^{−κr} is too small
};

/// About what one thread takes to make the operators of a far field on that tree, if no other has
/// them already.
double operator_seconds(const PointTree& tree, const FarFieldOptions& options);

/// The far field of functionals at points, at one accuracy, on a tree that others may share: of the
/// sum over sources j of
///
///     strength_j Σ_q w_jq G(x_i, y_jq) + d_jq · ∇_y G(x_i, y_jq),   G(x, y) = 1/(4π|x − y|),
///
/// or Yukawa's kernel exp(−κ|x − y|)/(4π|x − y|), with the weighted points of source j, all that is
/// not in the near lists; strength_j is that of the source's unknown. The near lists are left to
/// the caller, who has better means there: exact integrals.
class FarField {
 public:
  /// The sources are those that the tree was made of (choice/grow_tree.hpp); their weighted points
  /// may be others. Throws InputError for options that are out of range, ResourceError where memory
  /// does not suffice.
  FarField(std::shared_ptr<const PointTree> tree, std::shared_ptr<const Functionals> sources,
           const FarFieldOptions& options);
  ~FarField();
  FarField(FarField&&) noexcept;
  FarField& operator=(FarField&&) noexcept;

  /// Potentials [count][targets], gradients and second derivatives of strengths.charges
  /// [count][unknowns], overwriting them. Evaluations may not run at the same time. O(sources K +
  /// boxes K²).
  void evaluate(const Strengths& strengths, const Fields& fields) const;
  /// The transposed maps: from charges, which were potentials, and dipoles, which were derivatives
  /// along them, [count][targets], to the sums over targets for each strength of each unknown,
  /// [count][strengths][unknowns], in `potential`.
  void evaluate_transposed(const Strengths& strengths, std::span<double> potential) const;

  const PointTree& tree() const;
  PlanInfo info() const;
  Seconds evaluate_seconds() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fmbem::fmm
