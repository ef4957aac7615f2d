#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/layer/green_operator.hpp"
#include "fmbem/problems/solvation/poisson_boltzmann_operator.hpp"

namespace fmbem {

/// The direct formulation of Yoon and Lenhoff (1990, J. Comput. Chem. 11) for any regions: the
/// unknowns are φ and q = ∂φ/∂n on the panels' back, and each region R has Green's identity on its
/// boundary, collocated at centroids:
///     ½φ_i + Σ_j s_j (K_ij φ_j − V_ij ε_j/ε_R q_j) = potential of the charges in R,
/// V and K with the kernel exp(−κr)/(4πr), κ that of R, s the signs, ε_j the permittivity at the
/// back of panel j: εq is the same on both sides. Rows are, panel by panel, that of the region at
/// its back and that of the one ahead.
class DirectOperator final : public PoissonBoltzmannOperator {
 public:
  DirectOperator(const Panels& panels, std::vector<ScreenedRegion> regions,
                 std::span<const int> inside, std::span<const int> outside,
                 const OperatorOptions& options);

  OperatorInfo info() const override;
  double norm() const override;
  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override;
  std::unique_ptr<ApproximateInverse> approximate_inverse() const override;
  std::vector<double> right_hand_side(std::span<const RegionCharges> charges) const override;

 protected:
  void multiply(std::span<const double> x, std::span<double> y) const override;
  void multiply_part(std::size_t p, const double* sources,
                     const cuda::bem::PairPart& part) const override;

 private:
  /// A region on the boundary of which a surface is.
  struct OfSurface {
    double sign = 0;         ///< s: 1 where normals lead out of it
    double flux_factor = 0;  ///< s ε_j/ε_R
    std::size_t row = 0;     ///< of a panel's two
  };
  struct Part {
    int region;
    std::vector<OfSurface> surfaces;  ///< [surfaces]
    GreenOperator green;
    const OfSurface& of(const PanelSurfaces& all, std::size_t panel) const {
      return surfaces[all.surface_of(panel)];
    }
  };
  std::vector<OfSurface> surfaces_of(int region) const;
  void move_to_device();

  std::vector<Part> parts_;  ///< of regions that have panels
};

}  // namespace fmbem
