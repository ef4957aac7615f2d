#include "cli/study_rows.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>
#include <utility>

#include "cli/study_tables.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

/// Fields by column, of one row.
using Fields = std::vector<std::pair<const char*, std::string>>;

const std::vector<const char*>& columns() {
  static const std::vector<const char*> all{"run",
                                            "status",
                                            "reason",
                                            "mesh",
                                            "set",
                                            "mesh_size",
                                            "refine",
                                            "N",
                                            "h",
                                            "formulation",
                                            "layer",
                                            "operator",
                                            "method",
                                            "restart",
                                            "side",
                                            "norm",
                                            "preconditioner",
                                            "tolerance",
                                            "operator_tolerance",
                                            "precision",
                                            "backend",
                                            "relax",
                                            "true_residual_goal",
                                            "petsc_options",
                                            "rhs",
                                            "rhs_count",
                                            "in_step",
                                            "iterations",
                                            "corrections",
                                            "products",
                                            "reported_residual",
                                            "true_residual",
                                            "quantity",
                                            "exact",
                                            "error",
                                            "condition",
                                            "mesh_s",
                                            "operator_s",
                                            "preconditioner_s",
                                            "setup_s",
                                            "solve_s",
                                            "solve_s_min",
                                            "solve_s_max",
                                            "operator_bytes",
                                            "preconditioner_bytes",
                                            "peak_bytes"};
  return all;
}

double middle_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n == 0 ? 0 : 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

std::string text_of(const std::vector<PetscOption>& options) {
  std::string text;
  for (const auto& [name, value] : options) {
    if (!text.empty()) text += " ";
    text.append(name).append(" ").append(value);
  }
  return text;
}

std::string short_number(double value) {
  std::ostringstream out;
  out.precision(3);
  out << value;
  return out.str();
}

void set(Fields& row, const char* column, std::string value) {
  row.emplace_back(column, std::move(value));
}

void add_choice_fields(Fields& row, const StudyCase& one) {
  set(row, "run", std::to_string(one.run));
  set(row, "mesh", one.mesh.file);
  set(row, "set", one.mesh.set);
  set(row, "mesh_size", one.mesh.mesh_size);
  set(row, "refine", std::to_string(one.mesh.refine));
  set(row, "formulation", name(one.op.equation));
  set(row, "layer", layer_name(one.op.equation));
  set(row, "preconditioner", one.preconditioner);
  set(row, "tolerance", csv_number(one.tolerance));
  set(row, "operator_tolerance", csv_number(one.op.tolerance));
  set(row, "backend", one.op.backend);
  set(row, "relax", one.relaxes ? "yes" : "no");
  if (one.true_residual > 0) set(row, "true_residual_goal", csv_number(one.true_residual));
  set(row, "petsc_options", text_of(one.axes));
  set(row, "rhs", one.rhs);
}

/// Of a run that failed: what was asked for.
void add_asked_fields(Fields& row, const StudyCase& one) {
  const auto [method, restart] = parse_word("--ksp", one.method);
  set(row, "method", method);
  set(row, "restart", restart ? std::to_string(*restart) : "");
  set(row, "side", one.side);
  set(row, "operator", one.op.kind);
  set(row, "precision", one.op.precision);
}

std::string to_row(const Fields& fields) {
  std::vector<std::string> values;
  for (const char* column : columns()) {
    std::string value;
    for (const auto& [name, text] : fields)
      if (std::string_view(name) == column) value = text;
    values.push_back(value);
  }
  return csv_row(values);
}

std::string label_of(const StudyCase& one, double tolerance) {
  std::string label = std::filesystem::path(one.mesh.file).filename().string();
  if (!one.mesh.set.empty()) label += " " + one.mesh.set;
  if (!one.mesh.mesh_size.empty()) label += " h " + one.mesh.mesh_size;
  if (one.mesh.refine > 0) label += " refined " + std::to_string(one.mesh.refine);
  label += ", " + name(one.op.equation) + ", " + one.method + ", " + one.preconditioner + ", " +
           one.rhs + ", " + short_number(tolerance);
  if (one.relaxes) label += ", relaxed";
  if (one.true_residual > 0) label += ", corrected to " + short_number(one.true_residual);
  if (!one.axes.empty()) label += ", " + text_of(one.axes);
  return label;
}

struct Outcome {
  std::string status, reason;
  int iterations = 0, corrections = 0;     ///< the most
  double reported = 0, true_residual = 0;  ///< the largest; NaN where one is not known
};

/// NaN if one of them is.
double larger(double a, double b) { return std::isnan(a) || b <= a ? a : b; }

/// A method that finds no residuals, as with -ksp_norm_type none, has no history.
double reported_residual(const SolveReport& solve) {
  return solve.history.empty() ? std::numeric_limits<double>::quiet_NaN() : solve.relative_residual;
}

int iterations_of(const SolveReport& solve) {
  int iterations = solve.iterations;
  for (const RefinementStep& step : solve.refinements) iterations += step.iterations;
  return iterations;
}

Outcome outcome_of(const KrylovRunReport& report, double tolerance) {
  /// What the operator's own error may add to the residual.
  constexpr double slack = 2;
  Outcome outcome{"solved", "", 0, 0, 0, 0};
  for (const SolveReport& solve : report.solves) {
    outcome.iterations = std::max(outcome.iterations, iterations_of(solve));
    outcome.corrections = std::max(outcome.corrections, int(solve.refinements.size()));
    outcome.reported = larger(outcome.reported, reported_residual(solve));
    outcome.true_residual = larger(outcome.true_residual, solve.true_residual);
    if (!solve.converged) outcome.status = "not_converged";
    if (!solve.converged || outcome.reason.empty()) outcome.reason = solve.reason;
  }
  if (outcome.status == "solved" && !(outcome.true_residual <= slack * tolerance))
    outcome.status = "above_tolerance";
  return outcome;
}

std::string history_rows(const StudyCase& one, const KrylovRunReport& report) {
  std::string rows;
  for (std::size_t v = 0; v < report.solves.size(); ++v) {
    const std::vector<double>& history = report.solves[v].history;
    for (std::size_t k = 0; k < history.size(); ++k)
      rows += csv_row(
          {std::to_string(one.run), std::to_string(v), std::to_string(k), csv_number(history[k])});
  }
  return rows;
}

std::string spectrum_rows(const StudyCase& one, const KrylovRunReport& report) {
  std::string rows;
  const std::string run = std::to_string(one.run);
  const auto add = [&](const char* kind, const std::vector<std::complex<double>>& values) {
    for (std::size_t k = 0; k < values.size(); ++k)
      rows += csv_row({run, kind, std::to_string(k), csv_number(values[k].real()),
                       csv_number(values[k].imag())});
  };
  add("ritz", report.ritz);
  if (report.matrix.n > 0) {
    constexpr int directions = 33;
    add("eigenvalue", eigenvalues(report.matrix));
    const std::vector<double> singular = singular_values(report.matrix);
    add("singular", {singular.begin(), singular.end()});
    add("field", field_of_values(report.matrix, directions));
  }
  return rows;
}

void add_solver_fields(Fields& row, const KrylovRunReport& report, const Outcome& outcome) {
  set(row, "status", outcome.status);
  set(row, "reason", outcome.reason);
  set(row, "tolerance", csv_number(report.tolerance));  // of -ksp_rtol, if there is one
  set(row, "method", report.method);
  set(row, "restart", report.restart > 0 ? std::to_string(report.restart) : "");
  set(row, "side", report.side);
  set(row, "norm", report.norm);
  set(row, "rhs_count", std::to_string(report.solves.size()));
  set(row, "in_step", std::to_string(report.in_step));
  set(row, "iterations", std::to_string(outcome.iterations));
  set(row, "corrections", std::to_string(outcome.corrections));
  set(row, "products", std::to_string(report.products));
  set(row, "reported_residual", csv_number(outcome.reported));
  set(row, "true_residual", csv_number(outcome.true_residual));
  if (report.smallest_singular > 0)
    set(row, "condition", csv_number(report.largest_singular / report.smallest_singular));
}

void add_system_fields(Fields& row, const StudyMeasured& measured) {
  set(row, "N", std::to_string(measured.panels));
  set(row, "h", csv_number(measured.mesh_width));
  set(row, "operator", measured.op.kind == OperatorKind::dense ? "dense" : "fmm");
  set(row, "precision", measured.op.precision == Precision::double_precision ? "double" : "single");
  if (measured.quantity) set(row, "quantity", csv_number(*measured.quantity));
  if (measured.exact) {
    set(row, "exact", csv_number(*measured.exact));
    set(row, "error", csv_number(std::abs(*measured.quantity / *measured.exact - 1)));
  }
}

void add_cost_fields(Fields& row, const StudyMeasured& measured) {
  const std::vector<double>& seconds = measured.report.seconds;
  set(row, "mesh_s", csv_number(measured.mesh_seconds));
  set(row, "operator_s", csv_number(measured.operator_seconds));
  set(row, "preconditioner_s", csv_number(measured.preconditioner_seconds));
  set(row, "setup_s", csv_number(measured.operator_seconds + measured.preconditioner_seconds));
  set(row, "solve_s", csv_number(middle_of(seconds)));
  set(row, "solve_s_min", csv_number(*std::min_element(seconds.begin(), seconds.end())));
  set(row, "solve_s_max", csv_number(*std::max_element(seconds.begin(), seconds.end())));
  set(row, "operator_bytes", std::to_string(measured.op.memory_bytes));
  if (measured.inverse_bytes > 0)
    set(row, "preconditioner_bytes", std::to_string(measured.inverse_bytes));
  set(row, "peak_bytes", std::to_string(peak_memory()));
}

}  // namespace

std::vector<std::string> run_columns() { return {columns().begin(), columns().end()}; }
std::vector<std::string> history_columns() { return {"run", "rhs", "iteration", "residual"}; }
std::vector<std::string> spectrum_columns() { return {"run", "kind", "index", "re", "im"}; }

StudyRows rows_of(const StudyCase& one, const StudyMeasured& measured) {
  const KrylovRunReport& report = measured.report;
  const Outcome outcome =
      outcome_of(report, one.true_residual > 0 ? one.true_residual : report.tolerance);
  Fields row;
  add_choice_fields(row, one);
  add_solver_fields(row, report, outcome);
  add_system_fields(row, measured);
  add_cost_fields(row, measured);
  StudyRows rows{to_row(row), history_rows(one, report), spectrum_rows(one, report)};
  rows.line = label_of(one, report.tolerance) + ": N " + std::to_string(measured.panels) + ", " +
              counted(outcome.iterations, "iteration") + ", true residual " +
              short_number(outcome.true_residual) + ", " + short_number(middle_of(report.seconds)) +
              " s";
  if (outcome.status != "solved") rows.line += ", " + outcome.status + " (" + outcome.reason + ")";
  return rows;
}

StudyRows rows_of_failure(const StudyCase& one, const std::string& reason) {
  Fields row;
  add_choice_fields(row, one);
  add_asked_fields(row, one);
  set(row, "status", "failed");
  set(row, "reason", reason);
  StudyRows rows{to_row(row)};
  rows.line = label_of(one, one.tolerance) + ": failed: " + reason;
  return rows;
}

}  // namespace fmbem::cli
