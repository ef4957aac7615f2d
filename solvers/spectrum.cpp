#include "fmbem/solvers/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/base/machine.hpp"

using Complex = std::complex<double>;

// LAPACK has no C header that all of its packages have.
extern "C" {
void dgeev_(const char* left, const char* right, const int* n, double* a, const int* lda,
            double* real, double* imaginary, double* vl, const int* ldvl, double* vr,
            const int* ldvr, double* work, const int* lwork, int* info);
void dgesdd_(const char* vectors, const int* m, const int* n, double* a, const int* lda, double* s,
             double* u, const int* ldu, double* vt, const int* ldvt, double* work, const int* lwork,
             int* iwork, int* info);
void zheevr_(const char* vectors, const char* range, const char* triangle, const int* n, Complex* a,
             const int* lda, const double* from, const double* to, const int* first,
             const int* last, const double* tolerance, int* found, double* w, Complex* z,
             const int* ldz, int* support, Complex* work, const int* lwork, double* rwork,
             const int* lrwork, int* iwork, const int* liwork, int* info);
}

namespace fmbem {
namespace {

void check(int info, const char* what) {
  if (info != 0)
    throw Error(
        ExitCode::internal_error,
        std::string("LAPACK's ") + what + " did not converge (info " + std::to_string(info) + ")");
}

void check_size(const DenseMatrix& a) {
  const auto n = static_cast<std::size_t>(std::max(0, a.n));
  FMBEM_REQUIRE(n > 0 && a.values.size() == n * n, "a matrix of " << a.n
                                                                  << " rows and columns has not "
                                                                  << a.values.size() << " numbers");
}

/// The eigenvector of the largest eigenvalue of a Hermitian matrix.
std::vector<Complex> top_eigenvector(std::vector<Complex> h, int n) {
  std::vector<double> w(n);
  std::vector<Complex> z(n), work(1);
  std::vector<double> rwork(1);
  std::vector<int> iwork(1), support(2);
  const double unused = 0;
  int found = 0, info = 0;
  const auto call = [&](int lwork, int lrwork, int liwork) {
    zheevr_("V", "I", "L", &n, h.data(), &n, &unused, &unused, &n, &n, &unused, &found, w.data(),
            z.data(), &n, support.data(), work.data(), &lwork, rwork.data(), &lrwork, iwork.data(),
            &liwork, &info);
  };
  call(-1, -1, -1);
  work.resize(static_cast<std::size_t>(work[0].real()));
  rwork.resize(static_cast<std::size_t>(rwork[0]));
  iwork.resize(iwork[0]);
  call(static_cast<int>(work.size()), static_cast<int>(rwork.size()),
       static_cast<int>(iwork.size()));
  check(info, "zheevr");
  return z;
}

}  // namespace

std::vector<Complex> eigenvalues(DenseMatrix a) {
  check_size(a);
  const OneBlasThread one_blas_thread;
  const int n = a.n, one = 1;
  int info = 0, lwork = -1;
  std::vector<double> real(n), imaginary(n), work(1);
  const auto call = [&] {
    dgeev_("N", "N", &n, a.values.data(), &n, real.data(), imaginary.data(), nullptr, &one, nullptr,
           &one, work.data(), &lwork, &info);
  };
  call();
  lwork = static_cast<int>(work[0]);
  work.resize(lwork);
  call();
  check(info, "dgeev");
  std::vector<Complex> values;
  for (int k = 0; k < n; ++k) values.emplace_back(real[k], imaginary[k]);
  return values;
}

std::vector<double> singular_values(DenseMatrix a) {
  check_size(a);
  const OneBlasThread one_blas_thread;
  const int n = a.n, one = 1;
  int info = 0, lwork = -1;
  std::vector<double> values(n), work(1);
  std::vector<int> iwork(8 * static_cast<std::size_t>(n));
  const auto call = [&] {
    dgesdd_("N", &n, &n, a.values.data(), &n, values.data(), nullptr, &one, nullptr, &one,
            work.data(), &lwork, iwork.data(), &info);
  };
  call();
  lwork = static_cast<int>(work[0]);
  work.resize(lwork);
  call();
  check(info, "dgesdd");
  return values;
}

std::vector<Complex> field_of_values(const DenseMatrix& a, int directions) {
  check_size(a);
  FMBEM_REQUIRE(directions >= 1,
                "a field of values needs one direction or more, not " << directions);
  const OneBlasThread one_blas_thread;
  const int n = a.n;
  std::vector<Complex> boundary;
  for (int k = 0; k < directions; ++k) {
    const Complex turn = std::polar(1.0, -std::numbers::pi * k / std::max(1, directions - 1));
    std::vector<Complex> h(a.values.size());
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i)
        h[i + std::size_t(j) * n] = 0.5 * (turn * a.values[i + std::size_t(j) * n] +
                                           std::conj(turn) * a.values[j + std::size_t(i) * n]);
    const std::vector<Complex> x = top_eigenvector(std::move(h), n);
    Complex value = 0;
    for (int j = 0; j < n; ++j) {
      Complex column = 0;
      for (int i = 0; i < n; ++i) column += std::conj(x[i]) * a.values[i + std::size_t(j) * n];
      value += column * x[j];
    }
    boundary.push_back(value);
  }
  return boundary;
}

}  // namespace fmbem
