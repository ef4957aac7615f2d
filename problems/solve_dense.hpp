#pragma once

#include <complex>
#include <vector>

namespace fmbem {

/// x of A x = b, [n][n] by rows and [n], by LAPACK's LU factors: for a few unknowns. Throws
/// InputError for a singular matrix. O(n³).
std::vector<double> solve_dense(const std::vector<double>& a, std::vector<double> b);
std::vector<std::complex<double>> solve_dense(const std::vector<std::complex<double>>& a,
                                              std::vector<std::complex<double>> b);

}  // namespace fmbem
