// FMM operators at their edges: few panels, many vectors, numbers that are not finite.
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/bem/backends.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::operator_edges_tests {

namespace {

/// The first faces of a tetrahedron.
SurfaceMesh faces_of_tetrahedron(int count) {
  SurfaceMesh mesh;
  const int group = add_group(mesh, "faces");
  for (const Vec3d v : {Vec3d{0, 0, 0}, Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}})
    add_vertex(mesh, v);
  const Faces faces{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  for (int k = 0; k < count; ++k) add_triangle(mesh, faces[k][0], faces[k][1], faces[k][2], group);
  return mesh;
}

Vector transposed_product(const BoundaryOperator& op, const Vector& x, double tolerance = 0) {
  Vector y(x.size());
  op.apply(x.data(), y.data(), {.tolerance = tolerance, .transposed = true});
  return y;
}

}  // namespace

BACKEND_TEST_CASE("one panel, two and four") {
  for (const int count : {1, 2, 4}) {
    const Panels panels = make_panels(faces_of_tetrahedron(count));
    const auto dense = make_dense_operator(panels, single_layer, {});
    const Vector x = signed_charges(count, 5);
    const Vector exact = product(*dense, x), transposed = transposed_product(*dense, x);
    for (const auto near_field : near_fields) {
      for (const double tolerance : {1e-4, 1e-9}) {
        CAPTURE(count, static_cast<int>(near_field), tolerance);
        OperatorOptions options;
        options.near_field = near_field;
        options.tolerance = tolerance;
        const auto v = make_fmm(panels, options);
        CHECK(norm_of(difference(product(*v, x), exact)) < tolerance * norm_of(exact));
        Vector accurate(count);
        v->apply(x.data(), accurate.data(), {.tolerance = v->accurate_tolerance()});
        CHECK(norm_of(difference(accurate, exact)) < 0.1 * tolerance * norm_of(exact));
        for (const double asked : {tolerance, v->accurate_tolerance()})
          CHECK(norm_of(difference(transposed_product(*v, x, asked), transposed)) <
                asked * norm_of(transposed));
        const auto inverse = v->approximate_inverse();
        Vector back(count);
        inverse->apply(exact.data(), back.data());
        CHECK(norm_of(difference(back, x)) < 0.5 * norm_of(x));
      }
    }
  }
}

BACKEND_TEST_CASE("K and K' of one panel, two and four") {
  for (const int count : {1, 2, 4}) {
    const Panels panels = make_panels(faces_of_tetrahedron(count));
    const Vector x = signed_charges(count, 5);
    for (const Layer& layer : {double_layer, adjoint_double_layer}) {
      const auto dense = make_dense_operator(panels, layer, {});
      const Vector exact = product(*dense, x), transposed = transposed_product(*dense, x);
      for (const auto near_field : near_fields)
        for (const double tolerance : {1e-4, 1e-9}) {
          CAPTURE(count, layer.name(), static_cast<int>(near_field), tolerance);
          const auto k =
              make_fmm(panels, layer, {.near_field = near_field, .tolerance = tolerance});
          // All is near, and a panel has no entry with itself: integrals are as accurate as the
          // tolerance.
          CHECK(norm_of(difference(product(*k, x), exact)) < tolerance * norm_of(x));
          CHECK(norm_of(difference(transposed_product(*k, x), transposed)) <
                tolerance * norm_of(x));
        }
    }
  }
}

BACKEND_TEST_CASE("more vectors than go through the stages together") {
  const Panels panels = make_panels(cube(10));
  const std::size_t n = panels.size();
  constexpr int vectors = 19;
  const Vector x = signed_charges(vectors * n, 9);
  for (const auto near_field : near_fields)
    for (const Precision precision : {Precision::single_precision, Precision::double_precision}) {
      OperatorOptions options;
      options.max_leaf = 20;
      options.near_field = near_field;
      options.precision = precision;
      const auto v = make_fmm(panels, options);
      // Integrals that are made in a product in single precision are rounded in another way for one
      // vector than for four: by up to 2e-8 of the norm.
      const bool rounds = near_field == OperatorOptions::NearField::lean &&
                          precision == Precision::single_precision;
      Vector y(x.size()), accurate(x.size());
      v->apply(x.data(), y.data(), {.vectors = vectors});
      v->apply(x.data(), accurate.data(),
               {.vectors = vectors, .tolerance = v->accurate_tolerance()});
      Vector transposed(x.size());
      v->apply(x.data(), transposed.data(), {.vectors = vectors, .transposed = true});
      for (int k = 0; k < vectors; ++k) {
        const auto part = [&](const Vector& all) {
          return Vector(all.begin() + k * n, all.begin() + (k + 1) * n);
        };
        const Vector one = product(*v, part(x)), other = transposed_product(*v, part(x));
        const double rounding = rounds ? 2e-8 * v->norm() * norm_of(part(x)) : 0;
        CHECK(norm_of(difference(one, part(y))) < 1e-13 * norm_of(one) + rounding);
        CHECK(norm_of(difference(one, part(accurate))) < 1e-6 * norm_of(one));
        CHECK(norm_of(difference(other, part(transposed))) < 1e-13 * norm_of(other) + rounding);
      }
    }
}

BACKEND_TEST_CASE("vectors that are not finite are refused, and do no harm") {
  const Panels panels = make_panels(cube(10));
  const std::size_t n = panels.size();
  for (const auto near_field : near_fields) {
    OperatorOptions options;
    options.max_leaf = 20;
    options.near_field = near_field;
    const auto v = make_fmm(panels, options);
    const Vector good = signed_charges(3 * n, 9);
    Vector y(3 * n), again(3 * n);
    v->apply(good.data(), y.data(), {.vectors = 3});
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
          -std::numeric_limits<double>::infinity()}) {
      Vector x = good;
      x[n + 17] = bad;
      CHECK_THROWS_AS(v->apply(x.data(), again.data(), {.vectors = 3}), InputError);
      CHECK_THROWS_AS(v->apply(x.data(), again.data(), {.vectors = 3, .transposed = true}),
                      InputError);
      CHECK_THROWS_AS(
          v->apply(x.data(), again.data(), {.vectors = 3, .tolerance = v->accurate_tolerance()}),
          InputError);
    }
    v->apply(good.data(), again.data(), {.vectors = 3});
    CHECK(again == y);
  }
}

BACKEND_TEST_CASE("threads share an operator") {
  const Panels panels = make_panels(sphere(4));
  const auto v = make_fmm(panels, {.tolerance = 1e-5, .max_leaf = 30});
  constexpr int threads = 3;
  std::vector<Vector> xs, alone, together(threads);
  for (int t = 0; t < threads; ++t) {
    xs.push_back(signed_charges(panels.size(), 80 + t));
    alone.push_back(product(*v, xs[t]));
  }
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (int k = 0; k < 3; ++k) together[t] = product(*v, xs[t]);
    });
  for (std::thread& thread : all) thread.join();
  CHECK(together == alone);
}

BACKEND_TEST_CASE("what a callback of progress throws comes through, and does no harm") {
  const Panels panels = make_panels(sphere(3));
  const Vector x = signed_charges(panels.size(), 84);
  for (const double from : {0.0, 0.5, 1.0}) {
    CAPTURE(from);
    const auto stop = [&](double fraction) {
      if (fraction >= from) throw std::runtime_error("stopped");
    };
    CHECK_THROWS_AS(make_fmm(panels, {.progress = stop}), std::runtime_error);
    CHECK_THROWS_AS(make_dense_operator(panels, single_layer, {.progress = stop}),
                    std::runtime_error);
  }
  const auto fast = make_fmm(panels, {.tolerance = 1e-5});
  const auto dense = make_dense_operator(panels, single_layer, {});
  CHECK(norm_of(difference(product(*fast, x), product(*dense, x))) <
        1e-5 * norm_of(*dense) * norm_of(x));
}

}  // namespace fmbem::test::operator_edges_tests
