#include "cli/study_runner.hpp"

#include <filesystem>
#include <new>
#include <utility>

#include "cli/problem_file.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/timer.hpp"
#include "fmbem/meshes/panel_values.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/export_study.hpp"
#include "fmbem/problems/given_tolerance.hpp"
#include "fmbem/problems/known_problems.hpp"
#include "fmbem/solvers/near_matrix.hpp"
#include "fmbem/solvers/shell_matrix.hpp"

namespace fmbem::cli {
namespace {

/// Their matrix and its factors take 20 GB.
constexpr std::size_t factored_unknowns_at_most = 35000;

OperatorOptions operator_options(const StudyOperator& choice) {
  OperatorOptions options;
  options.relaxes = true;  // costs nothing where no run asks for it
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

}  // namespace

StudyRunner::StudyRunner(const StudyOptions& options, Console& console)
    : options_(options), console_(console), solvation_(model_of(options.solvation)) {
  if (options.media) media_ = read_problem(*options.media).problem;
  if (options.molecule) molecule_ = read_pqr(*options.molecule);
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
  if (is_npy(rhs)) {
    const NumberArray array = read_npy(rhs);
    FMBEM_REQUIRE(array.shape.size() == 1 || array.shape.size() == 2,
                  rhs << " must have the shape [N] or [K][N]");
    data.kind = StudyData::Kind::given;
    data.vectors = array.shape.size() == 2 ? static_cast<int>(array.shape.front()) : 1;
    data.values = array.values;
  } else if (rhs == "source") {
    data.kind = StudyData::Kind::source;
  } else if (rhs == "opposite") {
    data.kind = StudyData::Kind::opposite;
  } else if (rhs == "groups") {
    data.kind = StudyData::Kind::groups;
  } else if (rhs != "one") {
    data.kind = StudyData::Kind::random;
    data.vectors = parse_word("--rhs", rhs).second.value_or(1);
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
  problem_ = make_problem(mesh);
  mesh_seconds_ = timer.seconds();
  mesh_choice_ = mesh;
}

StudyProblem StudyRunner::make_problem(const StudyMesh& mesh) const {
  StudyProblem problem;
  if (mesh.is_known) {
    problem = known_problem(mesh.file, mesh.refine);
    problem.solvation = solvation_;
    return problem;
  }
  problem.mesh = load_mesh(mesh.file, load_options(mesh, options_.unit));
  problem.media = media_;
  problem.molecule = molecule_;
  problem.solvation = solvation_;
  return problem;
}

void StudyRunner::prepare_operator(const StudyCase& one) {
  if (op_choice_ == one.op) return;
  forget_preconditioner();
  op_choice_.reset();
  system_.reset();
  const Timer timer;
  OperatorOptions options = operator_options(one.op);
  options.progress = [this](double fraction) {
    console_.progress("assembling: " + std::to_string(int(100 * fraction)) + " %", fraction);
  };
  const double given = options_.operator_tolerances.empty() ? 0 : one.op.tolerance;
  system_ = made_to_tolerance(
      given, one.tolerance, [&] { return make_study_system(*problem_, one.op.equation, options); });
  operator_seconds_ = timer.seconds();
  op_choice_ = one.op;
}

void StudyRunner::prepare_preconditioner(const StudyCase& one) {
  if (preconditioner_ == one.preconditioner) return;
  forget_preconditioner();
  const Timer timer;
  const auto [word, unknowns] = parse_word("--pc", one.preconditioner);
  if (word == "cluster") {
    inverse_ = system_->inverse(unknowns);
    FMBEM_REQUIRE(inverse_, "there is no cluster inverse of "
                                << layer_name(one.op.equation)
                                << ": use another preconditioner, such as leaves or none");
  } else if (word == "lu") {
    FMBEM_REQUIRE(system_->unknowns() <= factored_unknowns_at_most,
                  "--pc lu factors the whole matrix: it is for up to "
                      << factored_unknowns_at_most << " unknowns, and there are "
                      << system_->unknowns());
    matrix_ = make_dense_matrix(*system_->op());
  } else if (word == "asm" || word == "ilu" || word == "gamg") {
    FMBEM_REQUIRE(system_->has_entries(), "there is no matrix of close panels for "
                                              << name(one.op.equation)
                                              << ": use cluster, leaves or none");
    matrix_ = make_near_matrix(
        system_->panels(), [this](std::size_t i, std::size_t j) { return system_->entry(i, j); });
  } else {
    matrix_ = make_leaf_blocks(*system_->op(), system_->leaf_begin());
  }
  preconditioner_seconds_ = timer.seconds();
  preconditioner_ = one.preconditioner;
}

StudyMeasured StudyRunner::solve(const StudyCase& one) {
  prepare_mesh(one.mesh);
  prepare_operator(one);
  StudyMeasured solved;
  const StudyData& data = data_of(one.rhs);
  const std::vector<double> b = system_->right_hand_sides(data);
  const std::size_t n = system_->unknowns();
  const bool is_small = n <= exported_unknowns_at_most;
  if (options_.exports && is_small && !exported_.contains(system_key(one))) {
    export_study_system(system_folder(one), *system_, b);
    exported_.insert(system_key(one));
  }
  prepare_preconditioner(one);
  if (!is_small && (options_.spectrum || options_.exports) && !std::exchange(told_of_size_, true))
    console_.notice(
        "no matrices of more than " + std::to_string(exported_unknowns_at_most) +
        " unknowns: spectra and exports are those of smaller meshes, and --ritz tells of "
        "any");
  KrylovRun run;
  run.options = one.petsc;
  if (one.preconditioner == "asm") {
    const auto blocks = std::max<std::size_t>(1, system_->panels().leaves() / 4);
    run.options.insert(run.options.begin(), {"-pc_asm_blocks", std::to_string(blocks)});
  }
  run.tolerance = one.tolerance;
  run.repeats = options_.repeats;
  FMBEM_REQUIRE(!one.relaxes || one.op.equation.formulation != Formulation::solvate,
                "the formulation solvate has no relaxed products");
  if (one.relaxes) run.relax_from = one.op.tolerance;
  run.refine_to = one.true_residual;
  run.in_step = one.in_step;
  run.with_spectrum = options_.ritz;
  const std::string key = operator_key(one, krylov_choice(one.petsc).side);
  run.with_matrix = options_.spectrum && is_small && !with_spectrum_.contains(key);
  std::vector<double> x(b.size());
  const auto vectors = static_cast<int>(b.size() / n);
  solved.report = run_krylov(run, system_->op(), inverse_.get(), matrix_, b, x, vectors);
  for (const std::string& name : solved.report.unused)
    FMBEM_REQUIRE(name == "-pc_asm_blocks" || one.axes.empty(),
                  "the PETSc option " << name << " was not used by anything");
  solved.quantity = system_->quantity(data, x);
  if (solved.quantity) solved.exact = system_->exact(data);
  solved.panels = system_->panels().size();
  solved.mesh_width = system_->mesh_width();
  solved.op = system_->op()->info();
  if (run.with_matrix) with_spectrum_.insert(key);
  solved.inverse_bytes = inverse_ ? inverse_->memory_bytes() : 0;
  solved.mesh_seconds = mesh_seconds_;
  solved.operator_seconds = operator_seconds_;
  solved.preconditioner_seconds = preconditioner_seconds_;
  return solved;
}

std::string StudyRunner::system_folder(const StudyCase& one) const {
  return options_.folder + "/system-" + std::to_string(one.run);
}

void StudyRunner::pass_over(const StudyCase& one, bool has_spectrum) {
  if (std::filesystem::exists(system_folder(one))) exported_.insert(system_key(one));
  if (has_spectrum) with_spectrum_.insert(operator_key(one, krylov_choice(one.petsc).side));
}

StudyRows StudyRunner::run(const StudyCase& one) {
  try {
    return rows_of(one, solve(one));
  } catch (const Error& e) {
    return rows_of_failure(one, e.what());
  } catch (const std::bad_alloc&) {
    return rows_of_failure(one, "out of memory");
  }
}

}  // namespace fmbem::cli
