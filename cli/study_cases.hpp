#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/study_options.hpp"
#include "fmbem/meshes/geo_numbers.hpp"
#include "fmbem/meshes/load.hpp"
#include "fmbem/problems/study_system.hpp"
#include "fmbem/solvers/petsc_options.hpp"

namespace fmbem::cli {

/// The order in which a study goes through its axes: what is dear changes last.
struct StudyMesh {
  bool is_known = false;  ///< a known problem, or a file
  std::string file, set;  ///< set: "n=8 gap=0.1"
  GeoNumbers numbers;
  std::string mesh_size;  ///< empty: the file's own
  int refine = 0;
  friend bool operator==(const StudyMesh&, const StudyMesh&) = default;
};
LoadOptions load_options(const StudyMesh& mesh, const std::optional<std::string>& unit);

struct StudyOperator {
  StudyEquation equation;
  std::string kind, precision, backend;
  double tolerance = 0;  ///< of the operator
  friend bool operator==(const StudyOperator&, const StudyOperator&) = default;
};

/// One run, a row of the table.
struct StudyCase {
  int run = 0;  ///< from 1 on
  StudyMesh mesh;
  StudyOperator op;
  std::string preconditioner, rhs;
  std::string method, side;  ///< as they were given
  double tolerance = 0, true_residual = 0;
  int in_step = 1;
  bool relaxes = false;
  std::vector<PetscOption> axes;
  /// All of PETSc's options for it, those of the axes last.
  std::vector<PetscOption> petsc;
};

/// Alike of cases with the same matrix and right-hand sides.
std::string system_key(const StudyCase& one);
/// Alike of cases with the same preconditioned operator; `side` is the one that PETSc has chosen.
std::string operator_key(const StudyCase& one, const std::string& side);

/// WORD or WORD:N, N from 1 on, as an option takes it. Throws InputError for anything else.
std::pair<std::string, std::optional<int>> parse_word(const std::string& option,
                                                      const std::string& text);

/// The product of choices. Throws InputError for words that are none of an option's.
std::vector<StudyCase> study_cases(const StudyOptions& options);

}  // namespace fmbem::cli
