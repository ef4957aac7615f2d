#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fmbem {

// One rule: coordinates of a geometry are in its own unit, where its format has one (STEP, IGES);
// everything else, that is files without a unit, sizes, points and results, is in the unit that was
// asked for. Who asks for none gets the file's own, and m where it has none.

/// Metres in a unit: m, cm, mm, um, nm, angstrom. Throws InputError for any other.
double metres_in(const std::string& unit);

/// The unit of the lengths that are told and given for a file. Throws InputError if it cannot be
/// read, or for an unknown unit.
std::string unit_for(const std::string& file, const std::optional<std::string>& asked);

/// The unit in a STEP file's text: that of its first LENGTH_UNIT in metres, mm if there is one that
/// is none of ours (inches).
std::string unit_of_step(std::string_view text);

/// The same of an IGES file: parameter 14 of its global section.
std::string unit_of_iges(std::string_view text);

/// A length with a unit, such as "2um", or in the unit that is asked for, such as "2".
struct Length {
  double value = 0;
  std::optional<std::string> unit{};

  Length(double v = 0) : value(v) {}  // NOLINT: a number is a length in the mesh's unit
  /// Throws InputError for what is no number with or without a unit.
  explicit Length(const std::string& text);
  double in(const std::string& other) const {
    return unit ? value * (metres_in(*unit) / metres_in(other)) : value;
  }
};

/// How OpenCASCADE, which converts what has a unit, is made to read in one.
struct CadUnit {
  std::string target;  ///< in its words
  double scaling;      ///< of what it has read
};
CadUnit cad_unit(const std::string& unit);

}  // namespace fmbem
