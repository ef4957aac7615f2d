#include "cli/study_runner.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <new>
#include <sstream>
#include <utility>

#include "cli/study_tables.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/meshes/read_npy.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/export_study.hpp"
#include "fmbem/problems/known_problems.hpp"
#include "fmbem/solvers/near_matrix.hpp"
#include "fmbem/solvers/shell_matrix.hpp"

namespace fmbem::cli {
namespace {

/// Fields by column, of one row.
using Fields = std::vector<std::pair<const char*, std::string>>;

const std::vector<const char*>& columns() {
  static const std::vector<const char*> all{
      "run",           "status",       "reason",         "mesh",
      "set",           "mesh_size",    "refine",         "N",
      "h",             "formulation",  "layer",          "operator",
      "method",        "restart",      "side",           "norm",
      "preconditioner", "tolerance",   "operator_tolerance", "precision",
      "backend",       "relax",        "true_residual_goal", "petsc_options", "rhs",           "rhs_count",
      "iterations",    "corrections",  "products",     "reported_residual", "true_residual",
      "quantity",      "exact",        "error",          "condition",
      "mesh_s",        "operator_s",   "preconditioner_s", "setup_s",
      "solve_s",       "solve_s_min",  "solve_s_max",    "operator_bytes",
      "preconditioner_bytes", "peak_bytes"};
  return all;
}

double middle_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n == 0 ? 0 : 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

std::string text_of(const std::vector<PetscOption>& options) {
  std::string text;
  for (const auto& [name, value] : options) text += (text.empty() ? "" : " ") + name + " " + value;
  return text;
}

std::string short_number(double value) {
  std::ostringstream out;
  out.precision(3);
  out << value;
  return out.str();
}

OperatorOptions operator_options(const StudyOperator& choice) {
  OperatorOptions options;
  options.relaxes = choice.backend == "cpu";  // costs nothing where no run asks for it
  using Choice = OperatorOptions::Choice;
  options.kind = choice.kind == "fmm"     ? Choice::fmm
                 : choice.kind == "dense" ? Choice::dense
                                          : Choice::automatic;
  options.processor = choice.backend == "cuda" ? Processor::gpu : Processor::cpu;
  options.tolerance = choice.tolerance;
  if (choice.precision == "double") options.precision = Precision::double_precision;
  if (choice.precision == "single") options.precision = Precision::single_precision;
  return options;
}

/// "cluster" without its number, and that.
std::pair<std::string, std::optional<int>> parts_of(const std::string& preconditioner) {
  const std::size_t colon = preconditioner.find(':');
  if (colon == std::string::npos) return {preconditioner, std::nullopt};
  return {preconditioner.substr(0, colon), std::stoi(preconditioner.substr(colon + 1))};
}

}  // namespace

std::vector<std::string> run_columns() { return {columns().begin(), columns().end()}; }
std::vector<std::string> history_columns() { return {"run", "rhs", "iteration", "residual"}; }
std::vector<std::string> spectrum_columns() { return {"run", "kind", "index", "re", "im"}; }

struct StudyRunner::Solved {
  KrylovRunReport report;
  std::vector<double> b;
  std::optional<double> potential, exact;
};

StudyRunner::StudyRunner(const StudyOptions& options, Console& console)
    : options_(options), console_(console) {
  for (const std::string& rhs : options.right_hand_sides) data_of(rhs);
}

StudyRunner::~StudyRunner() { forget_preconditioner(); }

void StudyRunner::forget_preconditioner() {
  inverse_.reset();
  preconditioner_.clear();
  PetscBool ended = PETSC_FALSE;
  PetscFinalized(&ended);
  if (!ended) MatDestroy(&matrix_);
}

const StudyData& StudyRunner::data_of(const std::string& rhs) {
  const auto [entry, is_new] = data_.try_emplace(rhs);
  if (!is_new) return entry->second;
  StudyData& data = entry->second;
  if (ending(rhs) == "npy") {
    const NpyArray array = read_npy(rhs);
    data.kind = StudyData::Kind::given;
    data.vectors = array.shape.size() == 2 ? static_cast<int>(array.shape.front()) : 1;
    data.values = array.values;
  } else if (rhs == "source") {
    data.kind = StudyData::Kind::source;
  } else if (rhs != "one") {
    data.kind = StudyData::Kind::random;
    data.vectors = parts_of(rhs).second.value_or(1);
  }
  return data;
}

void StudyRunner::prepare_mesh(const StudyMesh& mesh) {
  if (mesh_choice_ == mesh) return;
  forget_preconditioner();
  op_choice_.reset();
  system_.reset();
  mesh_choice_.reset();
  const Timer timer;
  mesh_ = make_mesh(mesh);
  mesh_seconds_ = timer.seconds();
  mesh_choice_ = mesh;
}

SurfaceMesh StudyRunner::make_mesh(const StudyMesh& mesh) const {
  if (mesh.is_known) return known_problem_mesh(mesh.file, mesh.refine);
  LoadOptions options;
  if (!mesh.mesh_size.empty()) options.mesh_size = Length(mesh.mesh_size);
  options.refine = mesh.refine;
  options.unit = options_.unit;
  options.numbers = mesh.numbers;
  return load_mesh(mesh.file, options);
}

void StudyRunner::prepare_operator(const StudyCase& one) {
  if (op_choice_ == one.op) return;
  forget_preconditioner();
  op_choice_.reset();
  system_.reset();
  const Timer timer;
  OperatorOptions options = operator_options(one.op);
  options.progress = [this](double fraction) {
    console_.progress("assembling: " + std::to_string(int(100 * fraction)) + " %");
  };
  system_ = std::make_unique<StudySystem>(*mesh_, one.op.formulation, options);
  operator_seconds_ = timer.seconds();
  if (one.mesh.is_known) system_->set_point_like(point_like_capacitance(one.mesh.file));
  op_choice_ = one.op;
}

void StudyRunner::prepare_preconditioner(const StudyCase& one) {
  if (preconditioner_ == one.preconditioner) return;
  forget_preconditioner();
  const Timer timer;
  const auto [word, unknowns] = parts_of(one.preconditioner);
  if (word == "cluster") {
    inverse_ = system_->inverse(unknowns);
    FMBEM_REQUIRE(inverse_, "there is no cluster inverse of "
                                << layer_name(one.op.formulation)
                                << ": use another preconditioner, such as leaves or none");
  } else if (word == "asm" || word == "ilu" || word == "gamg") {
    matrix_ = make_near_matrix(system_->panels(), [this](std::size_t i, std::size_t j) {
      return system_->entry(i, j);
    });
  } else {
    matrix_ = make_leaf_blocks(*system_->op(), system_->panels().leaf_begin);
  }
  preconditioner_seconds_ = timer.seconds();
  preconditioner_ = one.preconditioner;
}

StudyRunner::Solved StudyRunner::solve(const StudyCase& one) {
  prepare_mesh(one.mesh);
  prepare_operator(one);
  Solved solved;
  const StudyData& data = data_of(one.rhs);
  solved.b = system_->right_hand_sides(data);
  const std::size_t n = system_->panels().size();
  const bool is_small = n <= exported_panels_at_most;
  if (options_.exports && is_small && one.has_new_system) export_system(one, solved.b);
  prepare_preconditioner(one);
  if (!is_small && (options_.spectrum || options_.exports) && !std::exchange(told_of_size_, true))
    console_.notice("no matrices of more than " + std::to_string(exported_panels_at_most) +
                    " panels: spectra and exports are those of smaller meshes, and --ritz tells of "
                    "any");
  KrylovRun run;
  run.options = one.petsc;
  if (one.preconditioner == "asm") {
    const auto blocks = std::max<std::size_t>(1, system_->panels().leaves() / 4);
    run.options.insert(run.options.begin(), {"-pc_asm_blocks", std::to_string(blocks)});
  }
  run.tolerance = one.tolerance;
  run.repeats = options_.repeats;
  FMBEM_REQUIRE(!one.relaxes || one.op.backend == "cpu",
                "relaxed products are the CPU's: use --backend cpu");
  if (one.relaxes) run.relax_from = one.op.tolerance;
  run.refine_to = one.true_residual;
  run.with_spectrum = options_.ritz;
  run.with_matrix = options_.spectrum && is_small && one.has_new_operator;
  std::vector<double> x(solved.b.size());
  const auto vectors = static_cast<int>(solved.b.size() / n);
  solved.report =
      run_krylov(run, system_->op(), inverse_.get(), matrix_, solved.b, x, vectors);
  for (const std::string& name : solved.report.unused)
    FMBEM_REQUIRE(name == "-pc_asm_blocks" || one.axes.empty(),
                  "the PETSc option " << name << " was not used by anything");
  if (StudySystem::has_potential(data)) {
    solved.potential = system_->potential(data, x);
    solved.exact = system_->exact_potential(data);
  }
  return solved;
}

void StudyRunner::export_system(const StudyCase& one, const std::vector<double>& b) const {
  const std::string folder = options_.folder + "/system-" + std::to_string(one.run);
  export_study_system(folder, *system_, b);
}

std::string StudyRunner::spectrum_rows(const StudyCase& one, const KrylovRunReport& report) const {
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

namespace {

void set(Fields& row, const char* column, std::string value) {
  row.emplace_back(column, std::move(value));
}

void add_choice_fields(Fields& row, const StudyCase& one) {
  set(row, "run", std::to_string(one.run));
  set(row, "mesh", one.mesh.file);
  set(row, "set", one.mesh.set);
  set(row, "mesh_size", one.mesh.mesh_size);
  set(row, "refine", std::to_string(one.mesh.refine));
  set(row, "formulation", name(one.op.formulation));
  set(row, "layer", layer_name(one.op.formulation));
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
  const auto [method, restart] = parts_of(one.method);
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

std::string label_of(const StudyCase& one) {
  std::string label = std::filesystem::path(one.mesh.file).filename().string();
  if (!one.mesh.set.empty()) label += " " + one.mesh.set;
  if (!one.mesh.mesh_size.empty()) label += " h " + one.mesh.mesh_size;
  if (one.mesh.refine > 0) label += " refined " + std::to_string(one.mesh.refine);
  label += std::string(", ") + name(one.op.formulation) + ", " + one.method + ", " +
           one.preconditioner + ", " + one.rhs + ", " + short_number(one.tolerance);
  if (one.relaxes) label += ", relaxed";
  if (one.true_residual > 0) label += ", corrected to " + short_number(one.true_residual);
  if (!one.axes.empty()) label += ", " + text_of(one.axes);
  return label;
}

struct Outcome {
  std::string status, reason;
  int iterations = 0, corrections = 0;  ///< the most
  double reported = 0, true_residual = 0;  ///< the largest
};

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
    outcome.reported = std::max(outcome.reported, solve.relative_residual);
    outcome.true_residual = std::max(outcome.true_residual, solve.true_residual);
    if (!solve.converged) outcome.status = "not_converged";
    if (!solve.converged || outcome.reason.empty()) outcome.reason = solve.reason;
  }
  if (outcome.status == "solved" && outcome.true_residual > slack * tolerance)
    outcome.status = "above_tolerance";
  return outcome;
}

}  // namespace

StudyRows StudyRunner::run(const StudyCase& one) {
  StudyRows rows;
  Fields row;
  add_choice_fields(row, one);
  try {
    const Solved solved = solve(one);
    const KrylovRunReport& report = solved.report;
    const OperatorInfo info = system_->op()->info();
    const Outcome outcome = outcome_of(
        report, one.true_residual > 0 ? one.true_residual : one.tolerance);
    const double seconds = middle_of(report.seconds);
    set(row, "status", outcome.status);
    set(row, "reason", outcome.reason);
    set(row, "N", std::to_string(system_->panels().size()));
    set(row, "h", csv_number(system_->mesh_width()));
    set(row, "operator", info.kind == OperatorKind::dense ? "dense" : "fmm");
    set(row, "precision",
        info.precision == Precision::double_precision ? "double" : "single");
    set(row, "method", report.method);
    set(row, "restart", report.restart > 0 ? std::to_string(report.restart) : "");
    set(row, "side", report.side);
    set(row, "norm", report.norm);
    set(row, "rhs_count", std::to_string(report.solves.size()));
    set(row, "iterations", std::to_string(outcome.iterations));
    set(row, "corrections", std::to_string(outcome.corrections));
    set(row, "products", std::to_string(report.products));
    set(row, "reported_residual", csv_number(outcome.reported));
    set(row, "true_residual", csv_number(outcome.true_residual));
    if (solved.potential) set(row, "quantity", csv_number(*solved.potential));
    if (solved.exact) {
      set(row, "exact", csv_number(*solved.exact));
      set(row, "error", csv_number(std::abs(*solved.potential / *solved.exact - 1)));
    }
    if (report.smallest_singular > 0)
      set(row, "condition", csv_number(report.largest_singular / report.smallest_singular));
    set(row, "mesh_s", csv_number(mesh_seconds_));
    set(row, "operator_s", csv_number(operator_seconds_));
    set(row, "preconditioner_s", csv_number(preconditioner_seconds_));
    set(row, "setup_s", csv_number(operator_seconds_ + preconditioner_seconds_));
    set(row, "solve_s", csv_number(seconds));
    set(row, "solve_s_min", csv_number(*std::min_element(report.seconds.begin(), report.seconds.end())));
    set(row, "solve_s_max", csv_number(*std::max_element(report.seconds.begin(), report.seconds.end())));
    set(row, "operator_bytes", std::to_string(info.memory_bytes));
    if (inverse_) set(row, "preconditioner_bytes", std::to_string(inverse_->memory_bytes()));
    set(row, "peak_bytes", std::to_string(peak_memory()));
    const std::string run = std::to_string(one.run);
    for (std::size_t v = 0; v < report.solves.size(); ++v)
      for (std::size_t k = 0; k < report.solves[v].history.size(); ++k)
        rows.history += csv_row({run, std::to_string(v), std::to_string(k),
                                 csv_number(report.solves[v].history[k])});
    rows.spectrum = spectrum_rows(one, report);
    rows.line = label_of(one) + ": N " + std::to_string(system_->panels().size()) + ", " +
                counted(outcome.iterations, "iteration") + ", true residual " +
                short_number(outcome.true_residual) + ", " + short_number(seconds) + " s" +
                (outcome.status == "solved" ? "" : ", " + outcome.status + " (" + outcome.reason + ")");
  } catch (const Error& e) {
    rows.failed = true;
    set(row, "reason", e.what());
  } catch (const std::bad_alloc&) {
    rows.failed = true;
    set(row, "reason", "out of memory");
  }
  if (rows.failed) {
    rows.history.clear();
    rows.spectrum.clear();
    Fields failed;
    add_choice_fields(failed, one);
    add_asked_fields(failed, one);
    set(failed, "status", "failed");
    set(failed, "reason", row.back().second);
    rows.line = label_of(one) + ": failed: " + row.back().second;
    row = failed;
  }
  rows.run = to_row(row);
  return rows;
}

}  // namespace fmbem::cli
