#pragma once

#include <cstdint>
#include <limits>
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

/// Sources of a near field: coordinates [count], charges [count][vectors] and dipoles, if any, by
/// component likewise.
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

/// Targets of a near field, a multiple of `lanes` of them, and the arrays [vectors][count] that
/// results are added to.
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

/// Points that are sources and targets: coordinates, charges, and the arrays [count] that results
/// are added to.
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

/// Integers hold boxes that are so many levels finer than a leaf, at most.
inline constexpr int near_levels = 2;
/// In the place of levels: of points that integers do not hold.
inline constexpr std::int8_t beyond_integers = std::numeric_limits<std::int8_t>::max();

/// Points of one box that a leaf sees. Their coordinates as seen from the leaf are `offset` eighths
/// of the leaf's side plus 2^levels times those in their own box; in double precision coordinates
/// are the same for all leaves.
struct NearRange {
  std::int32_t begin, count;  ///< of the sorted points
  std::int32_t buffer = -1;   ///< where sums for them begin in a buffer; −1: in the results
  std::int8_t levels = 0;     ///< of the leaf less those of the box
  std::int8_t offset[3] = {0, 0, 0};
};

/// The recurrences of harmonics.hpp with their coefficients, pair by pair: t counts the pairs (n,
/// m) with m ≥ 0, all n of one m first, so that C_n^m = Q_t Re(w_m) and S_n^m = Q_t Im(w_m), w_m
/// being of degree and order m.
template <class T>
struct HarmonicSteps {
  int p;
  const T *up, *down;  ///< [pairs]: Q_{t+1} = up_t z Q_t − down_t r² Q_{t−1}
  const T* diagonal;   ///< [p + 1]: w_m = diagonal_m (x + iy) w_{m−1}
};

/// A box as M2P takes it: what is to be added to its targets' coordinates so that they are from its
/// centre; and its expansion, [1 or 4][2 pairs]. Where gradients are asked for its derivatives
/// follow: of Laplace's kernel those of Σ_i M_i S_i, of others the expansions of
/// raised_moments.hpp.
template <class T>
struct M2pSource {
  T shift[3], inverse_side;
  const T* moments;
};
/// Targets of M2P, a multiple of `lanes` of them, and the arrays [count] that results are added to.
template <class T>
struct M2pTargets {
  int count;
  const T *x, *y, *z;
  T *potential, *gradient[3];  ///< null where not asked for
};

/// The hot loops of the CPU backend that do not depend on the kernel G, compiled once for each
/// instruction set.
template <class T>
struct CpuKernels {
  const char* name;
  int lanes;  ///< numbers in a vector register

  /// Adds A B to rows of C: A is [rows][depth] with rows lda apart, B as pack_panels() leaves it.
  /// Row i goes to row c_row[i] of C, [..][columns rounded up to lanes] with rows ldc apart. C is
  /// in double precision, so that sums of many products in single precision keep their digits.
  void (*multiply)(int rows, int columns, int depth, const T* a, std::int64_t lda, const T* b,
                   double* c, std::int64_t ldc, const std::int32_t* c_row);

  /// out[e][i] = Σ_g π_e(g) π_c(i)(g) in[g][i] for coefficients in parity order, class c being at
  /// begin[c] … begin[c + 1]. `in` may be of a higher order, with classes at in_begin: then the
  /// first coefficients of each class are taken.
  void (*butterfly)(const int* begin, const int* in_begin, const T* const* in, T* const* out);
  /// out[g][i] += Σ_e π_e(g) π_c(i)(g) in[e][i], `out` of a higher order likewise.
  void (*butterfly_back)(const int* begin, const int* out_begin, const double* const* in,
                         T* const* out);

  /// Puts the points of the pieces one after the other, with coordinates as the leaf sees them, and
  /// their charges unless `charge` is null.
  void (*gather)(const NearRange* pieces, int n, const NearArrays<const T>& from,
                 const NearArrays<T>& to);
  /// Adds the sums of the pieces' points, times a factor, to the results or to the buffer. May read
  /// up to a register beyond the end of the sums.
  void (*scatter)(const NearRange* pieces, int n, const T* sums, double factor, double* results,
                  double* buffer);

  /// M2P of Laplace's kernel (PairKernels) with F in monomials (expansion/cartesian.hpp),
  /// [monomial_count(order)], order ≤ 6.
  void (*m2p_cartesian)(int order, const M2pSource<T>& source, const M2pTargets<T>& targets);
};

/// The best kernels that this processor can run.
template <class T>
const CpuKernels<T>& cpu_kernels();

/// Right-hand sides that `near` takes at once; it also takes a single one.
inline constexpr int near_vectors = 4;

/// The hot loops that depend on the kernel G, compiled likewise. G comes in the coordinates' unit.
/// Sums are of g (fmm/kernel/pair.hpp), so results still have to be multiplied by the kernel's
/// scale. Plummer's kernel has those of pairs alone.
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
  /// locals[2t], locals[2t + 1] += Σ_j weight_j C_n^m(ξ_j), S_n^m(ξ_j) times the factors of the
  /// kernel's irregular functions: with ξ = y/|y|² and weights q/|y| those functions at y
  /// themselves (P2L). ξ may not be 0.
  void (*p2l)(Kernel kernel, HarmonicSteps<T> steps, int count, const T* x, const T* y, const T* z,
              const T* weights, T* locals);
  /// Adds Σ_i M_i T_i(d) over the side, and its gradient; d is the target from the box's centre in
  /// its sides, T_i the irregular functions. As these are regular ones at ξ = d/|d|², over |d|
  /// (Kelvin), this is L2P at inverted points: of Laplace's kernel, with F = Σ_i M_i S_i,
  ///     u = F(ξ)/|d|,   ∇u = (∇F − d (F + 2 d·∇F/|d|²))/|d|³.
  void (*m2p)(Kernel kernel, HarmonicSteps<T> steps, const M2pSource<T>& source,
              const M2pTargets<T>& targets);

  /// Adds Σ_j q_j/r + d_j·(x − y_j)/r³ and its gradient for 1 or near_vectors right-hand sides.
  /// Terms with r = 0 are left out. `root_terms` says how accurate 1/r is: 0 to 1e-4 (single
  /// precision only), 1 to 1e-8, 2 to 1e-12, 3 to the last bits.
  void (*near)(Kernel kernel, int vectors, int root_terms, const NearSources<T>& sources,
               const NearTargets<T>& targets);
  /// Writes Σ_j q_j/r and its gradient over b to each point of a, a multiple of `lanes` of them,
  /// and over a to each point of b, with one root for both. Returns false if points are within
  /// close_distance in single precision: the results are then of no use.
  bool (*near_mutual)(Kernel kernel, int root_terms, const NearPoints<T>& a,
                      const NearPoints<T>& b);
  /// Adds the second derivatives of what `near` adds, of one right-hand side, to the last bits.
  void (*near_hessian)(Kernel kernel, const NearSources<double>& sources,
                       const HessianTargets& targets);
};

template <class T, class Kernel>
const PairKernels<T, Kernel>& pair_kernels();

/// The count of numbers that pack_panels() writes, and of the columns of C that `multiply` touches.
template <class T>
std::int64_t packed_size(const CpuKernels<T>& kernels, int columns, int depth);
template <class T>
int whole_registers(const CpuKernels<T>& kernels, int columns) {
  return (columns + kernels.lanes - 1) / kernels.lanes * kernels.lanes;
}

/// Packs B, whose entry (k, j) is b[k depth_stride + j column_stride], into panels that are three
/// registers wide (the last one one to three), padded with zeros.
template <class T>
void pack_panels(const CpuKernels<T>& kernels, int columns, int depth, const double* b,
                 std::int64_t depth_stride, std::int64_t column_stride, T* packed);

}  // namespace fmbem::fmm
