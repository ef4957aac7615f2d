#include "fmbem/fmm/direct.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include "fmbem/fmm/base/error.hpp"

#ifdef __FAST_MATH__
#error "-ffast-math would take the compensation out of these sums"
#endif

namespace fmbem::fmm {
namespace {

/// Neumaier's compensated sum.
struct Sum {
  double value = 0, lost = 0;

  void add(double term) {
    const double next = value + term;
    lost += std::abs(value) >= std::abs(term) ? (value - next) + term : (term - next) + value;
    value = next;
  }
  double total() const { return value + lost; }
};

/// An array of strengths is empty, or has an entry for each right-hand side and point.
void check_size(std::size_t size, const char* what, int count, std::size_t points,
                const char* where) {
  FMBEM_REQUIRE(size == 0 || size == count * points,
                "there are " << size << " " << what << ", but " << count << " right-hand sides at "
                             << points << " " << where << " need " << count * points);
}

/// The power of two that brings the largest extent of the points to [1, 2), in which powers of
/// distances stay in the range of numbers and nothing is rounded otherwise.
double scale_of(std::span<const Vec3d> sources, std::span<const Vec3d> targets) {
  double extent = 0;
  for (int axis = 0; axis < 3; ++axis) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto& points : {sources, targets})
      for (const Vec3d& x : points) {
        low = std::min(low, x[axis]);
        high = std::max(high, x[axis]);
      }
    if (low < high) extent = std::max(extent, high / 2 - low / 2);
  }
  return extent > 0 && std::isfinite(extent) ? std::ldexp(0.5, -std::ilogb(extent)) : 1;
}

}  // namespace

void direct_sum(std::span<const Vec3d> sources, std::span<const Vec3d> targets,
                const Strengths& strengths, const Fields& fields, double kappa, double softening) {
  const auto charges = strengths.charges;
  const auto dipoles = strengths.dipoles;
  const int count = strengths.count;
  FMBEM_REQUIRE(count >= 1, "a sum needs one right-hand side or more, not " << count);
  check_size(charges.size(), "charges", count, sources.size(), "sources");
  check_size(dipoles.size(), "dipoles", count, sources.size(), "sources");
  check_size(fields.potential.size(), "potentials", count, targets.size(), "targets");
  check_size(fields.gradient.size(), "gradients", count, targets.size(), "targets");
  check_size(fields.hessian.size(), "second derivatives", count, targets.size(), "targets");

  FMBEM_REQUIRE(kappa >= 0, "κ must be positive, or 0 for Laplace's kernel, not " << kappa);

  constexpr double inv_4pi = std::numbers::inv_pi / 4;
  const double scale = scale_of(sources, targets);
  std::vector<Vec3d> y;
  y.reserve(sources.size());
  for (const Vec3d& place : sources) y.push_back(scale * place);
  kappa /= scale;
  softening *= scale;
  const std::size_t n = sources.size();
  const auto results = static_cast<std::int64_t>(count * targets.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t result = 0; result < results; ++result) {
    const Vec3d x = scale * targets[result % targets.size()];
    const std::size_t first = result / targets.size() * n;  // strength of this right-hand side
    Sum u, gx, gy, gz, h[3][3];
    for (std::size_t j = 0; j < n; ++j) {
      const Vec3d r = x - y[j];
      if (norm2(r) == 0) continue;
      const double r2 = norm2(r) + softening * softening;
      const double q = charges.empty() ? 0 : charges[first + j];
      const Vec3d d = dipoles.empty() ? Vec3d{} : scale * dipoles[first + j];
      const double length = std::sqrt(r2), r3 = length * r2, along = dot(d, r);
      const double z = kappa * length, e = std::exp(-z), za = 1 + z, zb = 3 + z * (3 + z),
                   zc = 15 + z * (15 + z * (6 + z));
      if (e == 0) continue;  // powers of z may be infinite
      u.add(e * (q / length + za * along / r3));
      if (!fields.gradient.empty()) {
        const Vec3d g = e * ((za * d - (za * q + zb * along / r2) * r) / r3);
        gx.add(g.x);
        gy.add(g.y);
        gz.add(g.z);
      }
      if (fields.hessian.empty()) continue;
      const double r5 = r3 * r2;
      for (int i = 0; i < 3; ++i)
        for (int k = i; k < 3; ++k)
          h[i][k].add(e *
                      ((zb * q + zc * along / r2) * r[i] * r[k] - zb * (d[i] * r[k] + d[k] * r[i]) -
                       (i == k ? za * q * r2 + zb * along : 0)) /
                      r5);
    }
    if (!fields.potential.empty()) fields.potential[result] = inv_4pi * scale * u.total();
    if (!fields.gradient.empty())
      fields.gradient[result] =
          scale * (inv_4pi * scale * Vec3d{gx.total(), gy.total(), gz.total()});
    if (!fields.hessian.empty())
      fields.hessian[result] =
          scale * (scale * (inv_4pi * scale *
                            Symmetric3d{h[0][0].total(), h[0][1].total(), h[0][2].total(),
                                        h[1][1].total(), h[1][2].total(), h[2][2].total()}));
  }
}

}  // namespace fmbem::fmm
