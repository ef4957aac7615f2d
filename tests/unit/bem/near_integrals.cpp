#include "fmbem/bem/near/near_integrals.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "fmbem/bem/near/panel_integrals.hpp"
#include "tests/unit/catch.hpp"
#include "tests/unit/points.hpp"

namespace fmbem::test::near_integrals_tests {

TEST_CASE("near integrals are as accurate as asked for") {
  const double tolerance = GENERATE(1e-3, 1e-6, 1e-8, 1e-11);
  Uniform uniform(6);
  NearIntegrals potential(tolerance, FarKernel::potential), both(tolerance, FarKernel::gradient);
  double worst = 0, worst_gradient = 0;
  std::size_t close = 0;
  for (int shape = 0; shape < 40; ++shape) {
    const double height = shape % 4 == 0 ? 0.02 : 0.8;
    const Triangle t = make_triangle({0.1, 0.2, 0}, {1, 0, 0.1}, {uniform(), height, 0.3});
    IntegralTargets targets;
    for (int i = 0; i < 37; ++i) {
      const double distance = t.radius * std::pow(10, uniform(-1, 2));
      targets.add(t.centroid + distance * sphere_point(uniform));
    }
    targets.pad();
    const auto is_close = [](const NearIntegrals& integrals, int i) {
      const auto& left = integrals.close();
      return std::find(left.begin(), left.end(), i) != left.end();
    };
    potential.integrate(t, targets);
    both.integrate(t, targets);
    close += potential.close().size();
    for (int i = 0; i < targets.count(); ++i) {
      const double exact = panel_potential(t, targets[i]);
      if (!is_close(potential, i))
        worst = std::max(worst, std::abs(potential.potential()[i] / exact - 1));
      if (is_close(both, i)) continue;
      worst = std::max(worst, std::abs(both.potential()[i] / exact - 1));
      const Vec3d gradient = panel_gradient(t, targets[i], 1e-14);
      const Vec3d found{both.gradient(0)[i], both.gradient(1)[i], both.gradient(2)[i]};
      worst_gradient = std::max(worst_gradient, norm(found - gradient) / norm(gradient));
    }
  }
  CHECK(worst < tolerance);
  CHECK(worst_gradient < tolerance);
  CHECK(close > 0);
  CHECK(close < 40 * 37 * 6 / 10);
}

}  // namespace fmbem::test::near_integrals_tests
