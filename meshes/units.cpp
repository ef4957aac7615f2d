#include "fmbem/meshes/units.hpp"

#include "fmbem/fmm/base/error.hpp"

namespace fmbem {

double metres_in(const std::string& unit) {
  if (unit == "m") return 1;
  if (unit == "cm") return 1e-2;
  if (unit == "mm") return 1e-3;
  if (unit == "um") return 1e-6;
  if (unit == "nm") return 1e-9;
  if (unit == "angstrom") return 1e-10;
  throw InputError("the unit '" + unit + "' is none of m, cm, mm, um, nm, angstrom");
}

}  // namespace fmbem
