// K' at centroids by the FMM, on either processor.
#include <memory>
#include <string>
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

}  // namespace

BACKEND_TEST_CASE("K' at centroids by the FMM is as close to the dense one as its tolerance says") {
  const std::vector<Surface> bodies{{"sphere", [] { return sphere(3); }},
                                    {"cube", [] { return cube(9); }},
                                    {"torus", [] { return torus(36, 12); }}};
  for (const Surface& body : bodies) {
    const Panels panels = make_panels(body.make());
    for (const double kappa : {0.0, 6 / panels.extent}) {
      if (kappa > 0 && body.name != "torus") continue;
      const auto exact =
          make_boundary_operator(panels, adjoint_double_layer, at_centroids(with(dense, kappa)));
      for (const double tolerance : {1e-3, 1e-6}) {
        OperatorOptions options = at_centroids(with(fast, kappa, tolerance));
        options.max_leaf = 12;
        const auto op = make_fmm(panels, adjoint_double_layer, options);
        CAPTURE(body.name, kappa, tolerance, op->info().order);
        CHECK(op->info().name == "K'");
        CHECK(op->info().kind == OperatorKind::fmm);
        for (const Vector& x : densities(panels)) {
          const double size = 0.5 * norm_of(x);
          const Vector y = product(*exact, x);
          CHECK(norm_of(difference(product(*op, x), y)) < tolerance * size);
          Vector tighter(x.size());
          op->apply(x.data(), tighter.data(), {.tolerance = 0.1 * tolerance});
          CHECK(norm_of(difference(tighter, y)) < 0.1 * tolerance * size);
          if (op->processor() == Processor::gpu) continue;
          Vector transposed(x.size()), expected(x.size());
          op->apply(x.data(), transposed.data(), {.transposed = true});
          exact->apply(x.data(), expected.data(), {.transposed = true});
          CHECK(norm_of(difference(transposed, expected)) < tolerance * size);
        }
      }
    }
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
  const std::size_t n = op->columns(), m = op->rows();
  REQUIRE(n == block.columns.size());
  REQUIRE(m == block.rows.size());
  const Vector x = signed_charges(2 * n, 4);
  Vector y(2 * m), expected(2 * m);
  op->apply(x.data(), y.data(), {.vectors = 2});
  exact->apply(x.data(), expected.data(), {.vectors = 2});
  CHECK(norm_of(difference(y, expected)) < 1e-6 * norm_of(x));
  const Product transposed{.vectors = 2, .transposed = true};
  if (op->processor() == Processor::cpu) {
    Vector of_y(2 * n), expected_of_y(2 * n);
    op->apply(y.data(), of_y.data(), transposed);
    exact->apply(y.data(), expected_of_y.data(), transposed);
    CHECK(norm_of(difference(of_y, expected_of_y)) < 1e-6 * norm_of(y));
  } else {
    CHECK_THROWS_WITH(op->apply(y.data(), expected.data(), transposed),
                      contains("transposed products of charges and dipoles are the CPU's"));
  }
#ifdef FMBEM_TEST_CUDA
  REQUIRE(op->processor() == Processor::gpu);
  const auto d_x = on_device(x);
  cuda::DeviceArray<double> d_y(2 * m);
  op->apply_on_device(d_x.data(), d_y.data(), {.vectors = 2});
  op->wait();
  CHECK(norm_of(difference(on_host(d_y), y)) < 1e-12 * norm_of(y));
#endif
}

}  // namespace fmbem::test::centroid_flux_tests
