#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/study_cases.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/solvers/krylov_run.hpp"

namespace fmbem::cli {

/// What is known of a run when it has ended.
struct StudyMeasured {
  KrylovRunReport report;
  std::optional<double> quantity, exact;
  std::size_t panels = 0;
  double mesh_width = 0;
  OperatorInfo op;
  std::int64_t inverse_bytes = 0;  ///< 0 of PETSc's preconditioners
  double mesh_seconds = 0, operator_seconds = 0, preconditioner_seconds = 0;
};

/// What a run adds to the tables, whole rows; and a line for the user.
struct StudyRows {
  std::string run{}, history{}, spectrum{}, line{};
};

std::vector<std::string> run_columns();
std::vector<std::string> history_columns();
std::vector<std::string> spectrum_columns();

StudyRows rows_of(const StudyCase& one, const StudyMeasured& measured);
StudyRows rows_of_failure(const StudyCase& one, const std::string& reason);

}  // namespace fmbem::cli
