#pragma once

#include <complex>
#include <span>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/field.hpp"

namespace fmbem {

/// φ and E at points, T double or Complex.
template <class T>
struct LayerField {
  std::vector<T> potential;  ///< [n_points]
  std::vector<Vec3<T>> e;    ///< [n_points]
};
using ComplexField = LayerField<std::complex<double>>;

/// Vectors for real operators in one piece: real parts, and behind them imaginary ones.
inline std::vector<double> numbers_of(std::span<const double> values) {
  return {values.begin(), values.end()};
}
std::vector<double> numbers_of(std::span<const std::complex<double>> values);

/// Back from there.
template <class T>
std::vector<T> values_of(std::span<const double> numbers);

/// [rows]: A x of a real operator, as accurate as residuals are.
template <class T>
std::vector<T> applied_to(const BoundaryOperator& op, std::span<const T> x);

/// evaluate_field() of a single layer: φ in [σ]·length and E in [σ].
template <class T>
LayerField<T> layer_field(const Panels& panels, std::span<const T> sigma,
                          std::span<const Vec3d> points, const FieldOptions& options);

}  // namespace fmbem
