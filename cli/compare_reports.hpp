#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace fmbem::cli {

/// How the results of a report agree with those of an earlier one.
struct Agreement {
  bool same_bits = true;  ///< of every result
  double largest = 0;     ///< difference, over the largest number of its result
  std::string where;      ///< the result with that difference
  double allowed = 0;     ///< for the largest one
  std::string otherwise;  ///< what cannot be compared at all: a sentence; else empty

  bool holds() const { return otherwise.empty() && largest <= allowed; }
};

/// Compares `results`, and that meshes and conductors are the same. Two runs may differ by ten
/// times the loosest tolerance that was in force; what results say of their own errors may differ
/// as it likes. Throws nlohmann's exceptions for what is no report.
Agreement compare_reports(const nlohmann::ordered_json& before,
                          const nlohmann::ordered_json& after);

}  // namespace fmbem::cli
