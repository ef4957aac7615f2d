#pragma once

#include <span>
#include <string>

#include "cli/report.hpp"
#include "fmbem/problems/solvation/charge_sets.hpp"

namespace fmbem::cli {

/// How many there are, and how far the matrix is from symmetry; empty without sites.
std::string sites_text(const SquareMatrix& energies);

/// "sites" and "site_energy_kcal_per_mol".
void add_sites(Json& results, std::span<const ChargeSet> sites, const SquareMatrix& energies);

/// The matrix, as an array (.npy) or as a table with the names of sites (.csv).
void write_site_energies(const std::string& path, std::span<const ChargeSet> sites,
                         const SquareMatrix& energies);

}  // namespace fmbem::cli
