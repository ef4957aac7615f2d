#include "fmbem/problems/superpose.hpp"

#include <algorithm>
#include <utility>
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

void check(bool has_units, std::size_t conductors, std::size_t voltages) {
  FMBEM_REQUIRE(has_units, "the solution is not one with each conductor at 1 V in turn");
  FMBEM_REQUIRE(voltages == conductors,
                "there are " << conductors << " conductors, but " << voltages << " voltages");
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
  check(has_unit_voltages(units), units.conductors.size(), voltages.size());
  ConductorSolution result = units;
  result.sigma = {combined(units.sigma, voltages)};
  result.charge_density = {combined(units.charge_density, voltages)};
  result.potential = {{voltages.begin(), voltages.end()}};
  return result;
}

bool has_unit_voltages(const ProblemSolution& solution) {
  if (solution.results.empty())
    return has_unit_voltages(static_cast<const ConductorSolution&>(solution));
  std::vector<int> times(solution.conductors.size(), 0);
  int others = 0;
  for (const ProblemResult& result : solution.results)
    ++(result.conductor_at_1_volt < 0 ? others : times[result.conductor_at_1_volt]);
  return !times.empty() && others <= 1 &&
         std::all_of(times.begin(), times.end(), [](int n) { return n == 1; });
}

ProblemSolution superpose(const ProblemSolution& solution, std::span<const double> voltages) {
  check(has_unit_voltages(solution), solution.conductors.size(), voltages.size());
  if (solution.results.empty())
    return without_problem(superpose(static_cast<const ConductorSolution&>(solution), voltages));
  const auto& results = solution.results;
  const auto own = std::find_if(results.begin(), results.end(), [](const ProblemResult& result) {
    return result.conductor_at_1_volt < 0;
  });
  std::vector<double> factors;
  for (const ProblemResult& result : results) {
    const int c = result.conductor_at_1_volt;
    const double before =
        c < 0 || own == results.end() ? 0 : solution.potential[own - results.begin()][c];
    factors.push_back(c < 0 ? 1 : voltages[c] - before);
  }
  const auto sum = [&](auto&& rows_of) {
    std::vector<std::vector<double>> rows;
    for (const ProblemResult& result : results) rows.push_back(rows_of(result));
    return combined(rows, factors);
  };
  ProblemResult result;
  result.name = "these voltages";
  result.applied = own != results.end() && own->applied;
  result.conductor_flux = sum([](const ProblemResult& of) { return of.conductor_flux; });
  result.constant = sum([](const ProblemResult& of) { return of.constant; });
  result.surface = {sum([](const ProblemResult& of) { return of.surface.potential; }),
                    sum([](const ProblemResult& of) { return of.surface.inside; }),
                    sum([](const ProblemResult& of) { return of.surface.outside; })};
  ProblemSolution at_voltages = solution;
  at_voltages.sigma = {combined(solution.sigma, factors)};
  if (!solution.dipoles.empty()) at_voltages.dipoles = {combined(solution.dipoles, factors)};
  at_voltages.charge_density = {combined(solution.charge_density, factors)};
  at_voltages.potential = {{voltages.begin(), voltages.end()}};
  at_voltages.results = {std::move(result)};
  return at_voltages;
}

}  // namespace fmbem
