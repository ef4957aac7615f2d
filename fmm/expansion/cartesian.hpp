#pragma once

#include <vector>

#include "fmbem/fmm/base/hd.hpp"
#include "fmbem/fmm/expansion/parity_order.hpp"

namespace fmbem::fmm {

// Cartesian (Taylor) expansions of low order. The Taylor series of 1/|x − y| in y about 0, to
// degree p, is F(ξ)/|x| with ξ = x/|x|² and a polynomial F of degree p (Maxwell's poles, Kelvin's
// inversion): the same series as that of solid harmonics, with monomials in their place. Those of
// degree up to 6 are fewer operations by Horner's scheme than harmonics by their recurrences.

/// The highest order, from which on harmonics are faster.
inline constexpr int highest_cartesian_order = 6;

/// How many monomials x^i y^j z^k there are with i + j + k ≤ p.
constexpr FMBEM_HD int monomial_count(int p) { return (p + 1) * (p + 2) * (p + 3) / 6; }

/// Where x^i y^j z^k stands, as Horner's scheme takes monomials: i from p down, of one i all j from
/// p − i down, of these k from p − i − j down.
constexpr int monomial_index(int p, int i, int j, int k) {
  const int of_plane = p - i - j;  // what is left for k
  int before = 0;
  for (int other = p; other > i; --other) before += (p - other + 1) * (p - other + 2) / 2;
  for (int other = p - i; other > j; --other) before += p - i - other + 1;
  return before + of_plane - k;
}

/// S_position contains that monomial `value` times.
struct CartesianTerm {
  int position, monomial;
  double value;
};

/// The real solid harmonics (harmonics.hpp) in monomials, in parity order, for order.p ≤ 6.
std::vector<CartesianTerm> cartesian_terms(const ParityOrder& order);

}  // namespace fmbem::fmm
