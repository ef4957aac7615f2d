// Rows with complex factors against complex sums of dense matrices.
#include "fmbem/bem/layer/complex_operator.hpp"

#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include "fmbem/bem/geometry/panel_images.hpp"
#include "fmbem/bem/layer/dense_operator.hpp"
#include "fmbem/bem/layer/mixed_operator.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"
#include "tests/unit/reflected_surfaces.hpp"
#include "tests/unit/vectors.hpp"

namespace fmbem::test::complex_operator_tests {

namespace {

using Complexes = std::vector<Complex>;

/// Three bodies: a conductor, an interface around a floating one.
SurfaceMesh bodies() {
  SurfaceMesh mesh;
  add_ellipsoid(mesh, "conductor", 2, {1, 0.6, 0.8}, {-1.5, 0, 2});
  add_ellipsoid(mesh, "interface", 2, {1, 1, 1}, {1, 0, 2});
  add_ellipsoid(mesh, "floating", 1, {0.5, 0.5, 0.5}, {1.1, 0, 2});
  return mesh;
}

ComplexRows rows_of(const SurfaceMesh& mesh, const Panels& panels) {
  ComplexRows rows;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const int group = mesh.group_of[panels.input_index[i]];
    rows.alpha.push_back(group == 1 ? Complex(0) : Complex(0.3, 0.1));
    rows.beta.push_back(group == 1 ? Complex(1.2, -0.7) : Complex(0));
    rows.gamma.push_back(group == 1 ? Complex(1, 0.2) : Complex(0));
    rows.part.push_back(group);
  }
  rows.equations = {{1, {{2, {-3, 1.5}}}}, {2}};
  return rows;
}

/// y = A x, written afresh with matrices of V and K'.
Complexes multiplied(const Panels& panels, const ComplexRows& rows, const Complexes& x) {
  const std::size_t n = panels.size();
  Complexes y(n);
  const auto add = [&](const Layer& layer, const Complexes& factor) {
    const auto op = make_boundary_operator(panels, layer);
    std::vector<double> a(n * n);
    op->diagonal_block(0, static_cast<std::int64_t>(n), a.data());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) y[i] += factor[i] * a[i * n + j] * x[j];
  };
  add(single_layer, rows.alpha);
  add(adjoint_double_layer, rows.beta);
  for (std::size_t i = 0; i < n; ++i) y[i] += rows.gamma[i] * x[i];
  const Complexes before = y;
  for (const ComplexChargeEquation& equation : rows.equations) {
    double area = 0;
    Complex mean = 0, charge = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double own = panels.area(i);
      if (rows.part[i] == equation.part) {
        area += own;
        mean += own * before[i];
        charge += own * x[i];
      }
      for (const auto& other : equation.others)
        if (rows.part[i] == other.part) charge += other.factor * own * x[i];
    }
    for (std::size_t i = 0; i < n; ++i)
      if (rows.part[i] == equation.part) y[i] += (charge - mean) / area;
  }
  return y;
}

}  // namespace

TEST_CASE("rows with complex factors are those of complex arithmetic, and have an inverse") {
  for (const bool has_plane : {false, true}) {
    const SurfaceMesh mesh = bodies();
    const Panels panels =
        has_plane ? make_panels(mesh, plane(2, PlaneKind::ground, 0.5)) : make_panels(mesh);
    const std::size_t n = panels.size();
    const ComplexRows rows = rows_of(mesh, panels);
    // Two vectors at once.
    const Vector x = signed_charges(4 * n, 1);
    Vector exact;
    for (const std::size_t first : {std::size_t{0}, 2 * n}) {
      Complexes sigma;
      for (std::size_t i = 0; i < n; ++i) sigma.emplace_back(x[first + i], x[first + n + i]);
      const Complexes y = multiplied(panels, rows, sigma);
      for (const Complex value : y) exact.push_back(value.real());
      for (const Complex value : y) exact.push_back(value.imag());
    }
    for (const auto kind : {OperatorOptions::Choice::dense, OperatorOptions::Choice::fmm}) {
      OperatorOptions options;
      options.kind = kind;
      options.tolerance = 1e-8;
      const ComplexOperator op(panels, rows, options);
      REQUIRE(op.size() == 2 * n);
      Vector y(4 * n);
      op.apply(x.data(), y.data(), {.vectors = 2});
      const double bound = kind == OperatorOptions::Choice::dense ? 1e-13 : 3e-8;
      CHECK(norm_of(difference(y, exact)) < bound * op.norm() * norm_of(x));
      CHECK_THROWS_AS(op.apply(x.data(), y.data(), {.transposed = true}), InputError);
    }
    const ComplexOperator op(panels, rows, {});
    // A diagonal entry is the one of a unit vector's product, without charge equations.
    ComplexRows plain = rows;
    plain.equations.clear();
    const ComplexOperator without(panels, plain, {});
    for (const std::size_t k : {std::size_t{3}, n - 1, n, 2 * n - 5}) {
      Vector unit(2 * n, 0.0), y(2 * n);
      unit[k] = 1;
      without.apply(unit.data(), y.data());
      double entry = 0;
      without.diagonal_block(static_cast<std::int64_t>(k), static_cast<std::int64_t>(k) + 1,
                             &entry);
      CHECK(entry == Approx(y[k]).epsilon(1e-12));
    }
    const auto inverse = op.approximate_inverse();
    REQUIRE(inverse);
    CHECK(inverse->size() == 2 * n);
  }
}

TEST_CASE("the inverse of a complex factor times real rows is the real one over that factor") {
  const Panels panels = make_panels(bodies());
  const std::size_t n = panels.size();
  const MixedRows real{Vector(n, 0.0), signed_charges(n, 1), Vector(n, 1.0)};
  const Complex factor{0.3, -2};
  ComplexRows rows;
  for (std::size_t i = 0; i < n; ++i) {
    rows.alpha.emplace_back(0);
    rows.beta.push_back(factor * real.beta[i]);
    rows.gamma.push_back(factor * real.gamma[i]);
  }
  const auto inverse = ComplexOperator(panels, rows).approximate_inverse();
  const auto of_real = MixedOperator(panels, real).approximate_inverse();
  Vector x = signed_charges(4 * n, 2), y(4 * n), parts(4 * n), exact(4 * n);
  inverse->apply(x.data(), y.data(), {.vectors = 2});
  of_real->apply(x.data(), parts.data(), {.vectors = 4});
  for (const std::size_t v : {0, 1})
    for (std::size_t i = 0; i < n; ++i) {
      const Complex of = Complex(parts[2 * v * n + i], parts[(2 * v + 1) * n + i]) / factor;
      exact[2 * v * n + i] = of.real();
      exact[(2 * v + 1) * n + i] = of.imag();
    }
  // Single precision times the condition of small systems.
  CHECK(norm_of(difference(y, exact)) < 1e-5 * norm_of(exact));
}

TEST_CASE("bad complex rows are refused") {
  const SurfaceMesh mesh = bodies();
  const Panels panels = make_panels(mesh);
  ComplexRows rows = rows_of(mesh, panels);
  CHECK_THROWS_AS(ComplexOperator(panels, rows, {.processor = Processor::gpu}), InputError);
  rows.alpha[0] = NAN;
  CHECK_THROWS_AS(ComplexOperator(panels, rows), InputError);
  rows.alpha.pop_back();
  CHECK_THROWS_AS(ComplexOperator(panels, rows), InputError);
}

}  // namespace fmbem::test::complex_operator_tests
