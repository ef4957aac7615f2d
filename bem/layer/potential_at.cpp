#include "fmbem/bem/layer/potential_at.hpp"

#include <algorithm>

#include "fmbem/bem/near/near_integrals.hpp"
#include "fmbem/bem/near/panel_integrals.hpp"

namespace fmbem {

std::vector<double> potential_at(const Panels& panels, std::span<const std::int32_t> some,
                                 std::span<const double> sigma, std::span<const double> mu,
                                 std::span<const Vec3d> points, double tolerance) {
  constexpr std::int64_t block = 64;
  const auto n = static_cast<std::int64_t>(points.size());
  const LargeVector<Triangle> triangles = triangles_of(panels, some);
  std::vector<double> result(points.size());
#pragma omp parallel
  {
    NearIntegrals integrals(tolerance, FarKernel::gradient);
    IntegralTargets targets;
#pragma omp for schedule(dynamic, 1)
    for (std::int64_t first = 0; first < n; first += block) {
      const int count = static_cast<int>(std::min(block, n - first));
      targets.clear();
      for (int i = 0; i < count; ++i) targets.add(points[first + i] - panels.origin);
      targets.pad();
      double* const sum = result.data() + first;
      for (std::size_t k = 0; k < triangles.size(); ++k) {
        const Triangle& t = triangles[k];
        const double s = sigma[some[k]], m = mu[some[k]];
        integrals.integrate(t, targets);
        for (const int i : integrals.close()) {
          sum[i] += s * panel_potential(t, targets[i]) + m * triangle_double_layer(t, targets[i]);
          integrals.clear(i);
        }
        const double* const v = integrals.potential().data();
        const double *const x = integrals.gradient(0).data(),
                            *const y = integrals.gradient(1).data(),
                            *const z = integrals.gradient(2).data();
        const Vec3d dipole = m * t.normal;
        for (int i = 0; i < count; ++i)
          sum[i] += s * v[i] - (dipole.x * x[i] + dipole.y * y[i] + dipole.z * z[i]);
      }
    }
  }
  return result;
}

}  // namespace fmbem
