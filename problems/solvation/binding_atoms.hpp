#pragma once

#include <array>
#include <string>

#include "fmbem/meshes/pqr_file.hpp"

namespace fmbem {

/// A sentence where the complex's atoms are not those of receptor and ligand together; else empty.
/// Atoms are matched by name and residue where these come up once on both sides, and the others by
/// their order, receptor and ligand following each other in either order. Charges are compared to
/// the decimals of both files, at least 4, and the distances of a part's atoms, which may have been
/// moved as a whole, from four of them, to 5e-3 Å: what three decimals of coordinates leave. The
/// sentence names the first atom that differs. O(n log n).
std::string binding_atoms_differ(const Molecule& complex, const Molecule& receptor,
                                 const Molecule& ligand);

}  // namespace fmbem
