#include "fmbem/problems/superpose.hpp"

#include <vector>

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {
namespace {

std::vector<double> combined(const std::vector<std::vector<double>>& rows,
                             std::span<const double> factors) {
  std::vector<double> sum(rows.front().size(), 0.0);
  for (std::size_t j = 0; j < factors.size(); ++j)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factors[j] * rows[j][i];
  return sum;
}

}  // namespace

bool has_unit_voltages(const ConductorSolution& solution) {
  const std::size_t n = solution.conductors.size();
  if (solution.potential.size() != n || n == 0 || !solution.applied.empty()) return false;
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i)
      if (solution.potential[j][i] != (i == j ? 1 : 0)) return false;
  return true;
}

ConductorSolution superpose(const ConductorSolution& units, std::span<const double> voltages) {
  FMBEM_REQUIRE(has_unit_voltages(units),
                "the solution is not one with each conductor at 1 V in turn");
  FMBEM_REQUIRE(voltages.size() == units.conductors.size(),
                "there are " << units.conductors.size() << " conductors, but " << voltages.size()
                             << " voltages");
  ConductorSolution result = units;
  result.sigma = {combined(units.sigma, voltages)};
  result.charge_density = {combined(units.charge_density, voltages)};
  result.potential = {{voltages.begin(), voltages.end()}};
  return result;
}

}  // namespace fmbem
