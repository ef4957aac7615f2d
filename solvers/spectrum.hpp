#pragma once

#include <complex>
#include <vector>

namespace fmbem {

/// A square matrix, column by column.
struct DenseMatrix {
  int n = 0;
  std::vector<double> values{};  ///< [n][n], the row is the fastest index
};

/// Eigenvalues by LAPACK's dgeev, in its order. O(n³), some 25 n³ operations, as the other two.
/// Throws Error where LAPACK does not converge, and InputError for sizes that do not belong
/// together, as all three do.
std::vector<std::complex<double>> eigenvalues(DenseMatrix a);

/// Singular values by LAPACK's dgesdd, the largest first.
std::vector<double> singular_values(DenseMatrix a);

/// The boundary of the field of values {xᴴAx : ‖x‖ = 1} at as many directions from 0 to π: for each
/// angle t the point xᴴAx of the eigenvector x of the largest eigenvalue of the Hermitian part of
/// exp(−it) A [Johnson 1978, SIAM J. Numer. Anal. 15]. It is symmetric about the real axis.
std::vector<std::complex<double>> field_of_values(const DenseMatrix& a, int directions);

}  // namespace fmbem
