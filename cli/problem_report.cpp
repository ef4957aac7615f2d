#include "cli/problem_report.hpp"

#include <cmath>
#include <functional>
#include <utility>

#include "cli/digits.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

/// Of what enters a region, the part that may be left over without a warning.
constexpr double most_imbalance = 0.01;
/// Behind names of results.
constexpr const char* of_imaginary = "_imaginary";

const char* name_of(ProblemFormulation formulation) {
  return formulation == ProblemFormulation::single   ? "single layer"
         : formulation == ProblemFormulation::direct ? "direct"
                                                     : "second kind";
}

std::string four_digits(double value) { return digits(value, error_of_digits(value, 4)); }

/// With an imaginary part, (1.5 - 0.2i).
template <class Imaginary>
std::string complex_text(const std::string& real, bool is_complex, Imaginary&& imaginary) {
  if (!is_complex) return real;
  const std::string text = imaginary();
  const bool is_negative = text.starts_with('-');
  return "(" + real + (is_negative ? " - " : " + ") + (is_negative ? text.substr(1) : text) + "i)";
}

/// "charge" in C, or "current" in A.
struct Quantity {
  explicit Quantity(const ProblemSolution& solution) : conducts(solution.problem.conducts()) {}
  bool conducts;
  std::string unit() const { return conducts ? "A" : "C"; }
  std::string name() const { return conducts ? "current" : "charge"; }
  /// Through a surface.
  std::string flux() const { return conducts ? "current" : "flux"; }
};

/// With a conductor at 1 V each: what flows between conductors i and j at different potentials, as
/// a resistor; null where nothing does.
SquareMatrix resistors(const SquareMatrix& conductance) {
  SquareMatrix result(conductance.n);
  for (std::size_t i = 0; i < result.n; ++i)
    for (std::size_t j = 0; j < result.n; ++j)
      result(i, j) = i == j ? NAN : -2 / (conductance(i, j) + conductance(j, i));
  return result;
}

std::string matrix_text(const SquareMatrix& values, const std::string& title,
                        const std::vector<Conductor>& conductors) {
  std::string text = "\n" + title + " (column: the conductor at 1 V)";
  for (std::size_t i = 0; i < values.n; ++i) {
    text += "\n          " + printable(conductors[i].name) + ":";
    for (std::size_t j = 0; j < values.n; ++j) text += " " + four_digits(values(i, j));
  }
  return text;
}

}  // namespace

std::string regions_text(const BoundaryProblem& problem) {
  std::string text;
  for (const Region& region : problem.regions)
    text += (text.empty() ? "\nregions   " : "\n          ") + printable(region.name) + ": " +
            (problem.conducts() ? "conductivity " : "permittivity ") +
            complex_text(decimal(region.coefficient), region.loss != 0,
                         [&] { return decimal(-region.loss); }) +
            (problem.conducts() ? " S/m" : "") +
            (region.name == problem.outside ? ", reaches to infinity" : "");
  return text;
}

std::string results_text(const ProblemSolution& solution, const ResultsAsked& asked) {
  if (asked.rhs) return "";
  const Quantity quantity(solution);
  const ProblemResult& result = solution.results[0];
  const bool is_complex = solution.parts() == 2;
  // Of the result, with its imaginary part.
  const auto value = [&](auto&& of) {
    return complex_text(four_digits(of(0)), is_complex, [&] { return four_digits(of(1)); });
  };
  const auto member = [&](std::vector<double> ProblemResult::*values, std::size_t i) {
    return value([&](std::size_t part) { return (solution.results[part].*values)[i]; });
  };
  std::string text;
  if (solution.problem.formulation != ProblemFormulation::single)
    text += std::string("\nformulation ") + name_of(solution.problem.formulation);
  for (std::size_t c = 0; c < solution.conductors.size(); ++c)
    text += "\nconductor " + printable(solution.conductors[c].name) + ": " +
            value([&](std::size_t part) { return solution.potential[part][c]; }) + " V, " +
            quantity.name() + " " + member(&ProblemResult::conductor_flux, c) + " " +
            quantity.unit();
  for (std::size_t g = 0; g < solution.groups.size() && std::isfinite(result.flux_inside[g]); ++g)
    text += "\ngroup     " + printable(solution.groups[g]) + ": " + quantity.flux() + " inward " +
            member(&ProblemResult::flux_inside, g) + ", outward " +
            member(&ProblemResult::flux_outside, g) + " " + quantity.unit();
  if (std::isfinite(result.energy))
    text += std::string("\n") + (quantity.conducts ? "power     " : "energy    ") +
            value([&](std::size_t part) { return solution.results[part].energy; }) +
            (quantity.conducts ? " W" : " J");
  if (!asked.basis) return text;
  for (std::size_t part = 0; part < solution.parts(); ++part)
    text += matrix_text(basis_matrix(solution, solution.parts() + part),
                        std::string(quantity.conducts ? "conductances [S]" : "capacitances [F]") +
                            (part == 1 ? ", imaginary parts" : ""),
                        solution.conductors);
  return text;
}

Json results_json(const ProblemSolution& solution, const ResultsAsked& asked) {
  const Quantity quantity(solution);
  const std::string suffix = "_" + quantity.unit();
  Json results;
  // One list, or one for each right-hand side.
  const std::size_t parts = solution.parts();
  const auto add = [&](const std::string& name, const std::string& unit, const char* location,
                       const std::function<Json(std::size_t)>& of_result) {
    for (std::size_t part = 0; part < parts; ++part) {
      Json value = Json::array();
      if (asked.rhs)
        for (std::size_t k = part; k < solution.results.size(); k += parts)
          value.push_back(of_result(k));
      else
        value = of_result(part);
      results[name + (part == 1 ? of_imaginary : "")] = {
          {"value", std::move(value)}, {"unit", unit}, {"location", location}};
    }
  };
  const auto member = [&](std::vector<double> ProblemResult::*values) {
    return [&solution, values](std::size_t k) { return numbers(solution.results[k].*values); };
  };
  add("conductor_potential_V", "V", "conductor",
      [&](std::size_t k) { return numbers(solution.potential[k]); });
  add(quantity.name() + suffix, quantity.unit(), "conductor",
      member(&ProblemResult::conductor_flux));
  add(quantity.flux() + "_inside" + suffix, quantity.unit(), "group",
      member(&ProblemResult::flux_inside));
  add(quantity.flux() + "_outside" + suffix, quantity.unit(), "group",
      member(&ProblemResult::flux_outside));
  add("imbalance" + suffix, quantity.unit(), "region", member(&ProblemResult::imbalance));
  add("throughput" + suffix, quantity.unit(), "region", member(&ProblemResult::throughput));
  results.erase("throughput" + suffix + of_imaginary);  // a sum of absolute values has none
  const char* const energy_unit = quantity.conducts ? "W" : "J";
  add(quantity.conducts ? "power_W" : "energy_J", energy_unit, "mesh",
      [&](std::size_t k) { return number(solution.results[k].energy); });
  if (!asked.basis) return results;
  const auto add_matrix = [&](const std::string& name, const char* unit,
                              const SquareMatrix& values) {
    results[name] = {{"value", matrix(values)}, {"unit", unit}, {"location", "conductor"}};
  };
  const SquareMatrix basis = basis_matrix(solution, parts);
  if (quantity.conducts) {
    add_matrix("conductance_S", "S", basis);
    add_matrix("resistors_ohm", "ohm", resistors(basis));
    return results;
  }
  add_matrix("capacitance_F", "F", basis);
  if (parts == 2)
    add_matrix(std::string("capacitance_F") + of_imaginary, "F", basis_matrix(solution, parts + 1));
  return results;
}

Json driven_json(const ProblemSolution& solution) {
  Json driven = Json::array();
  for (std::size_t k = 0; k < solution.driven.size(); ++k)
    driven.push_back({{"conductor", solution.conductors[solution.driven[k]].name},
                      {"iterations", solution.driven_solves[k].iterations},
                      {"true_residual", number(solution.driven_solves[k].true_residual)},
                      {"converged", solution.driven_solves[k].converged}});
  return driven;
}

namespace {

void warn_of_driven(Console& console, Json& report, const ProblemSolution& solution) {
  for (std::size_t k = 0; k < solution.driven.size(); ++k)
    if (!solution.driven_solves[k].converged)
      warn(console, report,
           "the solve for the conductor \"" + solution.conductors[solution.driven[k]].name +
               "\" at 1 V, of which its " + Quantity(solution).name() +
               " is made, did not converge (" + solution.driven_solves[k].reason + ")");
}

void warn_of_balance(Console& console, Json& report, const ProblemSolution& solution) {
  const Quantity quantity(solution);
  for (const ProblemResult& result : solution.results)
    for (std::size_t r = 0; r < result.imbalance.size(); ++r) {
      const double part = std::abs(result.imbalance[r]) / result.throughput[r];
      if (!(part > most_imbalance)) continue;
      warn(console, report,
           "what enters the region \"" + solution.problem.regions[r].name + "\" in " + result.name +
               " leaves " + four_digits(result.imbalance[r]) + " " + quantity.unit() + " of " +
               four_digits(result.throughput[r]) + " " + quantity.unit() +
               " over, and should nothing: refine the mesh");
    }
}

}  // namespace

void warn_of_problem(Console& console, Json& report, const ProblemSolution& solution) {
  warn_of_driven(console, report, solution);
  for (const std::string& sentence : solution.notices) warn(console, report, sentence);
  warn_of_balance(console, report, solution);
  if (solution.problem.formulation == ProblemFormulation::second_kind) return;  // without energies
  for (const ProblemResult& result : solution.results)
    if (!std::isfinite(result.energy) && norm2(solution.problem.field) == 0)
      warn(console, report,
           "there is no " + std::string(Quantity(solution).conducts ? "power" : "energy") + " of " +
               result.name + ", as it is infinite: sources lie on each other");
}

}  // namespace fmbem::cli
