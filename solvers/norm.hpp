#pragma once

#include <span>

namespace fmbem {

/// ‖v‖ by all threads, with the same bits for any number of them. Squares may leave the range of
/// numbers.
double norm_of(std::span<const double> values);

/// Norms of right-hand sides that PETSc, which squares numbers, can work with.
inline constexpr double least_norm = 1e-100, largest_norm = 1e100;

}  // namespace fmbem
