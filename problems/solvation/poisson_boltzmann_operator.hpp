#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/green_operator.hpp"
#include "fmbem/problems/solvation/overlapping_inverse.hpp"

namespace fmbem {

/// A region with a constant permittivity and screening: ∇²φ = κ²φ in it, but for its charges.
struct ScreenedRegion {
  double permittivity = 1;                ///< relative
  double kappa = 0;                       ///< 1/length
  std::vector<std::int32_t> panels = {};  ///< on its boundary, ascending
  std::vector<double> sign = {};          ///< of each: 1 where the normal leads out, −1 where in
};

/// The direct formulation of Yoon and Lenhoff (1990, J. Comput. Chem. 11) for any regions: the
/// unknowns are φ and q = ∂φ/∂n on the panels' back, and each region R has Green's identity on its
/// boundary, collocated at centroids:
///     ½φ_i + Σ_j s_j (K_ij φ_j − V_ij ε_j/ε_R q_j) = potential of the charges in R,
/// V and K with the kernel exp(−κr)/(4πr), κ that of R, s the signs, ε_j the permittivity at the
/// back of panel j: εq is the same on both sides. With panels in their order, unknowns are φ_0,
/// q_0, φ_1, …; rows are, panel by panel, that of the region at its back and that of the one ahead.
/// Without transposed products; on the CPU.
class PoissonBoltzmannOperator final : public BoundaryOperator {
 public:
  /// `inside` and `outside`: [n panels], the regions behind and ahead of each. Throws InputError
  /// for sizes that differ and permittivities that are not positive, and as operators do.
  PoissonBoltzmannOperator(const Panels& panels, std::vector<ScreenedRegion> regions,
                           std::span<const int> inside, std::span<const int> outside,
                           const OperatorOptions& options = {});

  std::size_t size() const override { return 2 * panels_.size(); }
  OperatorInfo info() const override;
  /// True residuals are by the operator's own products, which solvate() makes ten times as accurate
  /// as the solve: tighter ones would take longer than all the rest.
  double accurate_tolerance() const override { return 0; }
  double tightest_tolerance() const override;
  double norm() const override;
  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override;

  std::unique_ptr<ApproximateInverse> approximate_inverse() const override;

  /// [leaves + 1], of the leaves of panels.
  std::vector<std::int64_t> leaf_begin() const;

 protected:
  void multiply(const double* x, double* y, const Product& product) const override;

 private:
  struct Part {
    double kappa = 0;
    std::vector<std::int32_t> panels;
    std::vector<std::size_t> row;           ///< of each
    std::vector<double> sign, flux_factor;  ///< s, and s ε_j/ε_R
    std::unique_ptr<GreenOperator> green;
  };

  Panels panels_;
  RegionsOfPanels regions_;
  OperatorOptions options_;
  std::vector<ScreenedRegion> screened_;
  std::vector<Part> parts_;  ///< [regions]
};

}  // namespace fmbem
