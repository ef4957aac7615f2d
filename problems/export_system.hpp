#pragma once

#include <string>
#include <vector>

#include "fmbem/problems/solve_conductors.hpp"

namespace fmbem {

/// The matrix is written for up to so many panels: 3.2 GB.
inline constexpr std::size_t exported_matrix_at_most = 20'000;

/// The paths of all files that export_system() writes into a folder or removes from it.
std::vector<std::string> exported_files(const std::string& folder);

/// Throws InputError for a folder that nothing can be written into. Leaves nothing behind.
void check_export_folder(const std::string& folder);

/// Writes A x = b into a folder, which is made if need be, as .npy arrays, rows and columns in the
/// order of the mesh's triangles:
///
///     b, x, residual  [n problems][n]  residual is b − A x by the product for true residuals
///     permutation     [n]              triangle of each place in the solver's own order
///     centroids       [n][3]           in the mesh's coordinates
///     areas           [n]              in its unit squared
///     normals         [n][3]
///     A               [n][n]           up to exported_matrix_at_most panels
///
/// A is found by products with unit vectors, as accurate as that for true residuals, and told of by
/// `progress`: n products. All files appear together, or none; an A.npy of an earlier export that
/// is not replaced goes. Throws ResourceError when the disk is full.
void export_system(const std::string& folder, const SolvedSystem& system,
                   const Progress& progress = {});

}  // namespace fmbem
