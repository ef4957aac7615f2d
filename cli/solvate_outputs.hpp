#pragma once

#include <optional>
#include <span>

#include "cli/solvate_options.hpp"
#include "fmbem/problems/solvation/solvation_forces.hpp"

namespace fmbem::cli {

/// What fmbem solvate has found.
struct SolvedMolecule {
  const SurfaceMesh& mesh;
  const Solvation& solvation;
  const Molecule& molecule;
  std::span<const ChargeSet> sites;
  const std::optional<SolvationForces>& forces;
};

/// Throws InputError for outputs that would overwrite something or cannot be written, and for
/// options of outputs that are not asked for.
void check_outputs(SolveRun& job, const SolvateOptions& options,
                   const std::vector<std::vector<std::string>>& surfaces);

/// Writes all that is asked for but the report and the picture.
void put_out(SolveRun& job, const SolvateOptions& options, const SolvedMolecule& solved);

/// Draws the picture, when all else is written.
void draw(SolveRun& job, const SolvateOptions& options, const SolvedMolecule& solved);

}  // namespace fmbem::cli
