#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fmbem/problems/solvation/solvation_problem.hpp"
#include "fmbem/problems/study_system.hpp"

namespace fmbem {

/// The linearised Poisson-Boltzmann equation for a molecule in its surfaces, as solvate() has it:
/// two unknowns for each panel. Its number is the solvation energy in kcal/mol, with the problem's
/// own charges.
class SolvationStudySystem final : public StudySystem {
 public:
  /// Throws InputError for problems without a molecule, and as solvate() does.
  SolvationStudySystem(const StudyProblem& problem, const StudyEquation& equation,
                       const OperatorOptions& options);

  std::vector<std::int64_t> leaf_begin() const override { return equations_->leaf_begin(); }
  std::optional<double> exact(const StudyData& data) const override;

 private:
  SolvationStudySystem(const StudyProblem& problem, const SurfaceMesh& surfaces,
                       const StudyEquation& equation, OperatorOptions options);
  std::vector<double> data_right_hand_sides(const StudyData& data) const override;
  double number_of(const StudyData& data, std::span<const double> solution) const override;

  const StudyProblem& problem_;
  Solvation solvation_;  ///< model, panels and regions
  double tolerance_;     ///< of right-hand sides and of energies
  std::shared_ptr<const PoissonBoltzmannOperator> equations_;
};

}  // namespace fmbem
