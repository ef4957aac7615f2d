#include "fmbem/bem/precond/small_system.hpp"

#include <algorithm>
#include <complex>
#include <type_traits>

#include <cblas.h>

extern "C" {
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
void sgetrf_(const int* m, const int* n, float* a, const int* lda, int* pivots, int* info);
void cgetrf_(const int* m, const int* n, void* a, const int* lda, int* pivots, int* info);
void sgetrs_(const char* transposed, const int* n, const int* columns, const float* a,
             const int* lda, const int* pivots, float* b, const int* ldb, int* info);
}

namespace fmbem {

void PlacedCut::place(const ClusterTree& tree, std::span<const std::int32_t> cut,
                      const Cluster& leaf, std::span<const Triangle> panels) {
  m = static_cast<int>(cut.size());
  unit = 1 / leaf.radius;
  for (auto* column : {&x, &y, &z, &smear2, &scale}) column->resize(m);
  segment.resize(m);
  has_long = false;
  panels_in_cut.clear();
  for (int k = 0; k < m; ++k) {
    const Cluster& node = tree.nodes[cut[k]];
    const PlacedCluster placed = place_cluster(node, leaf.centroid, unit);
    x[k] = placed.x;
    y[k] = placed.y;
    z[k] = placed.z;
    smear2[k] = placed.smear2;
    scale[k] = placed.scale;
    segment[k] = place_segment(node, unit);
    has_long = has_long || node.is_long();
    if (node.is_panel()) panels_in_cut.push_back({k, &panels[tree.panel(node.begin)]});
  }
}

namespace {

/// [0 | 1], [m][own]; returns where the 1 begins.
template <class T>
T* set_last_rows_of_identity(int m, int own, T* rows) {
  std::fill_n(rows, static_cast<std::size_t>(m) * own, T(0));
  T* const last = rows + static_cast<std::size_t>(m - own) * own;
  for (int i = 0; i < own; ++i) last[i * own + i] = 1;
  return last;
}

/// B ← B A⁻¹, A an upper triangle, or a lower one with a diagonal of 1.
template <class T>
void divide_by_triangle(CBLAS_UPLO triangle, int rows, int n, const T* a, int lda, T* b) {
  const CBLAS_DIAG diagonal = triangle == CblasUpper ? CblasNonUnit : CblasUnit;
  if constexpr (std::is_same_v<T, float>) {
    cblas_strsm(CblasColMajor, CblasRight, triangle, CblasNoTrans, diagonal, rows, n, 1.0F, a, lda,
                b, rows);
  } else {
    const T one(1);
    cblas_ctrsm(CblasColMajor, CblasRight, triangle, CblasNoTrans, diagonal, rows, n, &one, a, lda,
                b, rows);
  }
}

}  // namespace

template <>
bool SmallMatrix::invert_symmetric(int own, float* rows) {
  int failed = 0;
  spotrf_("L", &m_, values_.data(), &m_, &failed);
  if (failed != 0) return false;
  const int others = m_ - own;
  float* const last = set_last_rows_of_identity(m_, own, rows);
  cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, own, own, 1.0F,
              &at(others, others), m_, last, own);
  cblas_strsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, own, m_, 1.0F,
              values_.data(), m_, rows, own);
  return true;
}

template <>
bool SmallMatrix::invert_general(int own, float* rows) {
  int failed = 0;
  pivots_.resize(m_);
  sgetrf_(&m_, &m_, values_.data(), &m_, pivots_.data(), &failed);
  if (failed != 0) return false;
  transposed_.assign(static_cast<std::size_t>(m_) * own, 0.0F);
  for (int i = 0; i < own; ++i) transposed_[index(m_ - own + i, i)] = 1;
  sgetrs_("T", &m_, &own, values_.data(), &m_, pivots_.data(), transposed_.data(), &m_, &failed);
  for (int k = 0; k < m_; ++k)
    for (int i = 0; i < own; ++i) rows[k * own + i] = transposed_[index(k, i)];
  return true;
}

template <class T>
bool BasicSmallMatrix<T>::invert_last_rows(int own, T* rows) {
  int failed = 0;
  pivots_.resize(m_);
  if constexpr (std::is_same_v<T, float>)
    sgetrf_(&m_, &m_, values_.data(), &m_, pivots_.data(), &failed);
  else
    cgetrf_(&m_, &m_, values_.data(), &m_, pivots_.data(), &failed);
  if (failed != 0) return false;
  const int others = m_ - own;
  T* const last = set_last_rows_of_identity(m_, own, rows);
  divide_by_triangle(CblasUpper, own, own, &at(others, others), m_, last);
  divide_by_triangle(CblasLower, own, m_, values_.data(), m_, rows);
  for (int k = m_ - 1; k >= 0; --k)
    if (const int other = pivots_[k] - 1; other != k)
      std::swap_ranges(rows + static_cast<std::size_t>(k) * own,
                       rows + static_cast<std::size_t>(k + 1) * own,
                       rows + static_cast<std::size_t>(other) * own);
  return true;
}

template bool BasicSmallMatrix<float>::invert_last_rows(int, float*);
template bool BasicSmallMatrix<std::complex<float>>::invert_last_rows(int, std::complex<float>*);

}  // namespace fmbem
