#include "fmbem/problems/solvation_study_system.hpp"

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/join.hpp"
#include "fmbem/problems/solvation/charge_sets.hpp"

namespace fmbem {
namespace {

const SurfaceMesh& surface_of_molecule(const StudyProblem& problem) {
  FMBEM_REQUIRE(problem.molecule,
                "the formulation solvate needs a molecule: use --problem kirkwood or molecule, or "
                "--pqr FILE with its surface");
  return problem.mesh;
}

}  // namespace

SolvationStudySystem::SolvationStudySystem(const StudyProblem& problem,
                                           const StudyEquation& equation,
                                           const OperatorOptions& options)
    : SolvationStudySystem(problem, join_meshes({surface_of_molecule(problem)}), equation,
                           options) {}

SolvationStudySystem::SolvationStudySystem(const StudyProblem& problem, const SurfaceMesh& surfaces,
                                           const StudyEquation& equation, OperatorOptions options)
    : StudySystem(solvation_panels(surfaces, options.processor.value_or(Processor::cpu))),
      problem_(problem),
      tolerance_(options.tolerance) {
  options.relaxes = false;
  solvation_.model = problem.solvation;
  solvation_.model.formulation = equation.solvation;
  solvation_.model.check();
  refuse_coincident_charges(*problem.molecule);
  solvation_.solver_tolerance = solvation_.operator_tolerance = tolerance_;
  solvation_.panels = panels_;
  solvation_.regions = find_solute_regions(surfaces, panels_, *problem.molecule);
  equations_ = SolvationProblem(*problem.molecule, tolerance_, solvation_).make_operator(options);
  solvation_.op = equations_->info();  // says where the energy is to be summed
  op_ = equations_;
}

std::vector<double> SolvationStudySystem::data_right_hand_sides(const StudyData& data) const {
  FMBEM_REQUIRE(data.kind == StudyData::Kind::one,
                "data of a molecule are its charges (--rhs one), or random");
  Solvation solvation = solvation_;
  const SolvationProblem molecule(*problem_.molecule, tolerance_, solvation);
  return equations_->right_hand_side(
      molecule.potentials_of(molecule.charges(), equations_->processor()));
}

double SolvationStudySystem::number_of(const StudyData&, std::span<const double> solution) const {
  std::vector<double> x(solution.begin(), solution.end());
  equations_->to_direct(x);
  Solvation solvation = solvation_;
  SolvationProblem(*problem_.molecule, tolerance_, solvation).evaluate(x);
  return solvation.solvation_energy;
}

std::optional<double> SolvationStudySystem::exact(const StudyData& data) const {
  if (!problem_.exact_energy || data.kind != StudyData::Kind::one) return std::nullopt;
  return problem_.exact_energy(solvation_.model);
}

}  // namespace fmbem
