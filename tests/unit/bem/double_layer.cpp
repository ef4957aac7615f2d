// K and K' with constant densities: identities of Gauss' theorem, which hold to rounding on every
// closed polyhedron, and eigenfunctions.

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/adversary/operator_errors.hpp"
#include "tests/adversary/surfaces.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/double_layer_forms.hpp"
#include "tests/unit/surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::double_layer_tests {

namespace {

struct Body {
  std::string name;
  SurfaceMesh mesh;
};
SurfaceMesh ellipsoid(int level, Vec3d axes) {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "ellipsoid", level, axes);
  return mesh;
}

std::vector<Body> closed_bodies() {
  std::vector<Body> result{{"sphere", sphere(3)},
                           {"cube", cube(5)},
                           {"sphere far off", sphere(3, 1e-3, {50, -20, 3})},
                           {"flat ellipsoid", ellipsoid(3, {1, 0.4, 0.01})}};
  for (const Polyhedron& body : polyhedra()) result.push_back({body.name, body.mesh(2)});
  return result;
}

Vector random_vector(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Vector x(n);
  for (double& v : x) v = normal(random);
  return x;
}

Vector transposed_product(const BoundaryOperator& op, const Vector& x) {
  Vector y(x.size());
  op.apply(x.data(), y.data(), {.transposed = true});
  return y;
}

OperatorOptions dense_options() {
  OperatorOptions options;
  options.kind = OperatorOptions::Choice::dense;
  return options;
}

Vector areas(const Panels& panels) {
  std::vector<double> a;
  for (std::size_t i = 0; i < panels.size(); ++i) a.push_back(panels.triangle(i).area);
  return a;
}

}  // namespace

TEST_CASE("K of a constant is -1/2 on every closed polyhedron") {
  for (const Body& body : closed_bodies()) {
    INFO(body.name);
    const Panels panels = make_panels(body.mesh);
    const auto k = make_boundary_operator(panels, double_layer);
    CHECK(k->info().name == "K");
    // A rounding of the coordinates, over the smallest height of a panel's plane above another
    // panel.
    for (const double y : product(*k, std::vector<double>(panels.size(), 1)))
      CHECK(std::abs(y + 0.5) < 1e-11);
  }
}

TEST_CASE("solid angles of a closed polyhedron add up to 1 inside and 0 outside") {
  for (const Body& body : closed_bodies()) {
    INFO(body.name);
    const Panels panels = make_panels(body.mesh);
    const Vec3d c = panels.centroid(0), n = panels.triangle(0).normal;
    for (const double depth : {1e-2, 1e-4, 1e-6}) {
      const double step = depth * panels.triangle(0).radius;
      double inside = 0, outside = 0;
      for (std::size_t j = 0; j < panels.size(); ++j) {
        inside += triangle_double_layer(panels.triangle(j), c - step * n);
        outside += triangle_double_layer(panels.triangle(j), c + step * n);
      }
      CHECK(std::abs(inside + 1) < 1e-11);
      CHECK(std::abs(outside) < 1e-11);
    }
  }
}

TEST_CASE("averaged K' is the transpose of K, so that no charge flows out of nothing") {
  for (const Body& body : closed_bodies()) {
    INFO(body.name);
    const Panels panels = make_panels(body.mesh);
    const auto k = make_boundary_operator(panels, double_layer);
    const auto flux = make_boundary_operator(panels, adjoint_double_layer);
    CHECK(flux->info().name == "K'");
    const Vector area = areas(panels), sigma = random_vector(panels.size(), 3);
    std::vector<double> charge(sigma);
    for (std::size_t i = 0; i < area.size(); ++i) charge[i] *= area[i];
    const Vector y = product(*flux, sigma);
    const std::vector<double> by_k = transposed_product(*k, charge);
    double total = 0, out = 0, largest = 0;
    for (std::size_t i = 0; i < area.size(); ++i) {
      total += charge[i];
      out += area[i] * y[i];
      largest += std::abs(charge[i]);
      CHECK(std::abs(area[i] * y[i] - by_k[i]) < 1e-12 * area[i] * norm_of(sigma));
    }
    CHECK(std::abs(out + 0.5 * total) < 1e-11 * largest);
  }
}

TEST_CASE("K and K' have the eigenfunctions of spheres and spheroids", "[long][accuracy]") {
  OperatorOptions at_centroids;
  at_centroids.normal_rows = NormalRows::at_centroids;
  for (const Eigenfunction& e : eigenfunctions()) {
    std::vector<Vector> residuals;
    for (const int level : {2, 4}) {
      const Panels panels = make_panels(e.mesh(level));
      const auto k = make_boundary_operator(panels, double_layer),
                 averaged = make_boundary_operator(panels, adjoint_double_layer),
                 pointwise = make_boundary_operator(panels, adjoint_double_layer, at_centroids);
      residuals.push_back({eigen_residual(*k, panels, e, e.of_k),
                           eigen_residual(*averaged, panels, e, e.of_adjoint),
                           eigen_residual(*pointwise, panels, e, e.of_adjoint)});
    }
    INFO(e.name);
    CAPTURE(residuals);
    // The edges are a quarter as long. The flux through a flat panel is off by the surface's
    // curvature over it, which is proportional to its edges; errors of K to their squares.
    CHECK(residuals[1][0] < 0.1 * residuals[0][0]);
    CHECK(residuals[1][1] < 0.2 * residuals[0][1]);
    CHECK(residuals[1][2] < 0.35 * residuals[0][2]);
    CHECK(residuals[1][0] < 0.005);
    CHECK(residuals[1][1] < 0.01);
    CHECK(residuals[1][2] < 0.03);
  }
}

TEST_CASE("both forms of K' agree as panels get finer, next to edges too") {
  std::vector<double> differences;
  for (const int n : {4, 8}) {
    const Panels panels = make_panels(cube(n));
    OperatorOptions options;
    const std::vector<double> ones(panels.size(), 1);
    const auto averaged = product(*make_boundary_operator(panels, adjoint_double_layer), ones);
    options.normal_rows = NormalRows::at_centroids;
    const auto at_centroids =
        product(*make_boundary_operator(panels, adjoint_double_layer, options), ones);
    const Vector area = areas(panels);
    double sum = 0;
    for (std::size_t i = 0; i < area.size(); ++i)
      sum += area[i] * std::abs(averaged[i] - at_centroids[i]);
    differences.push_back(sum / 6);
  }
  CAPTURE(differences);
  CHECK(differences[1] < 0.7 * differences[0]);
  CHECK(differences[1] < 0.03);
}

TEST_CASE("K in single precision, its accurate product and its norm") {
  const Panels panels = make_panels(cube(6));
  const std::vector<double> x = random_vector(panels.size(), 5);
  const auto exact = make_boundary_operator(panels, double_layer);
  OperatorOptions options;
  options.precision = Precision::single_precision;
  options.tolerance = 1e-6;
  const auto rounded = make_boundary_operator(panels, double_layer, options);
  const Vector y = product(*exact, x), single = product(*rounded, x);
  Vector afresh(x.size());
  rounded->apply(x.data(), afresh.data(), {.tolerance = rounded->accurate_tolerance()});
  CHECK(norm_of(difference(single, y)) < 1e-6 * norm_of(y));
  CHECK(norm_of(difference(afresh, y)) < 1e-13 * norm_of(y));
  CHECK(exact->norm() == Approx(0.5).epsilon(1e-6));  // a cube's panels see only fronts of others
  CHECK_FALSE(exact->approximate_inverse());
}

TEST_CASE("diagonal blocks of K and K' by the FMM are the dense ones") {
  const Panels panels = make_panels(cube(8), Processor::cpu, 20);
  OperatorOptions options;
  options.kind = OperatorOptions::Choice::fmm;
  const std::int64_t begin = panels.leaf_begin[1], end = panels.leaf_begin[3], n = end - begin;
  for (const Layer& layer : {double_layer, adjoint_double_layer}) {
    Vector by_fmm(n * n), exact(n * n);
    make_boundary_operator(panels, layer, options)->diagonal_block(begin, end, by_fmm.data());
    make_boundary_operator(panels, layer, dense_options())
        ->diagonal_block(begin, end, exact.data());
    CHECK(norm_of(difference(by_fmm, exact)) < 1e-14 * norm_of(exact));
  }
}

TEST_CASE("accurate products of K know what rounding takes from a few large entries") {
  // Of panels in disorder two may be so close that their entry is nearly ½, where others are small:
  // in single precision it is off by 2⁻²⁶, 2⁻²⁵ of the norm.
  Uniform uniform(34);
  const Panels panels = make_panels(dust(1000, 3, uniform));
  const auto dense = make_boundary_operator(panels, double_layer, dense_options());
  const OperatorError error(panels, double_layer, *dense);
  for (const double tolerance : {3e-7, 1.5e-7, 1e-7}) {
    const auto fast = make_boundary_operator(
        panels, double_layer,
        {.kind = OperatorOptions::Choice::fmm, .tolerance = tolerance, .max_leaf = 14});
    REQUIRE(fast->info().precision == Precision::single_precision);
    const double accurate = fast->accurate_tolerance();
    const auto of = [&](const Vector& x, bool transposed) {
      return error(x, transposed, *fast, accurate);
    };
    CHECK(two_norm(panels.size(), of, 8) < accurate * 0.5);
  }
}

TEST_CASE("operators that are not there are refused") {
  const Panels panels = make_panels(sphere(1));
  CHECK_THROWS_AS(make_boundary_operator(panels, {Trace::normal, Trace::normal}), InputError);
  OperatorOptions options;
  options.processor = Processor::gpu;
  CHECK_THROWS_AS(make_boundary_operator(panels, single_layer, options, {.rows = {0, 1}}),
                  InputError);
  CHECK(make_boundary_operator(panels, single_layer)->info().name == "V");
}

}  // namespace fmbem::test::double_layer_tests
