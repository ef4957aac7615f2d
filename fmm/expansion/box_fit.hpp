#pragma once

#include <array>
#include <vector>

#include "fmbem/fmm/expansion/harmonics.hpp"
#include "fmbem/fmm/expansion/parity_order.hpp"
#include "fmbem/fmm/kernel/yukawa.hpp"

namespace fmbem::fmm {

/// The degree q up to which the fit guesses, for expansions of degree p. Higher degrees change the
/// error by some percent only.
constexpr int fitted_degree(int p) { return p + 3 + p / 3; }
inline constexpr int highest_fitted_degree = fitted_degree(highest_order);

/// What the moments of degree ≤ p of a box tell about those of degree p+1 … q.
///
/// For charges that are white noise in the unit cube, moments i and j have the covariance
/// G_ij = ∫_cube R_i R_j, R_i being the regular functions, so the best linear guess of the higher
/// ones from the lower ones is B = G_qp G_pp⁻¹. The same matrix, transposed, is the least-squares
/// projection over the cube of a local expansion of degree q to one of degree p. M2L blocks of
/// order q between both, Bᵀ X B, are better than those of order p by a factor that grows with p
/// (docs/decisions.md) and as large. G does not mix parity classes. Making it takes the products of
/// harmonics at some (3q/8)³ nodes, O(K_p K_q q³), a projection O(K_p K_q²/8).
class BoxFit {
 public:
  /// Of Laplace where κ, times the side of the box, is 0.
  BoxFit(const ParityOrder& low, const ParityOrder& high, const Yukawa& kernel = {0});

  /// Buffers of projections, kept for the next one, as touching them first takes long.
  struct Room {
    std::vector<double> right, columns, rows, packed, result;
  };
  /// Bᵀ X B: from X [K_q][K_q] to [K_p][K_p], which is left in the buffers.
  const std::vector<double>& project(const std::vector<double>& x, Room& room) const;

  /// Bᵀ of a class without its unit block: [harmonics of degree ≤ p][of degree p+1 … q].
  const std::vector<double>& transposed(int e) const { return classes_[e].transposed; }

 private:
  /// B of a class without its unit block, [unknown][known].
  struct Class {
    int known, unknown;
    std::vector<double> transposed;  ///< [known][unknown]
    std::vector<double> packed;      ///< for CpuKernels::multiply
  };

  ParityOrder low_, high_;
  std::array<Class, 8> classes_;
};

}  // namespace fmbem::fmm
