#include "fmbem/problems/capacitance_error.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace fmbem {
namespace {

/// Where errors of Maxwell's form take those of the capacitors, at the most.
SquareMatrix errors_of_sums(const SquareMatrix& maxwell_error) {
  SquareMatrix error = mutual_capacitance(maxwell_error);
  for (double& value : error.values) value = std::abs(value);
  return error;
}

/// The larger of both, entry by entry.
void raise(SquareMatrix& error, const Entries& least) {
  for (std::size_t k = 0; k < error.values.size(); ++k)
    error.values[k] = std::max(error.values[k], least[k]);
}

void add(SquareMatrix& error, const SquareMatrix& more) {
  for (std::size_t k = 0; k < error.values.size(); ++k) error.values[k] += more.values[k];
}

/// What cannot be right, because of the discretization alone.
CapacitanceError contradictions(const SquareMatrix& maxwell) {
  SquareMatrix difference(maxwell.n);
  for (std::size_t i = 0; i < maxwell.n; ++i)
    for (std::size_t j = 0; j < maxwell.n; ++j)
      difference(i, j) = std::abs(maxwell(i, j) - maxwell(j, i));
  CapacitanceError error{difference, errors_of_sums(difference)};
  const SquareMatrix mutual = mutual_capacitance(maxwell);
  for (std::size_t i = 0; i < maxwell.n; ++i)
    for (std::size_t j = 0; j < maxwell.n; ++j) {
      if (i != j) error.maxwell(i, j) = std::max(error.maxwell(i, j), maxwell(i, j));
      error.mutual(i, j) = std::max(error.mutual(i, j), -mutual(i, j));
    }
  return error;
}

CapacitanceError with_solver_error(CapacitanceError error, const CapacitanceSolution& solution) {
  add(error.maxwell, solution.solver_error);
  add(error.mutual, errors_of_sums(solution.solver_error));
  return error;
}

}  // namespace

CapacitanceError apparent_error(const CapacitanceSolution& solution) {
  return with_solver_error(contradictions(solution.maxwell), solution);
}

CapacitanceError estimated_error(const CapacitanceSolution& solution,
                                 std::span<const SquareMatrix> maxwell,
                                 const Convergence& convergence) {
  std::vector<Entries> of_maxwell, of_mutual;
  for (const SquareMatrix& level : maxwell) {
    of_maxwell.push_back(level.values);
    of_mutual.push_back(mutual_capacitance(level).values);
  }
  CapacitanceError error = contradictions(solution.maxwell);
  raise(error.maxwell, discretization_error(of_maxwell, convergence));
  raise(error.mutual, discretization_error(of_mutual, convergence));
  return with_solver_error(std::move(error), solution);
}

}  // namespace fmbem
