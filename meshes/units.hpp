#pragma once

#include <string>

namespace fmbem {

/// Metres in a unit: m, cm, mm, um, nm, angstrom. Throws InputError for any other.
double metres_in(const std::string& unit);

}  // namespace fmbem
