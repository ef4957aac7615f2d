#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fmbem {

// The rule: coordinates of a geometry are in its own unit, if its format has one (STEP, IGES).
// Everything else (files without a unit, sizes, points, results) is in the unit that was asked for.
// If none was asked for it is the file's own, or m.

/// Metres in a unit: m, cm, mm, um, nm, angstrom. Throws InputError for any other.
double metres_in(const std::string& unit);

/// The unit of the lengths that are told and given for a file. Throws InputError if it cannot be
/// read, or for an unknown unit.
std::string unit_for(const std::string& file, const std::optional<std::string>& asked);

/// The unit in a STEP file's text: that of its first LENGTH_UNIT in metres; mm for units that are
/// not among ours (inches).
std::string unit_of_step(std::string_view text);

/// The same of an IGES file: parameter 14 of its global section.
std::string unit_of_iges(std::string_view text);

/// A length with a unit, such as "2um", or in the unit that is asked for, such as "2".
struct Length {
  double value = 0;
  std::optional<std::string> unit{};

  Length(double v = 0) : value(v) {}  // NOLINT: a number is a length in the mesh's unit
  /// Throws InputError for a text that is no number with or without a unit.
  explicit Length(const std::string& text);
  double in(const std::string& other) const {
    return unit ? value * (metres_in(*unit) / metres_in(other)) : value;
  }
};

/// How to make OpenCASCADE, which converts files that have a unit, read in this one.
struct CadUnit {
  std::string target;  ///< in its words
  double scaling;      ///< of what it has read
};
CadUnit cad_unit(const std::string& unit);

}  // namespace fmbem
