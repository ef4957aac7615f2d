#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/layer/green_operator.hpp"
#include "fmbem/bem/precond/derivative_inverse.hpp"
#include "fmbem/problems/solvation/poisson_boltzmann_operator.hpp"

namespace fmbem {

/// The derivative forms of Juffer et al. (1991, J. Comput. Phys. 97) and of Lu et al. (2006, PNAS
/// 103) for any regions: equations of the second kind. With the unknowns φ and q = ∂φ/∂n on the
/// panels' back, A and B the regions behind and ahead of panel i, its rows add the identities G_R =
/// 0 of DirectOperator and their derivatives along its normal:
///
///     ε_A G_A + ε_B G_B = 0,     ∂_n G_A + ∂_n G_B = 0.
///
/// On one surface V_A − V_B and D_A − D_B, D = ∂_n K, are left of V and D: differences of kernels,
/// which are weakly singular, so that constant densities and collocation serve. What is left of
/// Laplace's K' on one surface is averaged over panels (NormalRows::averaged): at centroids its
/// error would fall with the panels' size, not with its square. Lu's form has the unknown ∂φ/∂n on
/// the panels' front, the first row over ε_B and the second times ε_A/ε_B: the same equations in
/// other units. Between the panels of one surface, and to each surface from another of its regions,
/// there is one GreenOperator each; between two surfaces of one region D itself is needed.
class DerivativeOperator final : public PoissonBoltzmannOperator {
 public:
  /// juffer or lu.
  DerivativeOperator(const Panels& panels, std::vector<ScreenedRegion> regions,
                     std::span<const int> inside, std::span<const int> outside,
                     SolvationFormulation formulation, const OperatorOptions& options);

  OperatorInfo info() const override;
  double norm() const override;
  void diagonal_block(std::int64_t begin, std::int64_t end, double* block) const override;
  /// On the CPU by small systems of clusters, on the GPU the inverses of the panels' 2×2 blocks.
  std::unique_ptr<ApproximateInverse> approximate_inverse() const override;
  std::vector<double> right_hand_side(std::span<const RegionCharges> charges) const override;
  void to_direct(std::span<double> x) const override;

 protected:
  void multiply(std::span<const double> x, std::span<double> y) const override;
  void multiply_part(std::size_t p, const double* sources,
                     const cuda::bem::PairPart& part) const override;

 private:
  /// What a surface gives on another or on itself.
  struct Part {
    std::size_t to, from;
    std::unique_ptr<GreenOperator> green;
    double adjoint_factor = 0;  ///< of the averaged K'
    std::shared_ptr<const BoundaryOperator> adjoint;
  };
  /// Factors of a surface's panels: of their own φ and q in Juffer's rows, and of Lu's unknown and
  /// rows.
  struct Units {
    double potential, flux;  ///< ½ (ε_A + ε_B), ½ (1 + ε_A/ε_B)
    double first_row = 1, second_row = 1, unknown = 1;
  };

  void move_to_device();
  struct Coupling {
    std::vector<GreenTerm> terms;
    double adjoint_factor = 0;
  };
  /// What couples a surface to another or to itself; nothing where they have no region in common.
  Coupling coupling(const PanelSurfaces::Sides& to, const PanelSurfaces::Sides& from) const;
  /// All of them in this formulation's units, as they are preconditioned.
  SurfaceEquations equations() const;
  /// [φ and q rows of panel i][φ and q of panel j]
  using PairEntries = std::array<std::array<double, 2>, 2>;
  PairEntries pair_entries(std::size_t i, std::size_t j) const;

  const Units& units_of(std::size_t panel) const { return units_[surfaces().surface_of(panel)]; }

  std::vector<Units> units_;  ///< [surfaces]
  std::vector<Part> parts_;
};

}  // namespace fmbem
