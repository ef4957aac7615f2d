// Entries of operators that the GPU integrates, against the host's exact integrals.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/layer/mixed_operator.hpp"
#include "fmbem/bem/near/exact_entry.hpp"
#include "fmbem/cuda/device_array.hpp"
#include "tests/unit/bem/test_surfaces.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/cuda/gpu.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::cuda_entries_tests {

namespace {

constexpr NormalRows averaged = NormalRows::averaged;

OperatorOptions on_gpu(double kappa = 0) {
  return {.kind = OperatorOptions::Choice::fmm, .processor = Processor::gpu, .kappa = kappa};
}

Vector columns_of(const BoundaryOperator& op, const Columns& columns) {
  Vector entries(columns.count() * (columns.transposed ? op.columns() : op.rows()), -7.0);
  cuda::DeviceArray<double> on_device{entries};
  REQUIRE(op.columns_on_device(columns, on_device.data()));
  op.wait();
  on_device.download(entries);
  return entries;
}

/// Both sides have 1e-12 of V. A solid angle is as far off as what
/// rounding makes of the target's height, for which the angle of the panel seen from ahead stands:
/// at most 2π.
double allowed(const Layer& layer, const Triangle& to, const Triangle& from, double exact) {
  constexpr double of_each = 1e-12;
  if (layer == single_layer) return 2 * of_each * std::abs(exact);
  const bool is_adjoint = layer == adjoint_double_layer;
  const double area = is_adjoint ? to.area : from.area, r2 = norm2(to.centroid - from.centroid),
               ahead = r2 > 0 ? std::min(0.5, inv_4pi * area / r2) : 0.5;
  return 2 * of_each * ahead * (is_adjoint ? from.area / to.area : 1);
}

/// The largest error over what is allowed.
double worst_of(const Panels& panels, const Layer& layer, const PanelBlock& block,
                const Columns& columns, const Vector& entries, double kappa = 0) {
  const auto n = static_cast<std::int64_t>(
      count_of(columns.transposed ? block.columns : block.rows, panels.size()));
  double worst = 0;
#pragma omp parallel for schedule(dynamic) reduction(max : worst)
  for (std::int64_t c = 0; c < columns.count(); ++c)
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t j = columns.begin + c;
      const std::int32_t row = panel_of(block.rows, columns.transposed ? j : k),
                         column = panel_of(block.columns, columns.transposed ? k : j);
      const Triangle to = panels.triangle(row), from = panels.triangle(column);
      const double exact = exact_entry(layer, averaged, to, from, row == column, kappa);
      worst = larger_error(worst,
                           std::abs(entries[c * n + k] - exact) / allowed(layer, to, from, exact));
    }
  return worst;
}

}  // namespace

TEST_CASE("the GPU's entries of V, K and K' are the host's exact ones") {
  if (!gpu_is_there()) return;
  for (const Surface& surface : surfaces())
    for (const Layer& layer : {single_layer, double_layer, adjoint_double_layer}) {
      const Panels panels = make_panels(surface.make());
      const auto n = static_cast<std::int64_t>(panels.size());
      const auto op = make_boundary_operator(panels, layer, on_gpu());
      for (const bool transposed : {false, true}) {
        const Columns some{n / 3, std::min(n, n / 3 + 150), transposed};
        CAPTURE(surface.name, layer.name(), transposed);
        CHECK(worst_of(panels, layer, {}, some, columns_of(*op, some)) <= 1);
      }
    }
}

TEST_CASE("the GPU's entries of Yukawa's operators are the host's exact ones") {
  if (!gpu_is_there()) return;
  for (const Surface& surface : surfaces())
    for (const double size : {1e-3, 6.0, 100.0}) {
      if (size != 6 && surface.name != "sphere" && surface.name != "one large panel") continue;
      const Panels panels = make_panels(surface.make());
      const double kappa = size / panels.extent;
      const auto n = static_cast<std::int64_t>(panels.size());
      const Columns some{n / 3, std::min(n, n / 3 + 4)};
      for (const Layer& layer : {single_layer, double_layer, adjoint_double_layer}) {
        CAPTURE(surface.name, layer.name(), size);
        const auto op = make_boundary_operator(panels, layer, on_gpu(kappa));
        CHECK(worst_of(panels, layer, {}, some, columns_of(*op, some), kappa) <= 1);
      }
    }
}

TEST_CASE("the GPU's entries of a block are those of its rows and columns") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(cube(9));
  const auto n = static_cast<std::int32_t>(panels.size());
  PanelBlock block;
  for (std::int32_t i = n / 4; i < n; ++i) {
    if (i % 3 != 0) block.rows.push_back(i);
    if (i % 2 != 0) block.columns.push_back(i);
  }
  for (const Layer& layer : {single_layer, double_layer, adjoint_double_layer}) {
    const auto op = make_boundary_operator(panels, layer, on_gpu(), block);
    for (const bool transposed : {false, true}) {
      const Columns all{
          0, static_cast<std::int64_t>(transposed ? block.rows.size() : block.columns.size()),
          transposed};
      CAPTURE(layer.name(), transposed);
      CHECK(worst_of(panels, layer, block, all, columns_of(*op, all)) <= 1);
    }
  }
}

TEST_CASE("the GPU's entries of mixed rows are the host's, of more columns than go together") {
  if (!gpu_is_there()) return;
  const Panels panels = make_panels(cube(9));
  const std::size_t n = panels.size();
  const Columns all{0, static_cast<std::int64_t>(n)};
  REQUIRE(n > 900);
  MixedRows rows;
  for (std::size_t i = 0; i < n; ++i) {  // of V, of K' and of both
    rows.alpha.push_back(i % 3 == 1 ? 0 : 1 + 0.1 * static_cast<double>(i % 7));
    rows.beta.push_back(i % 3 == 0 ? 0 : -1.5);
    rows.gamma.push_back(i % 3 == 0 ? 0 : 0.5);
  }
  const MixedOperator op(panels, rows, on_gpu());
  Vector exact(n * n);
  op.diagonal_block(all.begin, all.end, exact.data());
  const Vector entries = columns_of(op, all);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      const double size = std::abs(rows.alpha[i]) * panels.extent + 1;
      REQUIRE(std::abs(entries[j * n + i] - exact[i * n + j]) <= 2e-12 * size);
    }
  CHECK_FALSE(op.columns_on_device({0, 1, true}, nullptr));
}

}  // namespace fmbem::test::cuda_entries_tests
