#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/problems/solvation/point_charges.hpp"
#include "fmbem/problems/solvation/poisson_boltzmann_operator.hpp"
#include "fmbem/problems/solvation/solvation.hpp"

namespace fmbem {

/// Panels in the leaves that solvate() preconditions with.
Panels solvation_panels(const SurfaceMesh& mesh, Processor processor = Processor::cpu);

/// One molecule in its surfaces: right-hand sides, and what comes of a solution. Unknowns are
/// potentials of charges in e with 1/(4πεr), e/Å.
class SolvationProblem {
 public:
  /// `result` has model, panels and regions, and gets what comes out. Both must outlive it.
  SolvationProblem(const Molecule& molecule, double tolerance, Solvation& result)
      : molecule_(molecule), tolerance_(tolerance), result_(result) {}

  std::shared_ptr<PoissonBoltzmannOperator> make_operator(const OperatorOptions& options) const;

  /// [regions]: what charges make at the centroids of their region's panels, for right-hand sides.
  std::vector<RegionCharges> potentials_of(std::span<const PointCharges> charges,
                                           Processor processor) const;
  /// [regions]: the molecule's charges.
  std::vector<PointCharges> charges() const;
  /// Needs nothing but the regions.
  void find_coulomb_energy();
  /// From unknowns to potentials and the solvation energy.
  void evaluate(std::span<const double> x);

  /// [sets][regions]: the charges of each set. Throws InputError for those that are in no solute.
  std::vector<std::vector<PointCharges>> charges_of(std::span<const ChargeSet> sets) const;
  /// Column `column` of the matrix of sites, from what solves for that set.
  void evaluate_sites(std::span<const double> x, std::span<const std::vector<PointCharges>> sets,
                      std::size_t column);

 private:
  /// φ and −∂φ/∂n, in kcal/(mol e).
  std::pair<LargeVector<double>, LargeVector<double>> boundary_values(
      std::span<const double> x) const;

  const Molecule& molecule_;
  double tolerance_;
  Solvation& result_;
};

}  // namespace fmbem
