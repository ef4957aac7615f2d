#include "cli/compare_reports.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace fmbem::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Results that tell of errors, and those that are 0 but for them: where bits differ they do, by
/// much.
bool is_of_errors(const std::string& name) {
  static const std::array<std::string, 4> names{"solver_error_F", "asymmetry", "refinement",
                                                "force_integration_error_N"};
  return name.starts_with("imbalance_") ||
         std::find(names.begin(), names.end(), name) != names.end();
}

/// Tolerances of the solve, of which a mesh alone has none.
double allowed_difference(const Json& report) {
  constexpr double rounding = 1e-12;
  double loosest = 0;
  if (report.contains("tolerance"))
    for (const auto& [name, value] : report.at("tolerance").items())
      loosest = std::max(loosest, value.get<double>());
  return std::max(10 * loosest, rounding);
}

/// The largest |a − b| and |a| of the numbers of two values; infinite where their shapes, words or
/// counts are not the same.
struct Difference {
  double of_numbers = 0, largest = 0;
};
void compare_values(const Json& a, const Json& b, Difference& difference) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (a.is_structured() && b.is_structured() && a.size() == b.size() && a.type() == b.type()) {
    for (auto it = a.begin(), other = b.begin(); it != a.end(); ++it, ++other) {
      if (a.is_object() && it.key() != other.key()) difference.of_numbers = infinite;
      compare_values(*it, *other, difference);
    }
  } else if (a.is_number_float() && b.is_number_float()) {
    const double before = a.get<double>(), after = b.get<double>();
    difference.of_numbers = std::max(difference.of_numbers, std::abs(before - after));
    difference.largest = std::max(difference.largest, std::abs(before));
  } else if (a != b) {
    difference.of_numbers = infinite;
  }
}

std::string counts_of(const Json& report) {
  return report.at("mesh").at("panels").dump() + " panels";
}

/// What makes two reports be of different problems.
std::string other_problem(const Json& before, const Json& after) {
  if (before.at("mesh").at("panels") != after.at("mesh").at("panels"))
    return "the mesh has " + counts_of(after) + " now, and had " + counts_of(before);
  if (before.contains("conductors") && before.at("conductors") != after.at("conductors"))
    return "the conductors are others: " + before.at("conductors").dump() + ", now " +
           after.at("conductors").dump();
  if (before.at("status") != after.at("status"))
    return "the run is " + after.at("status").get<std::string>() + " now, and was " +
           before.at("status").get<std::string>();
  for (const auto& [name, result] : before.at("results").items()) {
    if (!after.at("results").contains(name)) return "there is no result " + name + " now";
    const Json& now = after.at("results").at(name);
    for (const char* what : {"unit", "location"})
      if (result.at(what) != now.at(what))
        return std::string("the ") + what + " of " + name + " is " + now.at(what).dump() +
               " now, and was " + result.at(what).dump();
  }
  return "";
}

}  // namespace

Agreement compare_reports(const Json& before, const Json& after) {
  Agreement agreement;
  agreement.allowed = allowed_difference(before);
  agreement.otherwise = other_problem(before, after);
  if (!agreement.otherwise.empty()) return agreement;
  for (const auto& [name, result] : before.at("results").items()) {
    const Json& now = after.at("results").at(name);
    if (result == now) continue;
    agreement.same_bits = false;
    if (is_of_errors(name)) continue;
    Difference difference;
    compare_values(result.at("value"), now.at("value"), difference);
    const double relative =
        difference.of_numbers == 0 ? 0 : difference.of_numbers / difference.largest;
    if (relative <= agreement.largest) continue;
    agreement.largest = relative;
    agreement.where = name;
  }
  return agreement;
}

}  // namespace fmbem::cli
