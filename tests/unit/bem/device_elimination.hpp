#pragma once

#include <vector>

namespace fmbem::test {

/// The last `own` rows of the inverse of a matrix of so many rows, by the elimination of small
/// systems on the GPU; empty if it finds that the matrix is singular. Both are by rows.
std::vector<float> last_rows_on_device(const std::vector<float>& matrix, int size, int own);

/// The inverse of a matrix of up to 128 rows in shared memory; empty if it is singular.
std::vector<float> inverse_in_shared_memory(std::vector<float> matrix, int size);

/// Rows of the inverse of a system for the potentials and fluxes of up to 128 nodes, as it is
/// solved by parts, for the last `own` ≤ 32 of them; by rows, the two equations, unknowns and rows
/// of a node next to each other. Empty if it is singular.
std::vector<float> last_rows_by_parts(const std::vector<float>& matrix, int nodes, int own);

}  // namespace fmbem::test
