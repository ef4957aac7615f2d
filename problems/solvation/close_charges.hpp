#pragma once

#include <string>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/meshes/pqr_file.hpp"

namespace fmbem {

/// One sentence for charges that are so close to panels, in ångström, that energies are those of
/// the panels rather than of the surface: by less than a quarter of a panel's longest edge. At that
/// distance from a panel's middle, edge or corner the energy of a charge is off by 10, 4 and 30 %,
/// compared with the same faces in panels of an eighth of the size. And one for charges that are
/// closer to each other, 0.01 Å, than any of a molecule are. O(panels · charges beside one), with
/// all threads.
std::vector<std::string> notices_of_close_charges(const Panels& panels, const Molecule& molecule);

}  // namespace fmbem
