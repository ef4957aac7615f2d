#include "cli/charge_report.hpp"

#include <utility>

#include "cli/digits.hpp"
#include "cli/solve_report.hpp"
#include "fmbem/meshes/text.hpp"

namespace fmbem::cli {
namespace {

Json charge_json(const ChargesOfLevels& levels) {
  Json json{{"value", numbers(levels.charges)}, {"unit", "C"}, {"location", "conductor"}};
  if (levels.convergence) json["error"] = numbers(levels.error);
  return json;
}

}  // namespace

std::string charges_text(const ChargesOfLevels& levels) {
  std::string text;
  const char* before = levels_heading;
  for (const ChargeLevel& level : levels.coarser)
    text += std::exchange(before, next_level) + level_text(level.panels, level.solution);
  if (!levels.coarser.empty())
    text += before + level_text(levels.mesh.triangles.size(), levels.solution);
  for (std::size_t i = 0; i < levels.charges.size(); ++i) {
    const double charge = levels.charges[i];
    text += "\ncharge    " + printable(levels.solution.conductors[i].name) + ": " +
            digits(charge, levels.convergence ? levels.error[i] : error_of_digits(charge, 4)) +
            " C";
  }
  if (!levels.convergence)
    text += "\n          four digits: " + no_estimate(levels.coarser.empty());
  return text;
}

Json levels_json(const ChargesOfLevels& levels) {
  Json json = Json::array();
  const auto add = [&](std::size_t panels, const ConductorSolution& solution,
                       const std::vector<double>& charges) {
    json.push_back(level_json(panels, solution));
    json.back()["charge_C"] = numbers(charges);
  };
  for (const ChargeLevel& level : levels.coarser) add(level.panels, level.solution, level.charges);
  add(levels.mesh.triangles.size(), levels.solution, levels.charges);
  return json;
}

Json charges_json(const ChargesOfLevels& levels) {
  return {{"voltages_V",
           {{"value", numbers(levels.solution.potential[0])},
            {"unit", "V"},
            {"location", "conductor"}}},
          {"charge_C", charge_json(levels)}};
}

}  // namespace fmbem::cli
