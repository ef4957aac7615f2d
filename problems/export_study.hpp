#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fmbem/problems/study_system.hpp"

namespace fmbem {

/// More than so many panels are not written as a matrix by a study: 72 MB.
inline constexpr std::size_t exported_unknowns_at_most = 3000;

/// Writes A.npy [n][n], b.npy [vectors][n] and permutation.npy [n], the mesh's triangle of each
/// panel, into a folder, which is made if need be: A x = b in the order of panels, A by n products
/// as accurate as those for true residuals. `b` is [vectors][n]. Throws InputError for a folder
/// that cannot be written and ResourceError when the disk is full.
void export_study_system(const std::string& folder, const StudySystem& system,
                         const std::vector<double>& b);

}  // namespace fmbem
