#pragma once

#include <cstdint>
#include <type_traits>

#include "fmbem/fmm/kernel/kernels.hpp"

namespace fmbem::fmm {

/// Coordinates of the near field. In single precision they are integers, whose differences are
/// exact before they are rounded: close pairs then keep all digits.
template <class T>
struct NearCoordinate {
  using Type = T;
};
template <>
struct NearCoordinate<float> {
  using Type = std::int32_t;
};

/// The fewest terms of the series for 1/r that the near field takes.
template <class T>
inline constexpr int fewest_root_terms = sizeof(T) == 4 ? 0 : 1;

/// Sources of a near field: coordinates [count], strengths [count][vectors] and, with dipoles,
/// their components likewise.
template <class T>
struct NearSources {
  std::int64_t count;
  const typename NearCoordinate<T>::Type *x, *y, *z;
  const T* charge;
  const T *dipole_x, *dipole_y, *dipole_z;  ///< null without dipoles
};

/// Pairs closer than this many units are left to double precision: the rounding of their
/// coordinates to integers would be more than 2^-20 of their distance.
inline constexpr float close_distance = 0x1p20f;

/// Targets of a near field, a multiple of `lanes` of them; what a result is added to,
/// [vectors][count].
template <class T>
struct NearTargets {
  std::int64_t count;
  const typename NearCoordinate<T>::Type *x, *y, *z;
  T *potential, *gradient_x, *gradient_y, *gradient_z;  ///< null where not asked for
  std::int32_t* close;  ///< counts what was left out as too close; in single precision alone
};

/// Targets of second derivatives, in double precision; what each entry of Symmetric3 is added to.
struct HessianTargets {
  std::int64_t count;
  const double *x, *y, *z;
  double* entry[6];
};

/// Points that act and are acted on: coordinates, charges and what a result is added to, [count].
template <class T>
struct NearPoints {
  std::int64_t count;
  const typename NearCoordinate<T>::Type *x, *y, *z;
  const T* charge;
  T *potential, *gradient_x, *gradient_y, *gradient_z;  ///< null where not asked for
};

/// Coordinates and charges, or null.
template <class T>
struct NearArrays {
  using Coordinate = typename NearCoordinate<std::remove_const_t<T>>::Type;
  std::conditional_t<std::is_const_v<T>, const Coordinate, Coordinate>* place[3];
  T* charge;
};

/// Integer coordinates are in 2^-29 sides of the leaf that sees them.
inline constexpr int near_side_bits = 29;

/// Points of one box that a leaf sees. Their coordinates are `offset` quarters of the leaf's side
/// and 2^levels times those in their own box; in double precision the same for all leaves.
struct NearRange {
  std::int32_t begin, count;  ///< of the sorted points
  std::int32_t buffer = -1;   ///< where sums for them begin in a buffer; −1: in the results
  std::int8_t levels = 0;     ///< of the leaf less those of the box: −1, 0 or 1
  std::int8_t offset[3] = {0, 0, 0};
};

/// Recurrences of harmonics.hpp with their coefficients at hand, pair by pair: t counts (n, m) with
/// m ≥ 0, m first, so that C_n^m = Q_t Re(w_m), S_n^m = Q_t Im(w_m), w_m of degree and order m.
template <class T>
struct HarmonicSteps {
  int p;
  const T *up, *down;  ///< [pairs]: Q_{t+1} = up_t z Q_t − down_t r² Q_{t−1}
  const T* diagonal;   ///< [p + 1]: w_m = diagonal_m (x + iy) w_{m−1}
};

/// The hot loops of the CPU backend that know of no kernel, compiled once for each instruction set.
template <class T>
struct CpuKernels {
  const char* name;
  int lanes;  ///< numbers in a vector register

  /// Adds A B to rows of C: A [rows][depth] with rows lda apart, B as pack_panels() leaves it; row
  /// i goes to row c_row[i] of C [..][columns rounded up to lanes], whose rows are ldc apart. C is
  /// in double precision, so that many products in single precision can be added up.
  void (*multiply)(int rows, int columns, int depth, const T* a, std::int64_t lda, const T* b,
                   double* c, std::int64_t ldc, const std::int32_t* c_row);

  /// out[e][i] = Σ_g π_e(g) π_c(i)(g) in[g][i] for coefficients in parity order (class c at
  /// begin[c] … begin[c + 1]). `in` may be of a higher order, whose classes are at in_begin: of
  /// each its first coefficients are taken.
  void (*butterfly)(const int* begin, const int* in_begin, const T* const* in, T* const* out);
  /// out[g][i] += Σ_e π_e(g) π_c(i)(g) in[e][i], `out` of a higher order likewise.
  void (*butterfly_back)(const int* begin, const int* out_begin, const double* const* in,
                         T* const* out);

  /// Puts the points of the pieces one after the other, as the leaf sees them; their charges too,
  /// unless `charge` is null.
  void (*gather)(const NearRange* pieces, int n, const NearArrays<const T>& from,
                 const NearArrays<T>& to);
  /// Adds sums of the pieces' points times a factor to the results or the buffer. Reads up to a
  /// register beyond the sums.
  void (*scatter)(const NearRange* pieces, int n, const T* sums, double factor, double* results,
                  double* buffer);
};

/// The best that this processor can run.
template <class T>
const CpuKernels<T>& cpu_kernels();

/// Right-hand sides that `near` can take at once, beside one.
inline constexpr int near_vectors = 4;

/// What knows the kernel, likewise. Each takes the kernel in the coordinates' unit; sums are of g
/// (fmm/kernel/pair.hpp), so that results are still to be multiplied by the kernel's scale.
template <class T, class Kernel>
struct PairKernels {
  /// Numbers of points are multiples of `lanes`.
  /// moments[2t], moments[2t + 1] += Σ_j weight_j C_n^m(x_j), S_n^m(x_j), for each of `channels`
  /// (1, 3 or 4): weights [channels][count], moments [channels][2 pairs].
  void (*p2m)(Kernel kernel, HarmonicSteps<T> steps, int channels, int count, const T* x,
              const T* y, const T* z, const T* weights, T* moments);
  /// values[channel][i] = Σ_t locals[channel][2t] C_n^m(x_i) + locals[channel][2t + 1] S_n^m(x_i).
  void (*l2p)(Kernel kernel, HarmonicSteps<T> steps, int channels, int count, const T* x,
              const T* y, const T* z, const T* locals, T* values);

  /// Adds Σ_j q_j/r + d_j·(x − y_j)/r³ and its gradient; vectors is 1 or near_vectors. Terms with
  /// r = 0 are left out. `root_terms`, 0 to 3: 1/r to 1e-4 (in single precision, else 1e-8), 1e-8,
  /// 1e-12 or the last bits.
  void (*near)(Kernel kernel, int vectors, int root_terms, const NearSources<T>& sources,
               const NearTargets<T>& targets);
  /// Writes to each point of a, a multiple of `lanes` of them, Σ_j q_j/r over b and its gradient,
  /// and to each of b likewise, with one root for both. False if points of single precision are
  /// within close_distance: the results are then of no use.
  bool (*near_mutual)(Kernel kernel, int root_terms, const NearPoints<T>& a,
                      const NearPoints<T>& b);
  /// Adds the second derivatives of what `near` adds, of one right-hand side, to the last bits.
  void (*near_hessian)(Kernel kernel, const NearSources<double>& sources,
                       const HessianTargets& targets);
};

template <class T, class Kernel>
const PairKernels<T, Kernel>& pair_kernels();

/// Numbers that pack_panels() writes, and the columns of C that `multiply` touches.
template <class T>
std::int64_t packed_size(const CpuKernels<T>& kernels, int columns, int depth);
template <class T>
int whole_registers(const CpuKernels<T>& kernels, int columns) {
  return (columns + kernels.lanes - 1) / kernels.lanes * kernels.lanes;
}

/// Packs B, whose entry (k, j) stands at b[k depth_stride + j column_stride], into panels of three
/// registers' columns (the last one of one to three), padded with zeros.
template <class T>
void pack_panels(const CpuKernels<T>& kernels, int columns, int depth, const double* b,
                 std::int64_t depth_stride, std::int64_t column_stride, T* packed);

}  // namespace fmbem::fmm
