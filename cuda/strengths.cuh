#pragma once

#include "fmbem/cuda/pass.cuh"
#include "fmbem/fmm/base/symmetric3.hpp"

namespace fmbem::cuda {

/// Where an evaluation's data are, itself in device memory: a captured graph finds them there,
/// whatever the next caller's addresses are.
struct Arguments {
  const double* charges;
  const Vec3d* dipoles;
  double* potential;
  Vec3d* gradient;
  Symmetric3d* hessian = nullptr;
};
void set_arguments(Arguments* to, const Arguments& arguments, cudaStream_t stream);

/// Bits of the largest |q| and |scale d| of each right-hand side, [vectors].
void find_largest(const Arguments* arguments, std::int64_t n, int vectors, bool charges,
                  bool dipoles, double scale, unsigned long long* largest, cudaStream_t stream);

/// What is filled with strengths, [vectors][sources]; dipoles null where there are none.
template <class N>
struct SortedStrengths {
  bool charges;  ///< whether there are any
  ChargedPoint<N>*places, *dipoles;
};
/// Strengths in the points' order, scaled by powers of two so that the largest of each right-hand
/// side is in [1, 2): any size then stays in the range of single precision.
template <class N>
void sort_strengths(const Arguments* arguments, const PointsView<N>& sources, int vectors,
                    double scale, const unsigned long long* largest, const SortedStrengths<N>& out,
                    cudaStream_t stream);

/// Charges alone, of sources that are not points: [vectors][kinds][n], as they are handed over.
template <class T>
void sort_charges(const Arguments* arguments, const std::int32_t* order, std::int64_t n,
                  int vectors, int kinds, const unsigned long long* largest, T* charges,
                  cudaStream_t stream);

/// The arrays of PointsView.
template <class N>
struct PointArrays {
  N *x, *y, *z;
  float *low_x = nullptr, *low_y = nullptr, *low_z = nullptr;
  double *exact_x = nullptr, *exact_y = nullptr, *exact_z = nullptr;
};
/// The points of the leaves, sources or targets, in the caller's unit; and the sources, from whose
/// first in a leaf lower parts are counted.
struct PointsToPlace {
  const Vec3d* points;
  const std::int32_t* order;
  const Vec3d* sources;
  const std::int32_t* source_order;
  double scale;
  Cube root;
  TreeView tree;
  bool are_sources;
  const std::int32_t* leaves;
  std::int64_t n_leaves;
};
template <class N>
void place_points(const PointsToPlace& from, const PointArrays<N>& out, cudaStream_t stream);

}  // namespace fmbem::cuda
