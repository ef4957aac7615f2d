// K' at centroids by the FMM, on either processor.
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/bem/backends.hpp"
#include "tests/unit/bem/test_surfaces.hpp"
#include "tests/unit/bem/yukawa_cases.hpp"
#include "tests/unit/catch.hpp"
#ifdef FMBEM_TEST_CUDA
#include "tests/unit/cuda/on_device.hpp"
#endif

namespace fmbem::test::centroid_flux_tests {

namespace {

OperatorOptions at_centroids(OperatorOptions options) {
  options.normal_rows = NormalRows::at_centroids;
  return options;
}

Vector applied(const BoundaryOperator& op, const Vector& x, const Product& product) {
  Vector y((product.transposed ? op.columns() : op.rows()) * product.vectors);
  op.apply(x.data(), y.data(), product);
  return y;
}

/// Two sheets of slivers, one above the other.
SurfaceMesh sliver_sheets() {
  SurfaceMesh mesh;
  add_grid(mesh, add_group(mesh, "slivers"), 16, {0, 0, 0}, {1, 0, 0}, {0, 0.1, 0});
  add_grid(mesh, add_group(mesh, "above"), 16, {0, 0.02, 0.05}, {1, 0, 0.2}, {0, 0.1, 0});
  return mesh;
}

}  // namespace

BACKEND_TEST_CASE("K' at centroids by the FMM is as close to the dense one as its tolerance says") {
  const std::vector<Surface> bodies{{"sphere", [] { return sphere(3); }},
                                    {"cube", [] { return cube(9); }},
                                    {"torus", [] { return torus(36, 12); }},
                                    {"sheets of slivers", sliver_sheets},
                                    {"one large panel", one_large_panel}};
  for (const Surface& body : bodies) {
    const Panels panels = make_panels(body.make());
    Vector all;
    for (const Vector& x : densities(panels)) all.insert(all.end(), x.begin(), x.end());
    const auto one_of = [&](const Vector& vectors, std::size_t v) {
      const auto first = vectors.begin() + static_cast<std::ptrdiff_t>(v * panels.size());
      return Vector(first, first + static_cast<std::ptrdiff_t>(panels.size()));
    };
    for (const double kappa : {0.0, 6 / panels.extent}) {
      if (kappa > 0 && body.name != "torus") continue;
      const auto exact =
          make_boundary_operator(panels, adjoint_double_layer, at_centroids(with(dense, kappa)));
      for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
        // Making operators of a high order takes most of the time.
        if (tolerance < 1e-6 && (body.name != "sphere" || sanitized)) continue;
        OperatorOptions options = at_centroids(with(fast, kappa, tolerance));
        options.max_leaf = 12;
        const auto op = make_fmm(panels, adjoint_double_layer, options);
        CAPTURE(body.name, kappa, tolerance, op->info().order);
        CHECK(op->info().name == "K'");
        CHECK(op->info().kind == OperatorKind::fmm);
        CHECK(op->info().levels >= 3);
        for (const bool transposed : {false, true})
          for (const double asked : {tolerance, 0.1 * tolerance}) {
            const Product product{.vectors = 4, .tolerance = asked, .transposed = transposed};
            const Vector error =
                difference(applied(*op, all, product), applied(*exact, all, product));
            for (std::size_t v = 0; v < 4; ++v) {
              CAPTURE(transposed, asked, v);
              CHECK(norm_of(one_of(error, v)) < asked * 0.5 * norm_of(one_of(all, v)));
            }
          }
      }
    }
  }
}

BACKEND_TEST_CASE(
    "transposed products of K' at centroids have the forward ones' factors and bits") {
  // Leaves of more targets than a block of the GPU has threads, and of fewer than a warp's lanes;
  // a few panels that are all near to each other.
  for (const auto& [mesh, max_leaf, tolerance] : {std::tuple(cube(13), 500, 1e-6),
                                                  {cube(13), 7, 1e-6},
                                                  {sphere(4), 40, 1e-9},
                                                  {cube(2), 50, 1e-6}}) {
    const Panels panels = make_panels(mesh);
    OperatorOptions options = at_centroids(with(fast, 0, tolerance));
    options.max_leaf = max_leaf;
    const auto op = make_fmm(panels, adjoint_double_layer, options);
    const Vector x = signed_charges(panels.size(), 3), y = signed_charges(panels.size(), 8),
                 of_x = applied(*op, x, {}), of_y = applied(*op, y, {.transposed = true});
    CAPTURE(panels.size(), max_leaf, tolerance);
    // Both are the same far field, whose errors are rounding's alone then.
    const double rounding = tolerance < 1e-6 ? 1e-12 : 1e-6;
    CHECK(std::abs(inner_product(y, of_x) - inner_product(of_y, x)) <
          rounding * (norm_of(y) * norm_of(of_x) + norm_of(of_y) * norm_of(x)));
    CHECK(applied(*op, y, {.transposed = true}) == of_y);
    CHECK(applied(*op, x, {}) == of_x);  // forward products are as they were
  }
}

BACKEND_TEST_CASE("blocks of K' at centroids, several vectors and vectors on the device") {
  const Panels panels = make_panels(torus(36, 12));
  PanelBlock block;
  for (std::size_t i = 0; i < panels.size(); ++i)
    (i % 3 == 0 ? block.rows : block.columns).push_back(static_cast<std::int32_t>(i));
  const OperatorOptions options = at_centroids(with(fast, 0, 1e-6));
  const auto op = make_fmm(panels, adjoint_double_layer, options, block),
             exact = make_boundary_operator(panels, adjoint_double_layer,
                                            at_centroids(with(dense, 0)), block);
  REQUIRE(op->columns() == block.columns.size());
  REQUIRE(op->rows() == block.rows.size());
  for (const bool transposed : {false, true})
    for (const double asked : {0.0, 1e-7}) {
      const Product product{.vectors = 2, .tolerance = asked, .transposed = transposed};
      const Vector x = signed_charges(2 * (transposed ? op->rows() : op->columns()), 4),
                   y = applied(*op, x, product);
      CAPTURE(transposed, asked);
      CHECK(norm_of(difference(y, applied(*exact, x, product))) <
            (asked > 0 ? asked : 1e-6) * norm_of(x));
#ifdef FMBEM_TEST_CUDA
      REQUIRE(op->processor() == Processor::gpu);
      const auto d_x = on_device(x);
      cuda::DeviceArray<double> d_y(y.size());
      op->apply_on_device(d_x.data(), d_y.data(), product);
      op->wait();
      CHECK(norm_of(difference(on_host(d_y), y)) < 1e-12 * norm_of(y));
#endif
    }
  Vector x = signed_charges(op->rows(), 4), y(op->columns());
  x[5] = std::nan("");
  CHECK_THROWS_AS(op->apply(x.data(), y.data(), {.transposed = true}), InputError);
}

}  // namespace fmbem::test::centroid_flux_tests
