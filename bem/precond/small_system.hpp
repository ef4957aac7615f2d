#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/precond/cluster_tree.hpp"

namespace fmbem {

/// The nodes of a leaf's cut as unknowns of a small system, the leaf's own panels last, in
/// coordinates from the leaf's centroid in units of its radius. Holds a thread's buffers.
struct PlacedCut {
  void place(const ClusterTree& tree, std::span<const std::int32_t> cut, const Cluster& leaf,
             std::span<const Triangle> panels);

  /// Calls body(s, t) for pairs of panels in the cut that take exact entries.
  template <class Body>
  void for_touching_panels(Body&& body) const {
    for (auto s = panels_in_cut.begin(); s != panels_in_cut.end(); ++s)
      for (auto t = s + 1; t != panels_in_cut.end(); ++t)
        if (triangles_touch(*s->panel, *t->panel)) body(*s, *t);
  }

  struct PanelInCut {
    int place;
    const Triangle* panel;
  };

  int m = 0;  ///< unknowns
  double unit = 1;
  std::vector<float> x, y, z, smear2, scale;
  std::vector<PlacedSegment> segment;
  bool has_long = false;
  std::vector<PanelInCut> panels_in_cut;
};

/// The matrix of a small system, [column][row], and the last rows of its inverse. T is float or
/// std::complex<float>.
template <class T>
class BasicSmallMatrix {
 public:
  void resize(int m) {
    m_ = m;
    values_.resize(static_cast<std::size_t>(m) * m);
  }
  T* column(int l) { return values_.data() + index(0, l); }
  const T* column(int l) const { return values_.data() + index(0, l); }
  T& at(int row, int column) { return values_[index(row, column)]; }

  /// rows, [m][own]: the last rows of the inverse of the symmetric matrix whose lower triangle is
  /// given, by Cholesky: [0 | 1] (L Lᵀ)⁻¹. False if it is not positive definite. Of real ones.
  bool invert_symmetric(int own, T* rows);

  /// The same for any matrix, by LU: Aᵀ Xᵀ = [0 | 1]ᵀ. False if it is singular. Of real ones.
  bool invert_general(int own, T* rows);
  /// The same; after the factors it takes half of the work: [0 | 1] U⁻¹ L⁻¹ P, where only the last
  /// block of the first product is not 0.
  bool invert_last_rows(int own, T* rows);

 private:
  std::size_t index(int row, int column) const {
    return static_cast<std::size_t>(column) * m_ + row;
  }

  int m_ = 0;
  std::vector<T> values_, transposed_;
  std::vector<int> pivots_;
};
using SmallMatrix = BasicSmallMatrix<float>;
template <>
bool SmallMatrix::invert_symmetric(int own, float* rows);
template <>
bool SmallMatrix::invert_general(int own, float* rows);

}  // namespace fmbem
