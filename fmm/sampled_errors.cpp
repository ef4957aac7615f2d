#include "fmbem/fmm/sampled_errors.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "fmbem/fmm/base/error.hpp"
#include "fmbem/fmm/direct.hpp"

namespace fmbem::fmm {
namespace {

double squared(double x) { return x * x; }
double squared(Vec3d x) { return norm2(x); }
double largest_of(double x) { return std::abs(x); }
double largest_of(Vec3d x) { return std::max({std::abs(x.x), std::abs(x.y), std::abs(x.z)}); }

template <class T>
std::optional<double> relative_error(std::span<const T> results,
                                     const std::vector<std::size_t>& picked,
                                     const std::vector<T>& exact) {
  double largest = 0;  // whose square may leave the range of numbers
  for (const T& each : exact) largest = std::max(largest, largest_of(each));
  if (!(largest > 0)) return std::nullopt;
  double difference = 0, size = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    difference += squared((results[picked[k]] - exact[k]) / largest);
    size += squared(exact[k] / largest);
  }
  const double error = std::sqrt(difference / size);
  return std::isfinite(error) ? std::optional(error) : std::nullopt;
}

}  // namespace

SampledErrors sampled_errors(std::span<const Vec3d> points, std::span<const double> charges,
                             const Fields& results, std::size_t targets, double kappa,
                             double softening) {
  const std::size_t n = points.size(), m = std::min(targets, n);
  const auto fits = [&](std::size_t size) { return size == 0 || size == n; };
  FMBEM_REQUIRE(fits(results.potential.size()) && fits(results.gradient.size()),
                "there are " << n << " points, but " << results.potential.size()
                             << " potentials and " << results.gradient.size() << " gradients");
  std::mt19937_64 random(m);
  std::vector<std::size_t> picked(m);
  std::vector<Vec3d> places(m);
  for (std::size_t k = 0; k < m; ++k) {
    const std::size_t first = k * n / m, last = (k + 1) * n / m;
    picked[k] = first + random() % (last - first);
    places[k] = points[picked[k]];
  }
  std::vector<double> potential(results.potential.empty() ? 0 : m);
  std::vector<Vec3d> gradient(results.gradient.empty() ? 0 : m);
  direct_sum(points, places, {.charges = charges}, {potential, gradient}, kappa, softening);
  return {static_cast<std::int64_t>(m),
          relative_error<double>(results.potential, picked, potential),
          relative_error<Vec3d>(results.gradient, picked, gradient)};
}

}  // namespace fmbem::fmm
