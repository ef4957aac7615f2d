#include "cli/energies.hpp"

#include <iomanip>
#include <sstream>
#include <utility>

#include "cli/digits.hpp"

namespace fmbem::cli {
namespace {

/// `text_of` gives the digits of a number whose unit is so many kcal/mol.
template <class TextOf>
std::string line_of(const std::string& name, const SolvationModel& model, const TextOf& text_of) {
  std::ostringstream line;
  line << '\n' << std::left << std::setw(10) << name;
  const char* before = "";
  for (const EnergyUnit& unit : energy_units(model))
    line << std::exchange(before, ", ") << text_of(unit.in_kilocalories) << ' ' << unit.name;
  return line.str();
}

}  // namespace

std::vector<EnergyUnit> energy_units(const SolvationModel& model) {
  return {{"kcal/mol", "kcal_per_mol", 1},
          {"kJ/mol", "kJ_per_mol", 1 / kilojoules_in_kilocalorie},
          {"kT", "kT", model.thermal_energy()}};
}

std::string energy_text(const std::string& name, double energy, const SolvationModel& model) {
  return line_of(name, model, [&](double unit) {
    std::ostringstream number;
    number << std::fixed << std::setprecision(4) << energy / unit;
    return number.str();
  });
}

std::string energy_text(const std::string& name, double energy, double error,
                        const SolvationModel& model) {
  return line_of(name, model, [&](double unit) { return digits(energy / unit, error / unit); });
}

void add_energy(Json& json, const std::string& name, double energy, const SolvationModel& model,
                std::optional<double> error) {
  for (const EnergyUnit& unit : energy_units(model)) {
    Json& value = json[name + "_" + unit.suffix];
    value = result_json(number(energy / unit.in_kilocalories), unit.name);
    if (error) value["error"] = Json::array({number(*error / unit.in_kilocalories)});
  }
}

}  // namespace fmbem::cli
