#include "cli/capacitance_report.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <utility>
#include <vector>

#include "cli/digits.hpp"
#include "cli/layout.hpp"
#include "cli/solve_report.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

/// Conductors up to which matrices are printed whole.
constexpr std::size_t most_in_tables = 8;

/// A power of 1000 and its prefix, for which the largest value has one to three digits.
std::pair<double, std::string> engineering_unit(double largest) {
  static const char* const prefixes[] = {"", "m", "u", "n", "p", "f", "a"};
  int k = 0;
  while (k < 6 && largest < 1) largest *= 1000, ++k;
  return {std::pow(1000.0, k), prefixes[k]};
}

/// The digits of a matrix, by the error of each entry. Four at the most where there are other
/// errors than the known ones.
std::vector<std::string> digits_of(const SquareMatrix& matrix, const SquareMatrix& error,
                                   bool is_estimate) {
  std::vector<std::string> result;
  for (std::size_t k = 0; k < matrix.values.size(); ++k) {
    const double least = is_estimate ? 0 : error_of_digits(matrix.values[k], 4);
    result.push_back(digits(matrix.values[k], std::max(error.values[k], least)));
  }
  return result;
}

std::vector<std::string> printed_names(const std::vector<Conductor>& conductors) {
  std::vector<std::string> names;
  for (const Conductor& conductor : conductors) names.push_back(printable(conductor.name));
  return names;
}

/// `entries` row by row, in as many parts as keep to the width.
void write_table(std::ostream& out, const std::string& title,
                 const std::vector<std::string>& entries, const std::vector<std::string>& names) {
  const std::size_t n = names.size();
  std::size_t name_width = 4, width = 12;
  for (const std::string& name : names) name_width = std::max(name_width, name.size());
  for (const std::string& entry : entries) width = std::max(width, entry.size());
  const std::size_t column = std::max(width, name_width) + 2, before = name_width + 2;
  const std::size_t in_a_part =
      before + column < line_width ? std::min(n, (line_width - before) / column) : 1;
  out << "\n\n" << title;
  for (std::size_t first = 0; first < n; first += in_a_part) {
    const std::size_t end = std::min(first + in_a_part, n);
    out << (first > 0 ? "\n\n" : "\n") << std::string(before, ' ') << std::right;
    for (std::size_t j = first; j < end; ++j)
      out << std::setw(static_cast<int>(column)) << names[j];
    for (std::size_t i = 0; i < n; ++i) {
      out << "\n  " << std::left << std::setw(static_cast<int>(name_width)) << names[i]
          << std::right;
      for (std::size_t j = first; j < end; ++j)
        out << std::setw(static_cast<int>(column)) << entries[i * n + j];
    }
  }
}

/// Of each of many conductors its total capacitance, and the capacitors that matter of which it
/// consists, the largest first.
void write_couplings(std::ostream& out, const CapacitanceOfLevels& levels, double factor,
                     const std::string& unit) {
  constexpr double matters = 0.01;
  const std::vector<std::string> names = printed_names(levels.solution.conductors);
  const SquareMatrix maxwell = scaled(levels.solution.maxwell, factor),
                     mutual = mutual_capacitance(maxwell);
  const bool is_estimate = levels.estimate.has_value();
  const auto totals = digits_of(maxwell, scaled(levels.error.maxwell, factor), is_estimate),
             capacitors = digits_of(mutual, scaled(levels.error.mutual, factor), is_estimate);
  const std::size_t n = names.size();
  out << "\n\ncapacitance [" << unit << "] of " << n
      << " conductors: in total (Maxwell's diagonal), and the capacitors from 1 % of it on, to "
         "others and to infinity; --csv FILE has them all";
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<std::size_t> order;
    for (std::size_t j = 0; j < n; ++j)
      if (mutual(i, j) >= matters * maxwell(i, i)) order.push_back(j);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return mutual(i, a) > mutual(i, b); });
    out << "\n  " << names[i] << "  " << totals[i * n + i] << ':';
    for (const std::size_t j : order)
      out << (j == order.front() ? " " : ", ") << (i == j ? "infinity" : names[j]) << ' '
          << capacitors[i * n + j];
  }
}

/// A line for each level: what it took, and how far it is from the finest.
void write_levels(std::ostream& out, const CapacitanceOfLevels& levels) {
  const SquareMatrix& finest = levels.solution.maxwell;
  const char* before = levels_heading;
  for (const CoarserLevel& level : levels.coarser) {
    SquareMatrix difference = level.solution.maxwell;
    for (std::size_t k = 0; k < difference.values.size(); ++k)
      difference.values[k] -= finest.values[k];
    out << std::exchange(before, next_level) << level_text(level.panels, level.solution) << ", "
        << std::setprecision(2) << 100 * largest_entry(difference) / largest_entry(finest)
        << " % from the finest";
  }
  out << before << level_text(levels.mesh.triangles.size(), levels.solution);
}

/// Says what the digits follow from.
void write_estimate(std::ostream& out, const CapacitanceOfLevels& levels) {
  if (!levels.estimate) {
    out << "\n\nfour digits are printed, or fewer: " << no_estimate(levels.coarser.empty());
    return;
  }
  const Convergence& convergence = levels.estimate->convergence;
  out << "\n\ndiscretization error, estimated from the refinement: " << std::setprecision(2)
      << 100 * largest_entry(levels.error.maxwell) / largest_entry(levels.solution.maxwell)
      << " % (order " << convergence.order << (convergence.observed ? " observed" : " assumed")
      << "); each entry is printed with the digits that its own error leaves";
}

}  // namespace

Json results_json(const CapacitanceOfLevels& levels) {
  const SquareMatrix& maxwell = levels.solution.maxwell;
  const double natural = natural_capacitance(levels.mesh.scale_to_m);
  const auto per_conductor = [](Json value, const std::string& unit) {
    return Json{{"value", std::move(value)}, {"unit", unit}, {"location", "conductor"}};
  };
  const auto with_error = [&](const SquareMatrix& values, const SquareMatrix& error, double factor,
                              const std::string& unit) {
    Json result = per_conductor(matrix(scaled(values, factor)), unit);
    if (levels.estimate) result["error"] = matrix(scaled(error, factor));
    return result;
  };
  const CapacitanceError& error = levels.error;
  Json results{{"capacitance_F", with_error(maxwell, error.maxwell, 1, "F")},
               {"capacitance_4pi_eps0_length",
                with_error(maxwell, error.maxwell, 1 / natural, "4 pi eps0 " + levels.mesh.unit)},
               {"mutual_F", with_error(mutual_capacitance(maxwell), error.mutual, 1, "F")},
               {"solver_error_F", per_conductor(matrix(levels.solution.solver_error), "F")},
               {"asymmetry", per_conductor(number(asymmetry(maxwell)), "1")}};
  if (const auto& estimate = levels.estimate)
    results["refinement"] = per_conductor({{"order", number(estimate->convergence.order)},
                                           {"order_observed", estimate->convergence.observed},
                                           {"safety_factor", estimate->convergence.safety},
                                           {"extrapolated_F", matrix(estimate->extrapolated)}},
                                          "F");
  return results;
}

Json levels_json(const CapacitanceOfLevels& levels) {
  Json json = Json::array();
  const auto add = [&](std::size_t panels, const CapacitanceSolution& solution) {
    json.push_back(level_json(panels, solution));
    json.back()["capacitance_F"] = matrix(solution.maxwell);
  };
  for (const CoarserLevel& level : levels.coarser) add(level.panels, level.solution);
  add(levels.mesh.triangles.size(), levels.solution);
  return json;
}

std::string capacitance_text(const CapacitanceOfLevels& levels) {
  const CapacitanceSolution& solution = levels.solution;
  std::ostringstream out;
  const auto [factor, prefix] = engineering_unit(largest_entry(solution.maxwell));
  const double to_natural = 1 / natural_capacitance(levels.mesh.scale_to_m);
  const std::vector<std::string> names = printed_names(solution.conductors);
  const std::string natural_unit = " [4 pi eps0 " + levels.mesh.unit + "]";
  const auto table = [&](const std::string& title, const SquareMatrix& values,
                         const SquareMatrix& error, double scale) {
    write_table(out, title,
                digits_of(scaled(values, scale), scaled(error, scale), levels.estimate.has_value()),
                names);
  };
  if (!levels.coarser.empty()) write_levels(out, levels);
  if (solution.maxwell.n > most_in_tables) {
    write_couplings(out, levels, factor, prefix + "F");
    out << "\n\nasymmetry " << std::setprecision(2) << asymmetry(solution.maxwell)
        << " of the largest entry";
    write_estimate(out, levels);
    return out.str();
  }
  table("capacitance [" + prefix + "F], Maxwell form (column: the conductor at 1 V)",
        solution.maxwell, levels.error.maxwell, factor);
  table("capacitance" + natural_unit + ", Maxwell form", solution.maxwell, levels.error.maxwell,
        to_natural);
  if (solution.maxwell.n > 1) {
    table("capacitors [" + prefix + "F] (diagonal: to infinity)",
          mutual_capacitance(solution.maxwell), levels.error.mutual, factor);
    out << "\n\nasymmetry " << std::setprecision(2) << asymmetry(solution.maxwell)
        << " of the largest entry";
  }
  write_estimate(out, levels);
  // With an assumed order it would be no better. With an observed one its own error was below half
  // of the estimate on all closed forms (docs/accuracy.md).
  if (levels.estimate && levels.estimate->convergence.observed)
    table("extrapolated" + natural_unit, levels.estimate->extrapolated,
          scaled(levels.error.maxwell, 0.5), to_natural);
  return out.str();
}

}  // namespace fmbem::cli
