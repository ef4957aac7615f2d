#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace fmbem {

/// An energy on one of several meshes of the same surfaces.
struct EnergyLevel {
  std::size_t panels = 0;
  double energy = 0;
  int iterations = 0;
};

struct ExtrapolatedEnergy {
  double energy = 0;
  double error = 0;  ///< an estimate: see extrapolate_energy()
};

/// Richardson's extrapolation of the two finest to panels without end: the error of constant
/// densities on smooth surfaces goes as the square of the panels' size, as 1/panels. With three
/// levels or more the estimated error is the difference from what the two before the finest give,
/// with two the difference from the finest. Throws InputError for fewer than two levels and for a
/// level that has no more panels than the one before.
ExtrapolatedEnergy extrapolate_energy(std::span<const EnergyLevel> levels);

}  // namespace fmbem
