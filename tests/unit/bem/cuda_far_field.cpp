// The far field of panels on the GPU, without the near field; the part that this leaves out is
// integrated here.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/bem/layer/far_choice.hpp"
#include "fmbem/bem/near/norm_estimate.hpp"
#include "tests/unit/bem/device_far_field.hpp"
#include "tests/unit/bem/test_surfaces.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::cuda_far_field_tests {

namespace {

/// V or K in every entry, by exact integrals.
struct Exact {
  Exact(const Panels& panels, const Layer& layer)
      : n(panels.size()), entries(n * n), dense(make_dense_operator(panels, layer, {})) {
    dense->diagonal_block(0, static_cast<std::int64_t>(n), entries.data());
  }

  /// Adds what the far field leaves out.
  Vector with_near(const DeviceFarField& far, const Vector& x, bool transposed) const {
    Vector y = far.product;
    for (const DeviceFarField::Pairs& pairs : far.near)
      for (std::size_t v = 0; v < x.size(); v += n)
        for (const std::int32_t i : pairs.targets)
          for (const std::int32_t j : pairs.sources)
            y[v + (transposed ? j : i)] += entries[i * n + j] * x[v + (transposed ? i : j)];
    return y;
  }

  std::size_t n;
  Vector entries;
  std::shared_ptr<BoundaryOperator> dense;
};

/// Tolerances that expansions in single and in double precision reach.
constexpr double served_tolerance(Precision precision) {
  return precision == Precision::single_precision ? 1e-6 : 1e-9;
}

/// As an operator has them on these panels.
FarFieldOptions options_for(const Panels& panels, Precision precision,
                            const Layer& layer = single_layer) {
  const double tolerance = served_tolerance(precision);
  const bool crowded = is_crowded(crowding(panels));
  return {.order = far_order_for(tolerance, layer.source, crowded),
          .precision = precision,
          .moment_tolerance = 0.5 * tolerance,
          .max_leaf = 20,
          .source = layer.source,
          .crowded = crowded};
}

Vector part(const Vector& x, std::size_t n, std::size_t k) {
  return {x.begin() + k * n, x.begin() + (k + 1) * n};
}

}  // namespace

TEST_CASE("far and near field of panels on the GPU add up to the direct sum") {
  if (!gpu_is_there()) return;
  // More vectors than go through the stages together; the first one's far field is the largest.
  constexpr std::size_t vectors = 11;
  for (const Surface& surface : surfaces())
    for (const Layer& layer : {single_layer, double_layer}) {
      const Panels panels = make_panels(surface.make());
      const std::size_t n = panels.size();
      const Exact exact(panels, layer);
      const double norm = layer == single_layer ? norm_of(*exact.dense) : 0.5;
      Vector x = signed_charges(vectors * n, 1), direct(vectors * n);
      std::fill_n(x.begin(), n, 1.0);
      for (const bool transposed : {false, true}) {
        exact.dense->apply(x.data(), direct.data(),
                           {.vectors = static_cast<int>(vectors), .transposed = transposed});
        for (const auto& [precision, sparing, keeps] :
             {std::tuple{Precision::single_precision, false, true},
              {Precision::single_precision, false, false},
              {Precision::single_precision, true, false},
              {Precision::double_precision, false, true},
              {Precision::double_precision, false, false},
              {Precision::double_precision, true, false}}) {
          if (transposed && sparing) continue;  // gathered as the others are
          CAPTURE(surface.name, layer.name(), n, static_cast<int>(precision), transposed, sparing,
                  keeps);
          FarFieldOptions options = options_for(panels, precision, layer);
          options.sparing = sparing;
          options.keeps_moments = keeps;
          options.transposed = transposed;
          const DeviceFarField far = far_field_on_device(panels, options, x);
          CHECK(far.levels >= 4);
          std::size_t near = 0;
          for (const DeviceFarField::Pairs& row : far.near)
            near += row.targets.size() * row.sources.size();
          // Most pairs of long panels are near, as panels are not cut here and may stick out by a
          // tenth.
          CHECK(near < n * n / 8 * 7);
          const Vector y = exact.with_near(far, x, transposed);
          for (std::size_t k = 0; k < vectors; ++k) {
            const double error = norm_of(difference(part(y, n, k), part(direct, n, k)));
            CHECK(error < served_tolerance(precision) * norm * norm_of(part(x, n, k)));
          }
        }
      }
    }
}

TEST_CASE("the far field of panels on the GPU is the same for any number of vectors") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(bracket(14));
  const std::size_t n = panels.size();
  const Vector x = signed_charges(3 * n, 2);
  for (const auto& [precision, keeps] : {std::pair{Precision::single_precision, true},
                                         {Precision::single_precision, false},
                                         {Precision::double_precision, true},
                                         {Precision::double_precision, false}}) {
    FarFieldOptions options = options_for(panels, precision);
    options.keeps_moments = keeps;
    const Vector all = far_field_on_device(panels, options, x).product;
    CHECK(all == far_field_on_device(panels, options, x).product);
    const Vector last = part(all, n, 2),
                 alone = far_field_on_device(panels, options, part(x, n, 2)).product;
    const double rounding = precision == Precision::single_precision ? 1e-6 : 1e-13;
    CHECK(norm_of(difference(last, alone)) < rounding * norm_of(last));
  }
}

TEST_CASE("a handful of panels has no far field on the GPU") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(sphere(0));
  const DeviceFarField far = far_field_on_device(
      panels, options_for(panels, Precision::double_precision), Vector(panels.size(), 1.0));
  CHECK(far.product == Vector(panels.size(), 0.0));
  REQUIRE(far.near.size() == 1);
  CHECK(far.near[0].targets.size() == panels.size());
  CHECK(far.near[0].sources.size() == panels.size());
}

}  // namespace fmbem::test::cuda_far_field_tests
