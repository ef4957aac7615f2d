#include "cli/study_cases.hpp"

#include <algorithm>
#include <sstream>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/meshes/panel_values.hpp"
#include "fmbem/meshes/text.hpp"
#include "fmbem/problems/known_problems.hpp"
#include "fmbem/solvers/linear_solver.hpp"

namespace fmbem::cli {
namespace {

using Words = std::vector<std::string>;

void check_words(const char* option, const Words& given, const Words& known) {
  for (const std::string& word : given) {
    std::string list;
    for (const std::string& each : known) list += (list.empty() ? "" : ", ") + each;
    FMBEM_REQUIRE(std::find(known.begin(), known.end(), word) != known.end(),
                  option << " takes " << list << ", not \"" << word << "\"");
  }
}

std::vector<PetscOption> method_options(const std::string& text) {
  const auto [type, restart] = parse_word("--ksp", text);
  std::vector<PetscOption> options{{"-ksp_type", type}};
  if (!restart) return options;
  FMBEM_REQUIRE(type == "gcr" || type.find("gmres") != std::string::npos,
                "--ksp " << text << ": " << type << " does not restart, so leave out the number");
  options.emplace_back(type == "gcr" ? "-ksp_gcr_restart" : "-ksp_gmres_restart",
                       std::to_string(*restart));
  return options;
}

/// None of the operator's own.
std::vector<PetscOption> preconditioner_options(const std::string& text) {
  const auto [word, unknowns] = parse_word("--pc", text);
  check_words("--pc", {word}, preconditioner_words);
  FMBEM_REQUIRE(!unknowns || word == "cluster", "--pc " << text << ": only cluster has a number");
  if (word == "cluster") return {};
  if (word == "leaves") return {{"-pc_type", "vpbjacobi"}};
  if (word == "asm") return {{"-pc_type", word}, {"-sub_pc_type", "lu"}};
  return {{"-pc_type", word}};
}

std::vector<PetscOption> side_options(const std::string& side) {
  if (side == "default") return {};
  if (side == "left") return {{"-ksp_pc_side", side}};
  return {{"-ksp_pc_side", side}, {"-ksp_norm_type", "unpreconditioned"}};
}

/// Every choice of one value from each axis, the last axis changing first.
std::vector<Words> product_of(const std::vector<Words>& axes) {
  std::vector<Words> all{{}};
  for (const Words& axis : axes) {
    std::vector<Words> longer;
    for (const Words& head : all)
      for (const std::string& value : axis) {
        longer.push_back(head);
        longer.back().push_back(value);
      }
    all = std::move(longer);
  }
  return all;
}

/// The product of NAME=X,Y,… lists.
std::vector<std::vector<PetscOption>> parse_axes(const char* option, const Words& texts) {
  Words names;
  std::vector<Words> values;
  for (const std::string& text : texts) {
    const auto [axis, of_axis] = parse_axis(option, text);
    names.push_back(axis);
    values.push_back(of_axis);
  }
  std::vector<std::vector<PetscOption>> all;
  for (const Words& choice : product_of(values)) {
    all.emplace_back();
    for (std::size_t k = 0; k < names.size(); ++k) all.back().emplace_back(names[k], choice[k]);
  }
  return all;
}

std::vector<StudyMesh> study_meshes(const StudyOptions& options) {
  std::vector<StudyMesh> meshes;
  for (const std::string& problem : options.problems)
    for (const int refine : options.refine) meshes.push_back({true, problem, "", {}, "", refine});
  const Words own_size{""};
  const Words& sizes = options.mesh_sizes.empty() ? own_size : options.mesh_sizes;
  for (const std::string& file : options.meshes) {
    for (const std::string& size : sizes)  // throws where these make no sense
      in_meshs_unit(file, load_options({false, file, "", {}, size, 0}, options.unit));
    for (const auto& set : parse_axes("--set", options.sets))
      for (const std::string& size : sizes)
        for (const int refine : options.refine) {
          StudyMesh mesh{false, file, "", {}, size, refine};
          for (const auto& [number_name, text] : set) {
            const std::optional<double> value = parse_number(text);
            FMBEM_REQUIRE(value,
                          "--set " << number_name << " takes numbers, not \"" << text << "\"");
            if (!mesh.set.empty()) mesh.set += " ";
            mesh.set.append(number_name).append("=").append(text);
            mesh.numbers.emplace_back(number_name, *value);
          }
          meshes.push_back(mesh);
        }
  }
  return meshes;
}

struct ToleranceChoice {
  double solver, op;
};

std::vector<ToleranceChoice> tolerance_choices(const StudyOptions& options) {
  std::vector<ToleranceChoice> all;
  for (const double solver : options.tolerances) {
    FMBEM_REQUIRE(
        solver >= least_solver_tolerance && solver <= 0.5,
        "--tolerance must be between " << least_solver_tolerance << " and 0.5, not " << solver);
    if (options.operator_tolerances.empty()) all.push_back({solver, 0.1 * solver});
  }
  for (const double op : options.operator_tolerances) {
    FMBEM_REQUIRE(op >= 1e-15 && op <= 0.5,
                  "--operator-tolerance must be between 1e-15 and 0.5, not " << op);
    for (const double solver : options.tolerances) all.push_back({solver, op});
  }
  return all;
}

/// What only one formulation reads is not ignored where that is not among those that run.
void check_formulations(const StudyOptions& options) {
  const auto runs = [&](Formulation formulation) {
    return std::any_of(
        options.formulations.begin(), options.formulations.end(),
        [&](const std::string& text) { return study_equation(text).formulation == formulation; });
  };
  FMBEM_REQUIRE(!options.media || runs(Formulation::media),
                "--media is for the formulation media: add --formulation media");
  const bool solvates = runs(Formulation::solvate);
  FMBEM_REQUIRE(!options.molecule || solvates,
                "--pqr is for the formulation solvate: add --formulation solvate");
  FMBEM_REQUIRE(solvates || !options.solvation.is_given(),
                "permittivities, ions and the temperature are for the formulation solvate: leave "
                "them out, or add --formulation solvate");
}

void check_options(const StudyOptions& options) {
  FMBEM_REQUIRE(!options.meshes.empty() || !options.problems.empty(),
                "a study needs a MESH or a --problem (see fmbem study --help)");
  FMBEM_REQUIRE(!options.meshes.empty() ||
                    (options.sets.empty() && options.mesh_sizes.empty() && !options.unit),
                "--set, --mesh-size and --unit are for a MESH: a --problem has --refine alone");
  FMBEM_REQUIRE(!options.meshes.empty() || (!options.media && !options.molecule),
                "--media and --pqr say what lies in a MESH: a --problem has its own");
  for (const std::string& problem : options.problems) known_problem(problem, 0);
  for (const int refine : options.refine)
    FMBEM_REQUIRE(refine >= 0 && refine <= most_refinements,
                  "--refine must be 0 to " << most_refinements << ", not " << refine);
  check_formulations(options);
  for (const int in_step : options.in_step)
    FMBEM_REQUIRE(in_step >= 1 && in_step <= most_together,
                  "--in-step must be 1 to " << most_together << ", not " << in_step);
  FMBEM_REQUIRE(options.repeats >= 1, "--repeat must be at least 1, not " << options.repeats);
  FMBEM_REQUIRE(options.most_iterations >= 1,
                "--max-iterations must be at least 1, not " << options.most_iterations);
  for (const double goal : options.true_residuals)
    FMBEM_REQUIRE(goal == 0 || (goal >= least_solver_tolerance && goal <= 0.5),
                  "--true-residual must be 0 or between " << least_solver_tolerance
                                                          << " and 0.5, not " << goal);
  for (const std::string& text : options.axes)
    FMBEM_REQUIRE(text.starts_with('-') && text.find(' ') == std::string::npos,
                  "--axis takes a PETSc option, -NAME=X,Y,…, not \"" << text << "\"");
  for (const std::string& rhs : options.right_hand_sides) {
    if (is_npy(rhs)) continue;
    const auto [word, count] = parse_word("--rhs", rhs);
    check_words("--rhs", {word}, {"one", "source", "opposite", "groups", "random"});
    FMBEM_REQUIRE(!count || word == "random", "--rhs " << rhs << ": only random has a number");
  }
}

/// The operators of a mesh, and the solver's tolerance for each.
std::vector<std::pair<StudyOperator, double>> study_operators(const StudyOptions& options) {
  std::vector<std::pair<StudyOperator, double>> all;
  for (const std::string& formulation : options.formulations)
    for (const std::string& backend : options.backends)
      for (const std::string& kind : options.operators)
        for (const std::string& precision : options.precisions)
          for (const ToleranceChoice& choice : tolerance_choices(options))
            all.push_back({{study_equation(formulation), kind, precision, backend, choice.op},
                           choice.solver});
  return all;
}

/// The runs with one preconditioned operator.
void add_runs(const StudyOptions& options, const StudyCase& common, std::vector<StudyCase>& cases) {
  std::vector<std::pair<std::string, int>> right_hand_sides;
  for (const std::string& rhs : options.right_hand_sides)
    for (const int in_step : options.in_step) right_hand_sides.emplace_back(rhs, in_step);
  for (const std::string& method : options.methods)
    for (const std::string& side : options.sides)
      for (const auto& axes : parse_axes("--axis", options.axes))
        for (const std::string& relax : options.relax)
          for (const double true_residual : options.true_residuals)
            for (const auto& [rhs, in_step] : right_hand_sides) {
              StudyCase one = common;
              one.in_step = in_step;
              one.run = static_cast<int>(cases.size()) + 1;
              one.method = method;
              one.side = side;
              one.axes = axes;
              one.relaxes = relax == "yes";
              one.true_residual = true_residual;
              one.rhs = rhs;
              one.petsc = {{"-ksp_max_it", std::to_string(options.most_iterations)}};
              for (const auto& some : {method_options(method), side_options(side),
                                       preconditioner_options(one.preconditioner), axes})
                one.petsc.insert(one.petsc.end(), some.begin(), some.end());
              cases.push_back(one);
            }
}

}  // namespace

std::pair<std::string, std::optional<int>> parse_word(const std::string& option,
                                                      const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {text, std::nullopt};
  const std::optional<double> number = parse_number(std::string_view(text).substr(colon + 1));
  FMBEM_REQUIRE(number && *number >= 1 && *number <= 1e6 && *number == int(*number),
                option << " takes WORD:N with a number from 1 on, not \"" << text << "\"");
  return {text.substr(0, colon), int(*number)};
}

std::string system_key(const StudyCase& one) {
  std::ostringstream key;
  key << one.mesh.file << '\n'
      << one.mesh.set << '\n'
      << one.mesh.mesh_size << '\n'
      << one.mesh.refine << '\n'
      << name(one.op.equation) << '\n'
      << one.rhs;
  return key.str();
}

std::string operator_key(const StudyCase& one, const std::string& side) {
  StudyCase any_data = one;
  any_data.rhs.clear();
  std::ostringstream key;
  key << system_key(any_data) << '\n'
      << one.op.kind << '\n'
      << one.op.precision << '\n'
      << one.op.backend << '\n'
      << one.op.tolerance << '\n'
      << one.preconditioner << '\n'
      << side;
  for (const auto& [option, value] : one.axes)  // those of the method do not change its operator
    if (!option.starts_with("-ksp_")) key << '\n' << option << ' ' << value;
  return key.str();
}

LoadOptions load_options(const StudyMesh& mesh, const std::optional<std::string>& unit) {
  LoadOptions options;
  if (!mesh.mesh_size.empty()) options.mesh_size = Length(mesh.mesh_size);
  options.refine = mesh.refine;
  options.unit = unit;
  options.numbers = mesh.numbers;
  return options;
}

std::vector<StudyCase> study_cases(const StudyOptions& options) {
  check_options(options);
  std::vector<StudyCase> cases;
  for (const StudyMesh& mesh : study_meshes(options))
    for (const auto& [op, tolerance] : study_operators(options))
      for (const std::string& preconditioner : options.preconditioners) {
        StudyCase common;
        common.mesh = mesh;
        common.op = op;
        common.tolerance = tolerance;
        common.preconditioner = preconditioner;
        add_runs(options, common, cases);
      }
  return cases;
}

}  // namespace fmbem::cli
