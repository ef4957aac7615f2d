#pragma once

#include <span>
#include <string>
#include <vector>

#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// Of potentials on molecules, in kT/e, where they are drawn and nothing else is asked for: red at
/// −5 and below, white at 0, blue at 5 and above.
inline constexpr double drawn_potential = 5;

/// What a molecule's viewer is to show.
struct MolecularView {
  const SurfaceMesh& mesh;         ///< in ångström
  std::span<const double> values;  ///< [n panels] in the mesh's order
  double range = drawn_potential;  ///< red at −range, blue at range
  std::string molecule;            ///< the file of its atoms, shown as sticks
};

/// Files of a script for a viewer, the script first: .pml (PyMOL) and .tcl (VMD) have the surface
/// in themselves, .cxc (ChimeraX) opens another one beside it, in the format BILD. Throws
/// InputError for other endings.
std::vector<std::string> files_of_view(const std::string& path);

/// Writes a script that opens the molecule and its surface, coloured. In .pml and .tcl colours go
/// evenly from vertex to vertex, whose values are the means of their panels by area, and the range
/// is a variable at the top; in .bild each panel has its own. Files appear whole or not at all.
/// Throws InputError for unwritable paths and ResourceError when the disk is full.
void write_view(const std::string& path, const MolecularView& view);

}  // namespace fmbem
