#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "fmbem/fmm/base/hd.hpp"
#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/expansion/parity_order.hpp"

namespace fmbem::fmm {

/// Translation operators of the Laplace kernel 1/|x − y| between boxes of unit side, row-major,
/// with coefficients in parity order. `e` is a block (a parity class), K = (p+1)².
///
/// With boxes mirrored onto each other by the reflections g (three bits, one an axis), class-wise
/// signs π_c(g) = (−1)^{|c & g|} and
///     butterfly:  M_e = Σ_g π_e(g) P_g M_g,     P_g = diag π_{class}(g),
/// every translation between a parent and its surroundings falls into eight blocks
/// (docs/theory.md).

/// M2M: rows of class e of the parent's moments from the butterfly of its children, child g being
/// octant 7 ^ g: M_parent|_e = Σ_k block[e][row][k] M_e[k].
struct UpwardBlocks {
  std::array<std::vector<double>, 8> block;  ///< [K_e][K]
};
UpwardBlocks upward_blocks(const ParityOrder& order);
// L2L is its transpose times ½, the ratio of the sides: Y_e = ½ block[e]ᵀ L_parent|_e, and
// L_g = Σ_e π_e(g) P_g Y_e.

/// The 27 orbits of the 6x6x6 boxes around a parent, each 8 mirror images: centres at
/// ±(orbit_axis(a, 0), orbit_axis(a, 1), orbit_axis(a, 2)), in sides of a child. Orbit 0 holds the
/// siblings, which are all near.
inline constexpr int orbits = 27;
/// As bits, one for each orbit: all but that of the siblings, which are near.
inline constexpr std::uint32_t all_but_siblings = ((1u << orbits) - 1) & ~1u;
constexpr FMBEM_HD double orbit_axis(int orbit, int axis) {
  return 0.5 + (axis == 0 ? orbit / 9 : axis == 1 ? orbit / 3 % 3 : orbit % 3);
}

/// Where an orbit's mirror images stand: their parent among the 27 colleagues of the middle parent
/// (as in Octree::colleagues), and their octant in it.
struct OrbitPlace {
  std::int8_t colleague, octant;
};
std::array<std::array<OrbitPlace, 8>, orbits> orbit_places();

/// The vector from the mirror image h of an orbit's first box to the child in the middle, at (½, ½,
/// ½).
FMBEM_HD inline Vec3d orbit_shift(int orbit, int h) {
  Vec3d r;
  for (int axis = 0; axis < 3; ++axis)
    r[axis] = 0.5 - ((h >> (2 - axis) & 1) != 0 ? -1 : 1) * orbit_axis(orbit, axis);
  return r;
}
/// Whether two boxes at that displacement touch.
FMBEM_HD inline bool boxes_touch(Vec3d r) {
  return fabs(r.x) < 1.5 && fabs(r.y) < 1.5 && fabs(r.z) < 1.5;
}

/// √(k!) for k < count. Norms of harmonics are N_n^m = √((n−m)!(n+m)!).
std::vector<double> root_factorials(int count);
/// N_n^m for n ≤ p.
class Norms {
 public:
  explicit Norms(int p) : root_factorial_(root_factorials(2 * p + 1)) {}
  double operator()(int n, int m) const { return root_factorial_[n - m] * root_factorial_[n + m]; }

 private:
  std::vector<double> root_factorial_;
};

/// An entry in the real basis of a complex operator with A_{nm,kl} = F^{m+l} for multipoles and
/// their conjugates: for the row C_n^m or S_n^|m| and the column C_k^l or S_k^|l|, up to N_n^m and
/// N_k^l. `sum` is F^{|m|+|l|}, `difference` F^{|m|−|l|}.
double real_entry(int m, int l, std::complex<double> sum, std::complex<double> difference);
/// [K], 1 / N_n^m, over √2 for m = 0.
std::vector<double> inverse_norms(const ParityOrder& order);

/// How the entries of M2L between a class of rows and one of columns come from tables
///     T_w,n^m = Σ_h (−1)^|w & h| T_n^m(r_h)
/// over the mirrored sources that do not touch the child, T_n^m being the complex irregular
/// harmonics: for the row (n, m) and the column (k, l),
///     entry = ⅛ (−1)^n (sum · T_{n+k}^{|m|+|l|} + difference · T_{n+k}^{|m|−|l|}) / (N_n^m N_k^l),
/// of T_w the real or the imaginary part.
struct M2lClasses {
  int w;
  bool imaginary;
  double sum, difference;

  FMBEM_HD M2lClasses(int e, int row_class, int column_class) : w(e ^ column_class) {
    // The factors of any complex operator in the real basis (real_entry() in translations.cpp). A
    // class has either cosines or sines, and l either even or odd.
    const bool sine_row = (row_class & 2) != 0, sine = (column_class & 2) != 0;
    const bool odd = ((column_class & 4) != 0) != sine;
    imaginary = sine_row != sine;
    sum = sine_row && sine ? -1 : 1;
    difference = odd != (!sine_row && sine) ? -1 : 1;
  }
};

/// M2L of one orbit in blocks: L_e += block(e) M_e, then L_g = Σ_e π_e(g) P_g L_e for child 7 ^ g.
/// Where source and child touch the operator is zero. The GPU makes its blocks so; those of the CPU
/// (m2l_blocks.hpp) are made of single displacements. The parity order must outlive this object.
class M2lOrbit {
 public:
  M2lOrbit(const ParityOrder& order, int orbit);

  /// Writes [K][K] to out.
  void block(int e, double* out) const;

 private:
  /// Of M2lClasses, parts apart.
  struct Table {
    std::vector<double> real, imaginary;
  };

  const ParityOrder& order_;
  std::vector<double> inverse_norm_;
  std::array<Table, 8> tables_;  ///< by w
};

/// ∂ along an axis: ∂_axis S_from = Σ value S_to over the entries with that `from` (positions).
struct Derivative {
  int from, to;
  double value;
};
std::array<std::vector<Derivative>, 3> derivatives(const ParityOrder& order);

/// The largest number of an axis' entries with the same `from`, or with the same `to`. Between
/// neighbouring degrees ∂_z keeps the order m of a solid harmonic, and ∂_x and ∂_y take it to m − 1
/// and m + 1.
inline constexpr int terms_of_a_derivative = 2;

}  // namespace fmbem::fmm
