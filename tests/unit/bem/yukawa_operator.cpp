// V, K and K' of Yukawa's kernel.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/bem/near/exact_entry.hpp"
#include "fmbem/bem/near/near_integrals.hpp"
#include "fmbem/bem/near/yukawa_integrals.hpp"
#include "fmbem/fmm/base/error.hpp"
#include "tests/unit/bem/yukawa_cases.hpp"
#include "tests/unit/catch.hpp"

namespace fmbem::test::yukawa_operator_tests {

TEST_CASE("Yukawa's K' is K transposed between areas, and at centroids a derivative of V") {
  const Panels panels = make_panels(torus(24, 8));
  const std::size_t n = panels.size();
  const Vector x = signed_charges(n, 2);
  for (const double kappa : {0.3, 5.0}) {
    const auto k = make_boundary_operator(panels, double_layer, with(dense, kappa));
    Vector charge(n), by_k(n);
    const LargeVector<double> area = *areas_of(panels);
    for (std::size_t i = 0; i < n; ++i) charge[i] = area[i] * x[i];
    k->apply(charge.data(), by_k.data(), {.transposed = true});
    for (std::size_t i = 0; i < n; ++i) by_k[i] /= area[i];
    for (const auto kind : {dense, fast}) {
      OperatorOptions options = with(kind, kappa, 1e-5);
      options.max_leaf = 12;
      const auto flux = make_boundary_operator(panels, adjoint_double_layer, options);
      CHECK(norm_of(difference(product(*flux, x), by_k)) <
            (kind == dense ? 1e-13 : 1e-5) * norm_of(x));
    }
    OperatorOptions pointwise = with(dense, kappa);
    pointwise.normal_rows = NormalRows::at_centroids;
    const Vector y = product(*make_boundary_operator(panels, adjoint_double_layer, pointwise), x);
    for (std::size_t i = 0; i < n; i += 37) {
      const Triangle to = panels.triangle(i);
      const auto potential = [&](double off) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j)
          if (j != i)  // whose own flux is the mean of both sides, 0
            sum += x[j] * yukawa_integrals(panels.triangle(j), to.centroid + off * to.normal, kappa)
                              .potential;
        return sum;
      };
      const double step = 1e-3 * to.radius, slope = (8 * (potential(step) - potential(-step)) -
                                                     (potential(2 * step) - potential(-2 * step))) /
                                                    (12 * step);
      CHECK(y[i] == Approx(slope).margin(1e-9));
    }
  }
}

TEST_CASE("Yukawa's operators tend to Laplace's, and 0 is Laplace's to the bit") {
  const Panels panels = make_panels(cube(5));
  const Vector x = signed_charges(panels.size(), 2);
  for (const Layer& layer : {single_layer, double_layer, adjoint_double_layer})
    for (const auto kind : {dense, fast}) {
      OperatorOptions of_laplace;
      of_laplace.kind = kind;
      of_laplace.max_leaf = 12;
      of_laplace.tolerance = 1e-5;
      OperatorOptions none = of_laplace, little = of_laplace;
      none.kappa = 0;
      little.kappa = 1e-14;
      const Vector y = product(*make_boundary_operator(panels, layer, of_laplace), x);
      CHECK(product(*make_boundary_operator(panels, layer, none), x) == y);
      const double bound = kind == dense ? 1e-12 : 1e-5;
      CHECK(norm_of(difference(product(*make_boundary_operator(panels, layer, little), x), y)) <
            bound * norm_of(x));
    }
}

TEST_CASE("on a sphere Yukawa's operators have the eigenvalues of modified Bessel functions") {
  // With i₀ = sinh(z)/z and k₀ = e^{−z}/z at z = κ, the radius being 1: V 1 = κ i₀ k₀; K 1, the
  // mean of the derivatives in the source's radius as seen from both sides, is κ² (i₀ k₀)'/2.
  const Panels panels = make_panels(sphere(4));
  const Vector one(panels.size(), 1.0);
  for (const double z : {0.5, 1.0, 3.0}) {  // beyond, flat panels are too coarse for K
    const double v = std::exp(-z) * std::sinh(z) / z;
    const double k = ((1 + z) * std::exp(-2 * z) - 1) / (2 * z);
    const auto mean = [&](const Layer& layer) {
      const Vector y = product(*make_boundary_operator(panels, layer, with(fast, z, 1e-6)), one);
      double sum = 0;
      for (const double value : y) sum += value;
      return sum / static_cast<double>(y.size());
    };
    CAPTURE(z);
    CHECK(mean(single_layer) == Approx(v).epsilon(0.01));
    CHECK(mean(double_layer) == Approx(k).epsilon(0.02).margin(1e-3));
  }
}

TEST_CASE("near integrals of Yukawa's kernel are as accurate as asked for") {
  Uniform uniform(7);
  for (const double tolerance : {1e-3, 1e-6, 1e-10}) {
    for (int shape = 0; shape < 60; ++shape) {
      const double height = shape % 4 == 0 ? 0.02 : 0.8, kappa = std::pow(10, uniform(-3, 2));
      const Triangle t = make_triangle({0.1, 0.2, 0}, {1, 0, 0.1}, {uniform(), height, 0.3});
      NearIntegrals integrals(tolerance, FarKernel::gradient, kappa);
      IntegralTargets targets;
      for (int i = 0; i < 37; ++i)
        targets.add(t.centroid + t.radius * std::pow(10, uniform(-1, 1.5)) * sphere_point(uniform));
      targets.pad();
      integrals.integrate(t, targets);
      std::vector<char> is_close(targets.count());
      for (const int i : integrals.close()) is_close[i] = 1;
      for (int i = 0; i < targets.count(); ++i) {
        if (is_close[i]) continue;
        const YukawaIntegrals exact = yukawa_integrals(t, targets[i], kappa);
        const Vec3d gradient{integrals.gradient(0)[i], integrals.gradient(1)[i],
                             integrals.gradient(2)[i]};
        // What would count at the panel itself, e^{−κr} of which is left out.
        const double close_by = 0.1 * t.area / norm(targets[i] - t.centroid);
        CAPTURE(kappa, tolerance, norm(targets[i] - t.centroid) / t.radius);
        CHECK(std::abs(integrals.potential()[i] - exact.potential) <
              tolerance * std::max(exact.potential, 0.1 * close_by));
        CHECK(norm(gradient - exact.gradient) <
              tolerance * std::max(norm(exact.gradient), 0.1 * close_by));
      }
    }
  }
}

TEST_CASE("operators of Yukawa's kernel refuse what is no κ") {
  const Panels panels = make_panels(cube(2));
  for (const double kappa :
       {-1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    CHECK_THROWS_AS(make_single_layer(panels, with(dense, kappa)), InputError);
  CHECK(make_single_layer(panels, with(fast, 1))->approximate_inverse() == nullptr);
  CHECK(make_single_layer(panels, with(dense, 1))->approximate_inverse() == nullptr);
}

}  // namespace fmbem::test::yukawa_operator_tests
