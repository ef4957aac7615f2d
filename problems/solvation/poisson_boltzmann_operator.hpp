#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/cuda/pair_vectors.hpp"
#include "fmbem/bem/precond/solvation_inverse.hpp"

namespace fmbem {

/// A region with a constant permittivity and screening: ∇²φ = κ²φ in it, but for its charges.
struct ScreenedRegion {
  double permittivity = 1;                ///< relative
  double kappa = 0;                       ///< 1/length
  LargeVector<std::int32_t> panels = {};  ///< on its boundary, ascending
};

/// Which equations φ and ∂φ/∂n are solved from: Green's identities on both sides (DirectOperator),
/// or sums of these and of their derivatives (DerivativeOperator).
enum class SolvationFormulation { direct, juffer, lu };
const char* name_of(SolvationFormulation formulation);
/// Whether right-hand sides want derivatives of potentials.
inline bool takes_fluxes(SolvationFormulation formulation) {
  return formulation != SolvationFormulation::direct;
}

/// The potential of a region's charges at the centroids of its panels, and its derivative along
/// their normals: [panels], empty without charges.
struct RegionCharges {
  std::vector<double> potential, flux;
};

/// The linearised Poisson-Boltzmann equation for any regions. Unknowns are two for each panel, with
/// panels in their order: φ_0, q_0, φ_1, …; rows likewise. Without transposed products. Where all
/// kernels are on the GPU vectors may be in its memory.
class PoissonBoltzmannOperator : public BoundaryOperator {
 public:
  std::size_t size() const override { return 2 * panels_.size(); }
  Processor processor() const override { return on_device_ ? Processor::gpu : Processor::cpu; }
  void wait() const override;
  /// True residuals are by the operator's own products, which solvate() makes ten times as accurate
  /// as the solve: tighter ones would take longer than all the rest.
  double accurate_tolerance() const override { return 0; }
  double tightest_tolerance() const override;

  /// [leaves + 1], of the leaves of panels.
  std::vector<std::int64_t> leaf_begin() const;

  /// `charges`: [regions].
  virtual std::vector<double> right_hand_side(std::span<const RegionCharges> charges) const = 0;
  /// From the unknowns of this formulation to φ and ∂φ/∂n on the panels' back.
  virtual void to_direct(std::span<double>) const {}

 protected:
  /// Throws InputError for sizes that differ and permittivities that are not positive.
  PoissonBoltzmannOperator(const Panels& panels, std::vector<ScreenedRegion> regions,
                           std::span<const int> inside, std::span<const int> outside,
                           SolvationFormulation formulation, const OperatorOptions& options);

  void multiply(const double* x, double* y, const Product& product) const final;
  /// y = A x of one vector.
  virtual void multiply(std::span<const double> x, std::span<double> y) const = 0;

  /// For products in the GPU's memory: of 2×2 blocks of panels, [surfaces][2][2], and of parts.
  void set_on_device(std::span<const double> blocks, const std::vector<cuda::bem::PairPlaces>& of);
  void multiply_on_device(const double* x, double* y, const Product& product) const final;
  /// The results of part number p, in its room, from its sources.
  virtual void multiply_part(std::size_t p, const double* sources,
                             const cuda::bem::PairPart& part) const = 0;

  /// Of `rows` × `columns` panels: on the CPU those of few panels, such as cavities, are not worth
  /// a tree. On the GPU all have one, as vectors stay in its memory only if all parts are there.
  OperatorOptions options_for(std::size_t rows, std::size_t columns) const;
  /// Adds the information of a part to that of all, of which there are `parts` so far.
  static void add(OperatorInfo& sum, const OperatorInfo& part);

  const Panels& panels() const { return panels_; }
  const RegionsOfPanels& regions() const { return of_panels_; }
  const PanelSurfaces& surfaces() const { return surfaces_; }
  /// The panels of a block's rows or columns: an empty list where it is all of them.
  std::span<const std::int32_t> some(std::span<const std::int32_t> chosen) const {
    return chosen.size() == panels_.size() ? std::span<const std::int32_t>() : chosen;
  }
  const std::vector<ScreenedRegion>& screened() const { return screened_; }

 private:
  struct OnDevice {
    cuda::bem::PairBlocks blocks;
    std::vector<cuda::bem::PairPart> parts;
  };

  /// The same to a tighter tolerance.
  std::shared_ptr<const PoissonBoltzmannOperator> tighter(double tolerance) const;

  Panels panels_;
  std::vector<ScreenedRegion> screened_;
  RegionsOfPanels of_panels_;
  PanelSurfaces surfaces_;
  SolvationFormulation formulation_;
  OperatorOptions options_;
  std::unique_ptr<OnDevice> on_device_;
  mutable std::mutex multiplying_;  ///< products on the device share room
};

/// `inside` and `outside`: [n panels], the regions behind and ahead of each. Throws InputError for
/// sizes that differ and permittivities that are not positive, and as operators do.
std::shared_ptr<PoissonBoltzmannOperator> make_poisson_boltzmann(
    const Panels& panels, std::vector<ScreenedRegion> regions, std::span<const int> inside,
    std::span<const int> outside, SolvationFormulation formulation, const OperatorOptions& options);

}  // namespace fmbem
