#pragma once

#include <vector>

namespace fmbem::test {

/// The last `own` rows of the inverse of a matrix of so many rows, by the elimination of small
/// systems on the GPU; empty if it finds that the matrix is singular. Both are by rows.
std::vector<float> last_rows_on_device(const std::vector<float>& matrix, int size, int own);

}  // namespace fmbem::test
