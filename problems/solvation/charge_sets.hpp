#pragma once

#include <string>
#include <vector>

#include "fmbem/meshes/pqr_file.hpp"

namespace fmbem {

/// Charges that act together, such as the difference between two states of a residue.
struct ChargeSet {
  std::string name;
  std::vector<Atom> atoms;
};

/// A charge set for each residue of a molecule, which may be other places in the same solutes.
/// Throws InputError for residues without charge.
std::vector<ChargeSet> charge_sets_of(const Molecule& sites);

/// Throws InputError for charges of a molecule at one place.
void refuse_coincident_charges(const Molecule& molecule);

}  // namespace fmbem
