#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/bem/layer/mixed_rows.hpp"

namespace fmbem {

/// The bound charge of interfaces that hang together and touch nothing else, by Gauss's law alone:
///
///     Q = Σ_sums factor Σ_part A b + Σ_charges factor Q_part,   b the right-hand side of the rows,
///
/// whatever their own σ. With ε_out around them, ε̄ the mean of both sides of a wall, and chambers r
///
///     ε_out Q = Σ_walls ε̄ Σ_wall A b + Σ_r (ε_r − ε_out) Q_r,
///
/// which is what the rows, weighted by A ε̄, add up to. T is double or complex.
template <class T>
struct KnownCharge {
  using Terms = std::vector<std::pair<std::int32_t, T>>;
  std::vector<std::int32_t> parts{};  ///< what has this charge, all of it
  Terms sums{}, charges{};            ///< by part
};

/// Puts what is known in the place of charges that equations and shifts (of MixedRows or
/// ComplexRows) would take from σ: the law of a body times ε/ε_out of the charges inside. At high
/// contrasts these would carry what the residual has left of them to the body's charge, so
/// many times as large. Returns the shifts of the right-hand side alone, by rows, that take their
/// place.
template <class T, class Rows>
std::vector<BasicPartShift<T>> put_in_known_charges(std::span<const KnownCharge<T>> known,
                                                    Rows& rows);

}  // namespace fmbem
