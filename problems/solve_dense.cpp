#include "fmbem/problems/solve_dense.hpp"

#include <utility>

#include "fmbem/fmm/base/error.hpp"

extern "C" {
void dgesv_(const int* n, const int* columns, double* a, const int* lda, int* pivots, double* b,
            const int* ldb, int* info);
void zgesv_(const int* n, const int* columns, std::complex<double>* a, const int* lda, int* pivots,
            std::complex<double>* b, const int* ldb, int* info);
}

namespace fmbem {
namespace {

template <class T, class Solve>
std::vector<T> solved(const std::vector<T>& a, std::vector<T> b, Solve&& solve) {
  const int n = static_cast<int>(b.size()), one = 1;
  if (n == 0) return b;
  std::vector<T> by_columns(a.size());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) by_columns[j * n + i] = a[i * n + j];
  std::vector<int> pivots(n);
  int failed = 0;
  solve(&n, &one, by_columns.data(), &n, pivots.data(), b.data(), &n, &failed);
  FMBEM_REQUIRE(failed == 0, "the potentials of "
                                 << n
                                 << " conductors do not follow from their charges: "
                                    "give one of them a potential");
  return b;
}

}  // namespace

std::vector<double> solve_dense(const std::vector<double>& a, std::vector<double> b) {
  return solved(a, std::move(b), dgesv_);
}

std::vector<std::complex<double>> solve_dense(const std::vector<std::complex<double>>& a,
                                              std::vector<std::complex<double>> b) {
  return solved(a, std::move(b), zgesv_);
}

}  // namespace fmbem
