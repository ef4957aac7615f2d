#pragma once

#include <string>
#include <vector>

#include "fmbem/problems/capacitance.hpp"

namespace fmbem {

/// Capacitances as a circuit.
struct SpiceCircuit {
  std::string name;                ///< of the subcircuit; made legal
  std::vector<std::string> nets;   ///< [n], names of the conductors
  SquareMatrix maxwell;            ///< farads
  double threshold = 0;            ///< see write_spice()
  std::vector<std::string> notes;  ///< lines of comment at its top
};

/// Names that SPICE takes for nodes: letters, digits and underscores, no digit in front, not gnd,
/// and no two that are the same in capitals; in the order of `names`.
std::vector<std::string> spice_names(const std::vector<std::string>& names);

/// Writes a SPICE subcircuit whose pins are the nets, in their order, with the capacitors of
/// mutual_capacitance() between them and to the ground node 0, which stands for infinity. A
/// capacitor between nets i and j below threshold · min(C_ii, C_jj), or that is not positive, is
/// left out: each of both nets has it to ground instead, so that their total capacitances stay. The
/// file appears whole or not at all. Throws InputError for a threshold below 0 and an unwritable
/// path, and ResourceError when the disk is full.
void write_spice(const std::string& path, const SpiceCircuit& circuit);

}  // namespace fmbem
