#include "fmbem/bem/precond/reflected_inverse.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "fmbem/bem/precond/mixed_inverse.hpp"

namespace fmbem {
namespace {

/// [parts][reflections]: number of the part that an image of a part belongs to, from 0 on.
template <class T>
std::vector<std::int32_t> parts_of_whole(const Panels& panels, const BasicMixedRows<T>& rows) {
  const PanelImages& images = *panels.images;
  const std::size_t count = images.reflections;
  const std::int32_t parts = *std::max_element(rows.part.begin(), rows.part.end()) + 1;
  // Which planes a part touches: where a vertex and its image are one.
  std::vector<std::size_t> touched(parts, 0);
  for (std::size_t i = 0; i < panels.size(); ++i)
    for (std::size_t plane = 1; plane < count; plane *= 2)
      if (images.touches(i, plane)) touched[rows.part[i]] |= plane;
  std::vector<std::int32_t> number(parts * count, -1);
  std::int32_t next = 0;
  for (std::int32_t p = 0; p < parts; ++p)
    for (std::size_t m = 0; m < count; ++m) {
      const std::size_t first = m & ~touched[p];
      number[p * count + m] = first == m ? next++ : number[p * count + first];
    }
  return number;
}

}  // namespace

ReflectedInverse::ReflectedInverse(const Panels& panels,
                                   std::unique_ptr<ApproximateInverse> of_whole, int parts)
    : panels_(panels), of_whole_(std::move(of_whole)), parts_(parts) {}

void ReflectedInverse::multiply(const double* x, double* y, const Product& product) const {
  refuse_transposed(product, "the cluster inverse");
  const PanelImages& images = *panels_.images;
  const std::size_t n = panels_.size(), of_all = images.source.size();
  const int vectors = parts_ * product.vectors;
  std::vector<double> residual(of_all * vectors), density(residual.size());
  for (int v = 0; v < vectors; ++v)
    for (std::size_t w = 0; w < of_all; ++w)
      residual[v * of_all + w] = images.sign[w] * x[v * n + images.source[w]];
  of_whole_->apply(residual.data(), density.data(), {.vectors = product.vectors});
  for (int v = 0; v < vectors; ++v)
    for (std::size_t i = 0; i < n; ++i) {
      const std::int32_t w = images.itself(i);
      y[v * n + i] = density[v * of_all + w] / images.charge[w];
    }
}

template <class T>
BasicMixedRows<T> rows_of_whole(const Panels& panels, const BasicMixedRows<T>& rows) {
  const PanelImages& images = *panels.images;
  const auto copies = [&](const auto& values) { return images.copies(std::span(values)); };
  BasicMixedRows<T> whole{copies(rows.alpha), copies(rows.beta), copies(rows.gamma)};
  if (!rows.weight.empty()) whole.weight = copies(rows.weight);
  if (rows.equations.empty()) return whole;
  const std::size_t count = images.reflections;
  const std::vector<std::int32_t> number = parts_of_whole(panels, rows);
  whole.part.resize(images.source.size());
  for (std::size_t i = 0; i < panels.size(); ++i)
    for (std::size_t m = 0; m < count; ++m) {
      const std::int32_t w = images.image[i * count + m];
      if (w >= 0) whole.part[w] = number[rows.part[i] * count + m];
    }
  std::vector<char> has_equation(number.size(), false);
  for (const BasicChargeEquation<T>& equation : rows.equations)
    for (std::size_t m = 0; m < count; ++m) {
      const std::int32_t part = number[equation.part * count + m];
      if (std::exchange(has_equation[part], true)) continue;
      BasicChargeEquation<T> image{part};
      // All images of others that lie in a part that is its own image.
      for (const auto& [other, factor] : equation.others)
        for (std::size_t k = 0; k < count; ++k) {
          const bool is_inside = number[equation.part * count + k] == part;
          const std::int32_t of_whole = number[other * count + k];
          const bool is_new = std::none_of(image.others.begin(), image.others.end(),
                                           [&](const auto& o) { return o.part == of_whole; });
          if (is_inside && is_new) image.others.push_back({of_whole, factor});
        }
      whole.equations.push_back(std::move(image));
    }
  return whole;
}

template <class T>
std::unique_ptr<ApproximateInverse> make_mixed_inverse(const Panels& panels,
                                                       const BasicMixedRows<T>& rows) {
  using Inverse = BasicMixedInverse<T>;
  if (!panels.images) return std::make_unique<Inverse>(panels, triangles_of(panels), rows);
  const Panels& whole = panels.images->whole;
  return std::make_unique<ReflectedInverse>(
      panels, std::make_unique<Inverse>(whole, triangles_of(whole), rows_of_whole(panels, rows)),
      std::is_same_v<T, double> ? 1 : 2);
}

template MixedRows rows_of_whole(const Panels&, const MixedRows&);
template std::unique_ptr<ApproximateInverse> make_mixed_inverse(const Panels&, const MixedRows&);
template std::unique_ptr<ApproximateInverse> make_mixed_inverse(const Panels&, const ComplexRows&);

}  // namespace fmbem
