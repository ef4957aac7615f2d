#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/solve_run.hpp"
#include "fmbem/problems/solvation/solvation.hpp"

namespace fmbem::cli {

/// Of what is around molecules.
struct SolvationModelOptions {
  SolvationModel model;  ///< without κ
  std::optional<double> kappa, ionic_strength;
  /// Whether a medium's option has another value than its default.
  bool is_given() const;
};
/// Permittivities, ions and temperature.
void add_medium_options(CLI::App& app, SolvationModelOptions& options);
/// These, the formulation and the unit of energies.
void add_model_options(CLI::App& app, SolvationModelOptions& options);

/// The model with κ. Throws InputError for what cannot be.
SolvationModel model_of(const SolvationModelOptions& options);

/// Throws InputError for a lean near field, which derivative formulations have not.
void refuse_lean(SolvationFormulation formulation, const OperatorOptions& op);

/// Options of fmbem solvate.
struct SolvateOptions : SolveCommandOptions {
  std::string molecule;
  std::vector<std::string> surfaces;     ///< the finest
  std::vector<std::string> extrapolate;  ///< coarser ones, FILE,FILE,…, for each of `surfaces`
  SolvationModelOptions model;
  std::optional<std::string> sites;
  std::optional<std::string> file, potentials, site_energies, forces, volume, view, picture;
  std::optional<double> spacing, margin;  ///< of the volume
  std::optional<double> range;            ///< of colours
};

void add_solvate_options(CLI::App& app, SolvateOptions& options);

/// Files of surfaces level by level, the coarsest first. Throws InputError where lists of
/// --extrapolate do not go with --surface.
std::vector<std::vector<std::string>> surface_levels(const SolvateOptions& options);

}  // namespace fmbem::cli
