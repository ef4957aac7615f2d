#include "fmbem/problems/richardson.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

double distance(const Entries& a, const Entries& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
  return std::sqrt(sum);
}

/// a and b of C(h) = C + a hᵖ + b h²ᵖ from three results' changes, with h = 1 for the last result
/// and r = 2⁻ᵖ.
std::pair<double, double> two_terms(double first_change, double last_change, double r) {
  const double a = (r * r * first_change - last_change) * r / ((1 - r) * (1 - r));
  return {a, (last_change - a * (1 - 1 / r)) / (1 - 1 / (r * r))};
}

}  // namespace

Convergence observe_convergence(std::span<const Entries> results, double highest_order) {
  // What is taken for an order between two on finite meshes: disks, whose order is 1, show up to
  // 1.1, and meshes that are too coarse for a gap 1.3 (docs/accuracy.md).
  constexpr double lowest_order = 0.5, margin = 0.2;
  FMBEM_REQUIRE(results.size() >= 2, "Richardson's estimate needs two results or more");
  Convergence convergence{.order = highest_order};
  if (results.size() == 2) return convergence;
  const auto last = results.last(3);
  const double order = std::log2(distance(last[1], last[0]) / distance(last[2], last[1]));
  if (std::isnan(order)) return convergence;  // nothing changes at all
  convergence.order = std::clamp(order, lowest_order, highest_order);
  convergence.too_high = order > highest_order + margin;
  convergence.observed = order >= lowest_order && !convergence.too_high;
  if (convergence.observed) convergence.safety = 1.25;
  return convergence;
}

Entries extrapolated(std::span<const Entries> results, const Convergence& convergence) {
  Entries limit = results.back();
  const double factor = 1 / (std::exp2(convergence.order) - 1);
  for (std::size_t k = 0; k < limit.size(); ++k)
    limit[k] += factor * (limit[k] - results[results.size() - 2][k]);
  return limit;
}

Entries discretization_error(std::span<const Entries> results, const Convergence& convergence) {
  const double r = std::exp2(-convergence.order);
  Entries error(results.back().size());
  for (std::size_t k = 0; k < error.size(); ++k) {
    const auto change = [&](std::size_t from_last) {
      const std::size_t at = results.size() - 1 - from_last;
      return results[at][k] - results[at - 1][k];
    };
    double& e = error[k];
    if (convergence.too_high) {
      const auto [a, b] = two_terms(change(1), change(0), r);
      e = std::abs(a) + std::abs(b);
    } else {
      e = std::abs(change(0)) * r / (1 - r);
      if (results.size() > 2) e = std::max(e, std::abs(change(1)) * r * r / (1 - r));
      if (convergence.observed && convergence.order > 1) {
        const auto [a, b] = two_terms(change(1), change(0), 0.5);
        e = std::max(e, std::abs(a + b));
      }
    }
    e *= convergence.safety;
  }
  return error;
}

}  // namespace fmbem
