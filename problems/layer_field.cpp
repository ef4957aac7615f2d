#include "fmbem/problems/layer_field.hpp"

#include <utility>

namespace fmbem {

using Complex = std::complex<double>;

std::vector<double> numbers_of(std::span<const Complex> values) {
  std::vector<double> result;
  result.reserve(2 * values.size());
  for (const Complex value : values) result.push_back(value.real());
  for (const Complex value : values) result.push_back(value.imag());
  return result;
}

template <>
std::vector<double> values_of(std::span<const double> numbers) {
  return {numbers.begin(), numbers.end()};
}

template <>
std::vector<Complex> values_of(std::span<const double> numbers) {
  const std::size_t n = numbers.size() / 2;
  std::vector<Complex> result;
  result.reserve(n);
  for (std::size_t i = 0; i < n; ++i) result.emplace_back(numbers[i], numbers[n + i]);
  return result;
}

template <class T>
std::vector<T> applied_to(const BoundaryOperator& op, std::span<const T> x) {
  const std::vector<double> numbers = numbers_of(x);
  const int vectors = static_cast<int>(numbers.size() / x.size());
  std::vector<double> result(vectors * op.rows());
  op.apply(numbers.data(), result.data(),
           {.vectors = vectors, .tolerance = op.accurate_tolerance()});
  return values_of<T>(result);
}

template <>
LayerField<double> layer_field(const Panels& panels, std::span<const double> sigma,
                               std::span<const Vec3d> points, const FieldOptions& options) {
  Field field = evaluate_field(panels, sigma, points, options);
  return {std::move(field.potential), std::move(field.e)};
}

template <>
LayerField<Complex> layer_field(const Panels& panels, std::span<const Complex> sigma,
                                std::span<const Vec3d> points, const FieldOptions& options) {
  const std::vector<double> both = numbers_of(sigma);
  const std::span<const double> parts(both);
  const Field real = evaluate_field(panels, parts.first(sigma.size()), points, options),
              imaginary = evaluate_field(panels, parts.subspan(sigma.size()), points, options);
  LayerField<Complex> result;
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Vec3d a = real.e[k], b = imaginary.e[k];
    result.potential.emplace_back(real.potential[k], imaginary.potential[k]);
    result.e.push_back({{a.x, b.x}, {a.y, b.y}, {a.z, b.z}});
  }
  return result;
}

template std::vector<double> applied_to(const BoundaryOperator&, std::span<const double>);
template std::vector<Complex> applied_to(const BoundaryOperator&, std::span<const Complex>);

}  // namespace fmbem
