#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "cli/study_cases.hpp"
#include "cli/study_rows.hpp"
#include "fmbem/problems/study_problem.hpp"
#include "fmbem/problems/study_system.hpp"

namespace fmbem::cli {

/// Runs the cases of a study one after the other. Meshes, operators and preconditioners stay until
/// a case has another one.
class StudyRunner {
 public:
  StudyRunner(const StudyOptions& options, Console& console);
  ~StudyRunner();
  StudyRunner(const StudyRunner&) = delete;
  StudyRunner& operator=(const StudyRunner&) = delete;

  /// Of a study that goes on: what a run before has left is not made again.
  void pass_over(const StudyCase& one, bool has_spectrum);
  /// A run that fails is a row with its reason.
  StudyRows run(const StudyCase& one);

 private:
  StudyProblem make_problem(const StudyMesh& mesh) const;
  void prepare_mesh(const StudyMesh& mesh);
  void prepare_operator(const StudyCase& one);
  void prepare_preconditioner(const StudyCase& one);
  void forget_preconditioner();
  const StudyData& data_of(const std::string& rhs);
  StudyMeasured solve(const StudyCase& one);
  std::string system_folder(const StudyCase& one) const;

  const StudyOptions& options_;
  Console& console_;
  std::map<std::string, StudyData> data_;
  std::optional<BoundaryProblem> media_;
  std::optional<Molecule> molecule_;
  SolvationModel solvation_;
  bool told_of_size_ = false;
  /// Keys of those that have been exported, or whose spectrum is known.
  std::set<std::string> exported_, with_spectrum_;
  // At hand:
  std::optional<StudyMesh> mesh_choice_;
  std::optional<StudyProblem> problem_;
  std::optional<StudyOperator> op_choice_;
  std::unique_ptr<StudySystem> system_;
  std::string preconditioner_;
  std::unique_ptr<ApproximateInverse> inverse_;
  Mat matrix_ = nullptr;
  double mesh_seconds_ = 0, operator_seconds_ = 0, preconditioner_seconds_ = 0;
};

}  // namespace fmbem::cli
