#pragma once

#include <vector>

#include "fmbem/fmm/base/vec3.hpp"
#include "fmbem/fmm/expansion/parity_order.hpp"
#include "fmbem/fmm/expansion/translations.hpp"
#include "fmbem/fmm/kernel/yukawa.hpp"

namespace fmbem::fmm {

// Translations of Yukawa's kernel, as those of Laplace in translations.hpp: between boxes of unit
// side, in whose unit κ is, so that each level has operators of its own. In place of S_i and
// S_i/|x|^{2n+1} there are
//
//     R_i(x) = S_i(x) f_n(κ|x|),                  f_n(z) = (2n+1)!! i_n(z)/zⁿ,
//     T_i(x) = S_i(x) h_n(κ|x|)/|x|^{2n+1},       h_n(z) = zⁿ⁺¹ k_n(z)/(2n−1)!!,
//
// with the modified spherical Bessel functions i_n and k_n, k_0(z) = e^{−z}/z; f_n(0) = h_n(0) = 1:
//
//     exp(−κ|x−y|)/|x−y| = Σ_i R_i(y) T_i(x) for |y| < |x|  [DLMF 10.60].

/// M2M as that of Laplace, κ being in the unit of the parent's side; a shift takes R_i to all
/// degrees, those beyond p are left out. By sums over a sphere (HarmonicSamples), on which
/// harmonics are orthogonal, O(K² p²/4).
UpwardBlocks upward_blocks(const ParityOrder& order, const Yukawa& kernel);
/// How many rings its sphere has, which only a κ of some units changes.
int upward_rings(int p, const Yukawa& kernel);

/// M2L between boxes whose centres are r apart, the target's less the source's: L = A M, A [K][K].
/// O(K²) by recurrences in the degree and the order of columns, which hold because derivatives
/// commute with shifts (Chew 1992; Gumerov and Duraiswami 2003, who have them for Helmholtz's
/// kernel). Of Laplace where κ is 0.
void m2l_between(const ParityOrder& order, const Yukawa& kernel, Vec3d r, std::vector<double>& out);

/// Complex numbers, their parts apart: recurrences have real factors.
struct ComplexParts {
  std::vector<double> real, imaginary;
};
/// The same, with a table that the next call fills again, as touching it first takes long.
void m2l_between(const ParityOrder& order, const Yukawa& kernel, Vec3d r, std::vector<double>& out,
                 ComplexParts& room);

}  // namespace fmbem::fmm
