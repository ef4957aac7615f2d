// Products of K and K' by the FMM of either backend against dense ones.
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "tests/adversary/operator_errors.hpp"
#include "tests/adversary/surfaces.hpp"
#include "tests/unit/bem/backends.hpp"
#include "tests/unit/bem/test_surfaces.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/double_layer_forms.hpp"
#include "tests/unit/larger_error.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::double_layer_products_tests {

namespace {

struct Body {
  const char* name;
  SurfaceMesh mesh;
};

std::vector<Body> bodies() {
  return {{"sphere", sphere(4)},
          {"cube", cube(13)},
          {"bracket", bracket(14)},
          {"plate", plate(20)},
          {"far off", sphere(4, 1e-6, {3, -2, 1})}};
}
std::vector<Body> smaller_bodies() {
  return {{"cube", cube(9)}, {"bracket", bracket(10)}, {"far off", sphere(3, 1e-6, {3, -2, 1})}};
}

std::shared_ptr<BoundaryOperator> make_dense(const Panels& panels, const Layer& layer) {
  OperatorOptions options;
  options.kind = OperatorOptions::Choice::dense;
  return make_boundary_operator(panels, layer, options);
}

/// A smooth vector, and some random ones.
Vector several_vectors(const Panels& panels, std::size_t count) {
  const std::size_t n = panels.size();
  Vector x = signed_charges(count * n, 3);
  for (std::size_t i = 0; i < n; ++i) x[i] = 1 + panels.centroid(i).x / panels.extent;
  return x;
}

/// ‖K‖ counts as 1/2, that of a sphere.
double bound(double tolerance, const Vector& x) { return tolerance * 0.5 * norm_of(x); }

/// For K' the tolerance is that of charges.
Vector charges(const Panels& panels, Vector sigma) {
  for (std::size_t i = 0; i < sigma.size(); ++i) sigma[i] *= panels.area(i % panels.size());
  return sigma;
}

}  // namespace

BACKEND_TEST_CASE("products of K by the FMM are as accurate as asked, tight ones too",
                  "[long][accuracy]") {
  constexpr int vectors = 2;
  struct Case {
    explicit Case(const Body& body)
        : name(body.name),
          panels(make_panels(body.mesh)),
          x(several_vectors(panels, vectors)),
          exact(x.size()) {
      make_dense(panels, double_layer)->apply(x.data(), exact.data(), {.vectors = vectors});
    }
    std::string name;
    Panels panels;
    Vector x, exact;
  };
  std::vector<Case> cases;
  for (const Body& body : bodies()) cases.emplace_back(body);
  // Tolerance by tolerance, so that few orders' operators, of gigabytes, have to stay.
  for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
    for (const Case& c : cases) {
      const auto fast = make_fmm(c.panels, double_layer, {.tolerance = tolerance, .max_leaf = 20});
      CHECK(fast->info().name == "K");
      CHECK(fast->info().levels >= 3);
      for (const double asked : {tolerance, fast->accurate_tolerance()}) {
        CAPTURE(c.name, tolerance, asked);
        Vector y(c.x.size());
        fast->apply(c.x.data(), y.data(), {.vectors = vectors, .tolerance = asked});
        CHECK(norm_of(difference(y, c.exact)) < bound(asked, c.x));
      }
    }
  }
}

BACKEND_TEST_CASE(
    "K of a constant is -1/2 to the FMM's tolerance, at sharp and re-entrant edges too",
    "[long][accuracy]") {
  struct Case {
    std::string name;
    Panels panels;
  };
  std::vector<Case> cases;
  for (const Polyhedron& body : polyhedra())
    cases.push_back({body.name, make_panels(body.mesh(3))});
  for (const double tolerance : {1e-3, 1e-6, 1e-9})
    for (const Case& c : cases) {
      const auto fast = make_fmm(c.panels, double_layer, {.tolerance = tolerance, .max_leaf = 12});
      CHECK(fast->info().levels >= 3);
      const Vector ones(c.panels.size(), 1.0);
      Vector error = product(*fast, ones);
      double largest = 0;
      for (double& y : error) {
        y += 0.5;
        largest = larger_error(largest, std::abs(y));
      }
      CAPTURE(c.name, tolerance, largest);
      CHECK(norm_of(error) < bound(tolerance, ones));
    }
}

BACKEND_TEST_CASE("K, its transpose and K' are as accurate as asked on all kinds of surfaces",
                  "[long][accuracy]") {
  constexpr int vectors = 2;
  constexpr Product plain{.vectors = vectors}, transposed{.vectors = vectors, .transposed = true};
  for (const Surface& surface : surfaces()) {
    const Panels panels = make_panels(surface.make());
    const Vector x = several_vectors(panels, vectors);
    Vector of_k(x.size()), of_transpose(x.size()), of_flux(x.size()), y(x.size());
    const auto dense = make_dense(panels, double_layer);
    dense->apply(x.data(), of_k.data(), plain);
    dense->apply(x.data(), of_transpose.data(), transposed);
    make_dense(panels, adjoint_double_layer)->apply(x.data(), of_flux.data(), plain);
    for (const double tolerance : {1e-3, 1e-6}) {
      CAPTURE(surface.name, tolerance);
      const OperatorOptions options{.tolerance = tolerance, .max_leaf = 20};
      const auto fast = make_fmm(panels, double_layer, options);
      CHECK(fast->info().levels >= 3);
      fast->apply(x.data(), y.data(), plain);
      CHECK(norm_of(difference(y, of_k)) < bound(tolerance, x));
      fast->apply(x.data(), y.data(), transposed);
      CHECK(norm_of(difference(y, of_transpose)) < bound(tolerance, x));
      make_fmm(panels, adjoint_double_layer, options)->apply(x.data(), y.data(), plain);
      CHECK(norm_of(charges(panels, difference(y, of_flux))) <
            bound(tolerance, charges(panels, x)));
    }
  }
}

BACKEND_TEST_CASE("K on wires along plates is as accurate as asked where orders are high",
                  "[long][accuracy]") {
  const double tolerance = 8.5e-10;
  for (const std::uint64_t seed : {5, 7, 12}) {
    Uniform uniform(seed);
    const Panels panels = make_panels(wire_on_plate(1000, Frame(), uniform));
    const auto dense = make_dense(panels, double_layer);
    const OperatorError error(panels, double_layer, *dense);
    const auto fast = make_fmm(panels, double_layer, {.tolerance = tolerance, .max_leaf = 30});
    const auto of = [&](const Vector& x, bool transposed) {
      return error(x, transposed, *fast, tolerance);
    };
    CHECK(two_norm(panels.size(), of, 8) < tolerance * 0.5);
  }
}

BACKEND_TEST_CASE("K of several vectors, with each kind of near field", "[long][cases]") {
  constexpr std::size_t vectors = 5;  // four go together, and one by itself
  for (const Body& body : smaller_bodies())
    for (const auto near_field : near_fields) {
      const Panels panels = make_panels(body.mesh);
      const auto dense = make_dense(panels, double_layer);
      const Vector x = several_vectors(panels, vectors);
      Vector y(x.size()), exact(x.size());
      dense->apply(x.data(), exact.data(), {.vectors = vectors});
      for (const double tolerance : {1e-4, 1e-8}) {
        if (sanitized && tolerance < 1e-4) break;
        CAPTURE(body.name, tolerance);
        const auto fast =
            make_fmm(panels, double_layer,
                     {.near_field = near_field, .tolerance = tolerance, .max_leaf = 20});
        CHECK(fast->info().near_field_stored == (near_field != OperatorOptions::NearField::lean));
        fast->apply(x.data(), y.data(), {.vectors = vectors});
        CHECK(norm_of(difference(y, exact)) < bound(tolerance, x));
      }
    }
}

BACKEND_TEST_CASE("K of a few panels in small leaves") {
  const Panels panels = make_panels(cube(3));
  const auto dense = make_dense(panels, double_layer);
  const Vector x = several_vectors(panels, 1), exact = product(*dense, x);
  for (const auto near_field : near_fields)
    for (const double tolerance : {1e-3, 1e-8}) {
      const auto fast = make_fmm(panels, double_layer,
                                 {.near_field = near_field, .tolerance = tolerance, .max_leaf = 4});
      CHECK(fast->info().levels >= 3);
      CHECK(norm_of(difference(product(*fast, x), exact)) < bound(tolerance, x));
    }
}

BACKEND_TEST_CASE("transposed products of K and averaged K' by the FMM are as accurate as asked",
                  "[long][accuracy]") {
  constexpr int vectors = 5;  // four go together, and one by itself
  struct Case {
    explicit Case(const Body& body)
        : name(body.name),
          panels(make_panels(body.mesh)),
          x(several_vectors(panels, vectors)),
          of_k(x.size()),
          of_flux(x.size()) {
      make_dense(panels, double_layer)
          ->apply(x.data(), of_k.data(), {.vectors = vectors, .transposed = true});
      make_dense(panels, adjoint_double_layer)
          ->apply(x.data(), of_flux.data(), {.vectors = vectors});
    }
    std::string name;
    Panels panels;
    Vector x, of_k, of_flux;
  };
  std::vector<Case> cases;
  for (const Body& body : smaller_bodies()) cases.emplace_back(body);
  // Tolerance by tolerance, as above.
  for (const double tolerance : {1e-3, 1e-6, 1e-8}) {
    for (const Case& c : cases)
      for (const auto near_field : near_fields) {
        const OperatorOptions options{
            .near_field = near_field, .tolerance = tolerance, .max_leaf = 20};
        const auto fast = make_fmm(c.panels, double_layer, options);
        const auto fast_flux = make_fmm(c.panels, adjoint_double_layer, options);
        CHECK(fast_flux->info().name == "K'");
        CHECK(fast_flux->processor() == fast->processor());
        for (const double asked : {tolerance, fast->accurate_tolerance()}) {
          CAPTURE(c.name, static_cast<int>(near_field), tolerance, asked);
          Vector y(c.x.size());
          Product product{.vectors = vectors, .tolerance = asked};
          fast_flux->apply(c.x.data(), y.data(), product);
          CHECK(norm_of(charges(c.panels, difference(y, c.of_flux))) <
                bound(asked, charges(c.panels, c.x)));
          product.transposed = true;
          fast->apply(c.x.data(), y.data(), product);
          CHECK(norm_of(difference(y, c.of_k)) < bound(asked, c.x));
        }
      }
  }
}

BACKEND_TEST_CASE("K transposed of a few panels in small leaves") {
  const Panels panels = make_panels(cube(3));
  const auto dense = make_dense(panels, double_layer);
  const Product transposed{.transposed = true};
  const Vector x = several_vectors(panels, 1);
  Vector y(x.size()), exact(x.size());
  dense->apply(x.data(), exact.data(), transposed);
  for (const auto near_field : near_fields)
    for (const double tolerance : {1e-3, 1e-8}) {
      const auto fast = make_fmm(panels, double_layer,
                                 {.near_field = near_field, .tolerance = tolerance, .max_leaf = 4});
      fast->apply(x.data(), y.data(), transposed);
      CHECK(norm_of(difference(y, exact)) < bound(tolerance, x));
    }
}

BACKEND_TEST_CASE("K' and its transpose in leaves of hundreds of panels, and of a few",
                  "[long][cases]") {
  constexpr std::size_t vectors = 5;  // four go together, and one by itself
  const Panels panels = make_panels(cube(13));
  const std::size_t n = panels.size();
  const auto dense = make_dense(panels, adjoint_double_layer);
  const Vector x = several_vectors(panels, vectors);
  Vector y(x.size()), exact(x.size());
  for (const int max_leaf : {3, 400})
    for (const double tolerance : {1e-4, 1e-8}) {
      if (sanitized && tolerance < 1e-4) break;
      const auto fast = make_fmm(panels, adjoint_double_layer,
                                 {.near_field = OperatorOptions::NearField::stored,
                                  .tolerance = tolerance,
                                  .max_leaf = max_leaf});
      for (const bool transposed : {false, true}) {
        CAPTURE(max_leaf, tolerance, transposed);
        // Errors are those of charges: of A K' A⁻¹.
        const auto in_charges = [&](Vector values) {
          for (std::size_t i = 0; i < values.size(); ++i)
            values[i] *= transposed ? 1 / panels.area(i % n) : panels.area(i % n);
          return values;
        };
        const Product product{.vectors = vectors, .transposed = transposed};
        fast->apply(x.data(), y.data(), product);
        dense->apply(x.data(), exact.data(), product);
        CHECK(norm_of(in_charges(difference(y, exact))) < bound(tolerance, in_charges(x)));
      }
    }
}

}  // namespace fmbem::test::double_layer_products_tests
