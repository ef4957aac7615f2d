#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/report.hpp"
#include "cli/solvate_options.hpp"
#include "fmbem/meshes/load.hpp"

namespace fmbem::cli {

/// What a study goes through: every list is an axis of the product of choices.
struct StudyOptions {
  std::vector<std::string> meshes{}, problems{};
  /// NAME=A,B,… of .geo numbers, and -petsc_option=A,B,…
  std::vector<std::string> sets{}, axes{};
  std::vector<std::string> mesh_sizes{};
  std::optional<std::string> unit{};
  /// Of each MESH: what lies in it.
  std::optional<std::string> media{}, molecule{};
  SolvationModelOptions solvation{};
  std::vector<int> refine{0};
  std::vector<std::string> formulations{"single"}, methods{"gmres:100"}, preconditioners{"cluster"},
      sides{"default"}, operators{"auto"}, precisions{"auto"}, backends{"cpu"},
      right_hand_sides{"one"}, relax{"no"};
  std::vector<double> tolerances{1e-6};
  std::vector<double> operator_tolerances{};  ///< empty: a tenth of the solver's
  std::vector<double> true_residuals{0};      ///< that corrections lead to; 0 for none
  std::vector<int> in_step{most_together};    ///< right-hand sides that share products
  int repeats = 1, most_iterations = 300;
  bool ritz = false, spectrum = false, exports = false;
  // Not of the arguments that make a study what it is:
  std::optional<int> threads{};
  std::string folder{}, file{};
  std::optional<std::string> plot{};
  bool quiet = false;
};
inline const std::vector<std::string> preconditioner_words{"cluster", "none", "jacobi", "leaves",
                                                           "asm",     "ilu",  "gamg",   "lu"};
void add_study_options(CLI::App& app, StudyOptions& options);

/// Takes what the command line leaves open from a .toml or .json file, whose names are those of the
/// options. Throws InputError for names that are none and values that do not fit.
void read_study_file(CLI::App& app, const std::string& file);

/// All that tells studies apart, with paths of meshes as they were given.
Json study_arguments(const StudyOptions& options);

/// "NAME=A,B" in parts. Throws InputError where it is nothing of the kind.
std::pair<std::string, std::vector<std::string>> parse_axis(const std::string& option,
                                                            const std::string& text);

}  // namespace fmbem::cli
