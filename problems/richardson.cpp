#include "fmbem/problems/richardson.hpp"

#include <algorithm>
#include <cmath>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

double distance(const SquareMatrix& a, const SquareMatrix& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.values.size(); ++k)
    sum += (a.values[k] - b.values[k]) * (a.values[k] - b.values[k]);
  return std::sqrt(sum);
}

}  // namespace

RichardsonEstimate richardson(std::span<const SquareMatrix> results, double assumed_order) {
  FMBEM_REQUIRE(results.size() >= 2, "Richardson's estimate needs two results or more");
  const SquareMatrix& last = results.back();
  const SquareMatrix& previous = results[results.size() - 2];
  RichardsonEstimate estimate;
  estimate.order = assumed_order;
  if (results.size() >= 3) {
    const double change = distance(last, previous);
    const double change_before = distance(previous, results[results.size() - 3]);
    const double order = std::log2(change_before / change);
    estimate.observed = order >= 0.5 && order <= 3;
    if (estimate.observed) estimate.order = order;
  }
  estimate.extrapolated = last;
  const double factor = 1 / (std::exp2(estimate.order) - 1);
  for (std::size_t k = 0; k < last.values.size(); ++k) {
    const double correction = factor * (last.values[k] - previous.values[k]);
    estimate.extrapolated.values[k] += correction;
    estimate.error = std::max(estimate.error, std::abs(correction));
  }
  return estimate;
}

}  // namespace fmbem
