#pragma once

// Sums written afresh in extended precision, and how far a plan's results are from them.
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <vector>

#include "fmbem/fmm/base/vec3.hpp"

namespace fmbem::test {

/// Relative L2 errors. NaN where a result is NaN, or where nothing acts.
struct RelativeErrors {
  double potential, gradient;
};

/// Of potentials and gradients at every `step`-th target; none are compared where `g` is empty.
inline RelativeErrors errors_by_long_sum(std::span<const Vec3d> y, std::span<const Vec3d> x,
                                         std::span<const double> q, double kappa, double softening,
                                         std::span<const double> u, std::span<const Vec3d> g,
                                         std::size_t step = 1) {
  using Long = long double;
  Long of_u = 0, of_g = 0, size = 0, slope = 0;
  for (std::size_t i = 0; i < x.size(); i += step) {
    Long sum = 0;
    std::array<Long, 3> gradient{};
    for (std::size_t j = 0; j < y.size(); ++j) {
      std::array<Long, 3> r;
      Long r2 = 0;
      for (int axis = 0; axis < 3; ++axis) {
        r[axis] = static_cast<Long>(x[i][axis]) - y[j][axis];
        r2 += r[axis] * r[axis];
      }
      if (r2 == 0) continue;
      r2 += static_cast<Long>(softening) * softening;
      const Long distance = std::sqrt(r2), z = kappa * distance;
      const Long of_pair = q[j] * std::exp(-z) / (distance * (4 * std::numbers::pi_v<Long>));
      sum += of_pair;
      for (int axis = 0; axis < 3; ++axis) gradient[axis] -= of_pair * (1 + z) / r2 * r[axis];
    }
    of_u += (u[i] - sum) * (u[i] - sum);
    size += sum * sum;
    if (g.empty()) continue;
    for (int axis = 0; axis < 3; ++axis) {
      of_g += (g[i][axis] - gradient[axis]) * (g[i][axis] - gradient[axis]);
      slope += gradient[axis] * gradient[axis];
    }
  }
  return {static_cast<double>(std::sqrt(of_u / size)),
          g.empty() ? 0 : static_cast<double>(std::sqrt(of_g / slope))};
}

}  // namespace fmbem::test
