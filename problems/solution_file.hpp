#pragma once

#include <string>

#include "fmbem/problems/solve_problem.hpp"

namespace fmbem {

/// What a file of a solution holds.
struct KeptSolution {
  SurfaceMesh mesh;  ///< without notices, sizes and contacts
  /// What fields, charges and pictures need: conductors, panels, densities, potentials and what is
  /// applied. Of a boundary value problem also regions, sides and results, without those of groups
  /// and regions and without energies; else there are no results.
  ProblemSolution solution;
  std::string report;  ///< of the run, JSON as --json writes it
};

/// Whether a file begins as those of save_solution() do. Throws InputError for a file that
/// cannot be read.
bool is_solution_file(const std::string& file);

/// Writes a solution on a mesh as an HDF5 file with a checksum (docs/results.md has its layout),
/// whole or not at all. Throws InputError for an unwritable path and ResourceError when the disk is
/// full.
void save_solution(const std::string& path, const SurfaceMesh& mesh,
                   const ConductorSolution& solution, const std::string& report);

void save_solution(const std::string& path, const SurfaceMesh& mesh,
                   const ProblemSolution& solution, const std::string& report);

/// The same solution, to the bit. Throws InputError for files that are damaged, of another kind or
/// of another version.
KeptSolution load_solution(const std::string& file);

}  // namespace fmbem
