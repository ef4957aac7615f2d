#pragma once

#include <cstdint>
#include <vector>

namespace fmbem {

/// What replaces the mean, weighted by area, of the rows of a part of the panels:
///
///     y_i ← y_i − (Σ_part A y)/A_part + (Q_part + Σ factor Q_other)/A_part,
///     Q_p = Σ_{j in p} w_j A_j σ_j, w the weights of MixedRows.
///
/// A floating conductor's charge is given, and its potential is not: it has no others. For a closed
/// dielectric interface the mean of the rows says Gauss's law, here divided such that its own
/// charge has the factor 1; left to the rows, at high contrasts its charge would be made of the
/// products' errors (docs/decisions.md).
template <class T>
struct BasicChargeEquation {
  std::int32_t part = 0;
  struct Other {
    std::int32_t part;
    T factor;
  };
  std::vector<Other> others{};  ///< what is inside
};
using ChargeEquation = BasicChargeEquation<double>;

/// A change of the rows of a part by sums over parts:
///
///     y_i ← y_i + Σ_terms (charge Q + flux F + row Y)/A_part,
///     F_p = Σ_p A (K'σ),   Y_p = Σ_p A y.
///
/// A ChargeEquation is such a change, with row = −1 of its own part, charge = 1 of it and charge =
/// factor of the others. Gauss's law of dielectrics that touch takes all three
/// (problems/gauss_shifts.hpp). T is double or complex.
template <class T>
struct BasicPartShift {
  std::int32_t part = 0;
  struct Term {
    std::int32_t part;
    T charge, flux, row;
  };
  std::vector<Term> terms{};
};
using PartShift = BasicPartShift<double>;

/// Parts the mean of whose rows, weighted by area and weight, is what shifts replace by a law that
/// does not depend on it.
template <class T>
struct BasicStretchedPart {
  std::int32_t part;
  T weight;
};
template <class T>
using BasicStretchedParts = std::vector<BasicStretchedPart<T>>;

/// The rows of an operator on the densities σ of panels, one panel after the other:
///
///     y_i = α_i (V σ)_i + β_i (K' σ)_i + γ_i σ_i,
///
/// K' averaged over panels (NormalRows::averaged) with their own normals; then charge equations
/// and shifts, of which a part has either.
template <class T>
struct BasicMixedRows {
  std::vector<T> alpha, beta, gamma;  ///< [n], in the order of Panels
  std::vector<std::int32_t> part{};   ///< [n], 0, 1, …; empty without equations and shifts
  std::vector<BasicChargeEquation<T>> equations{};
  std::vector<double> weight{};  ///< [n], of charges in equations; empty: 1 each
  std::vector<BasicPartShift<T>> shifts{};
  /// What takes back the row terms of shifts, by row terms alone: the inverse of rows does not know
  /// of shifts, and acts on vectors that have had this.
  std::vector<BasicPartShift<T>> inverse_shifts{};
  /// Or, where the inverse knows of shifts: whose means these replace.
  std::vector<BasicStretchedParts<T>> stretched{};
};
using MixedRows = BasicMixedRows<double>;

}  // namespace fmbem
