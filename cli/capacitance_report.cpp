#include "cli/capacitance_report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace fmbem::cli {
namespace {

/// Decimals down to the first digit that the error touches.
int decimals_for(double error) {
  return std::clamp(static_cast<int>(-std::floor(std::log10(error))), 0, 12);
}

/// A power of 1000 and its prefix, for which the largest value has one to three digits.
std::pair<double, std::string> engineering_unit(double largest) {
  static const char* const prefixes[] = {"", "m", "u", "n", "p", "f", "a"};
  int k = 0;
  while (k < 6 && largest < 1) largest *= 1000, ++k;
  return {std::pow(1000.0, k), prefixes[k]};
}

/// Conductors of very different size share no number of decimals.
bool spans_many_scales(const SquareMatrix& matrix) {
  double smallest = largest_entry(matrix);
  for (std::size_t i = 0; i < matrix.n; ++i) smallest = std::min(smallest, std::abs(matrix(i, i)));
  return smallest < 1e-3 * largest_entry(matrix);
}

/// A table without the digits beyond a relative error.
void write_table(std::ostream& out, const std::string& title, const SquareMatrix& matrix,
                 const std::vector<Conductor>& conductors, double relative_error) {
  std::size_t name_width = 4;
  for (const Conductor& c : conductors) name_width = std::max(name_width, c.name.size());
  const int width = static_cast<int>(std::max<std::size_t>(name_width, 14)) + 2;
  out << "\n\n" << title << '\n' << std::string(name_width + 2, ' ');
  for (const Conductor& c : conductors) out << std::right << std::setw(width) << c.name;
  if (spans_many_scales(matrix) || largest_entry(matrix) < 1e-3)
    out << std::scientific << std::setprecision(decimals_for(relative_error));
  else
    out << std::fixed << std::setprecision(decimals_for(relative_error * largest_entry(matrix)));
  for (std::size_t i = 0; i < matrix.n; ++i) {
    out << "\n  " << std::left << std::setw(static_cast<int>(name_width)) << conductors[i].name
        << std::right;
    for (std::size_t j = 0; j < matrix.n; ++j) out << std::setw(width) << matrix(i, j);
  }
  out << std::defaultfloat << std::setprecision(6);
}

/// Of the printed results: by the estimate of the discretization error, or else so as to print six
/// digits; never below what the solver left.
double printed_error(const CapacitanceSolution& solution,
                     const std::optional<RichardsonEstimate>& estimate) {
  const double largest = largest_entry(solution.maxwell);
  double error = estimate && largest > 0 ? estimate->error / largest : 1e-5;
  for (const SolveReport& solve : solution.solves) error = std::max(error, solve.true_residual);
  return std::clamp(error, 1e-12, 1.0);
}

}  // namespace

Json results_json(const CapacitanceOfLevels& levels) {
  const SquareMatrix& maxwell = levels.solution.maxwell;
  const double natural = natural_capacitance(levels.mesh.scale_to_m);
  const auto per_conductor = [](Json value, const std::string& unit) {
    return Json{{"value", std::move(value)}, {"unit", unit}, {"location", "conductor"}};
  };
  Json results{{"capacitance_F", per_conductor(matrix(maxwell), "F")},
               {"capacitance_4pi_eps0_length", per_conductor(matrix(scaled(maxwell, 1 / natural)),
                                                             "4 pi eps0 " + levels.mesh.unit)},
               {"mutual_F", per_conductor(matrix(mutual_capacitance(maxwell)), "F")},
               {"asymmetry", per_conductor(number(asymmetry(maxwell)), "1")}};
  if (const auto& estimate = levels.estimate) {
    Json refinement{{"panels", levels.panels}, {"capacitance_F", Json::array()}};
    for (const SquareMatrix& level : levels.maxwell)
      refinement["capacitance_F"].push_back(matrix(level));
    refinement["order"] = number(estimate->order);
    refinement["order_observed"] = estimate->observed;
    refinement["extrapolated_F"] = matrix(estimate->extrapolated);
    refinement["error_F"] = number(estimate->error);
    results["discretization_error"] = per_conductor(refinement, "F");
  }
  return results;
}

std::string capacitance_text(const CapacitanceOfLevels& levels) {
  const SurfaceMesh& mesh = levels.mesh;
  const CapacitanceSolution& solution = levels.solution;
  const std::optional<RichardsonEstimate>& estimate = levels.estimate;
  std::ostringstream out;
  const SquareMatrix mutual = mutual_capacitance(solution.maxwell);
  const auto [factor, prefix] = engineering_unit(largest_entry(solution.maxwell));
  const double error = printed_error(solution, estimate);
  const double to_natural = 1 / natural_capacitance(mesh.scale_to_m);
  write_table(out, "capacitance [" + prefix + "F], Maxwell form (column: the conductor at 1 V)",
              scaled(solution.maxwell, factor), solution.conductors, error);
  write_table(out, "capacitance [4 pi eps0 " + mesh.unit + "], Maxwell form",
              scaled(solution.maxwell, to_natural), solution.conductors, error);
  if (mutual.n > 1) {
    write_table(out, "capacitors [" + prefix + "F] (diagonal: to infinity)", scaled(mutual, factor),
                solution.conductors, error);
    out << "\n\nasymmetry " << std::setprecision(2) << asymmetry(solution.maxwell)
        << " of the largest entry";
  }
  if (estimate) {
    const double largest = largest_entry(solution.maxwell);
    out << "\n\ndiscretization error, estimated from the refinement: " << std::setprecision(2)
        << 100 * estimate->error / largest << " % (order " << estimate->order
        << (estimate->observed ? " observed" : " assumed") << ")";
    write_table(out, "extrapolated [4 pi eps0 " + mesh.unit + "]",
                scaled(estimate->extrapolated, to_natural), solution.conductors, 0.1 * error);
  }
  return out.str();
}

}  // namespace fmbem::cli
