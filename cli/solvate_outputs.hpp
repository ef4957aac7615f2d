#pragma once

#include <optional>
#include <span>
#include <vector>

#include "cli/solvate_options.hpp"
#include "fmbem/meshes/write_vtu.hpp"
#include "fmbem/problems/solvation/solvation_forces.hpp"

namespace fmbem::cli {

/// What fmbem solvate has found.
struct SolvedMolecule {
  const SurfaceMesh& mesh;
  const Solvation& solvation;
  const Molecule& molecule;
  std::span<const ChargeSet> sites;
  const std::optional<SolvationForces>& forces;
  std::vector<PanelField> fields;  ///< solvation_fields(), for files, scripts and the picture
};

/// Throws InputError for outputs that would overwrite something or cannot be written, and for
/// options of outputs that are not asked for.
void check_outputs(SolveRun& job, const SolvateOptions& options,
                   const std::vector<std::vector<std::string>>& surfaces);

/// Whether potentials are drawn, and from minus to plus what, in kT/e.
std::optional<double> drawn_range(const SolvateOptions& options);

/// Writes all that is asked for but the report and the picture.
void put_out(SolveRun& job, const SolvateOptions& options, const SolvedMolecule& solved);

/// Draws the picture, when all else is written.
void draw(SolveRun& job, const SolvateOptions& options, const SolvedMolecule& solved);

}  // namespace fmbem::cli
