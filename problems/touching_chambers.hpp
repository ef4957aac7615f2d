#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/enclosures.hpp"
#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/problems/panel_conditions.hpp"

namespace fmbem {

/// A chamber between surfaces that hang together, or several that only an interface without a
/// contrast divides. All its walls say the same ε, or it is in metal.
struct TouchingChamber {
  bool is_known = true;  ///< whether Gauss's law holds for its walls and what is inside
  bool is_metal = false;
  std::vector<std::int32_t> inside{};  ///< parts that lie in it without touching its walls
};

/// Panels of one part and row between the same chambers; −1 stands for chambers that are unknown.
template <class T>
struct ChamberWall {
  std::int32_t old_part = 0, complex = 0;
  std::int32_t behind = -1, ahead = -1;
  bool gives_flux = false, has_admittance = false;
  T permittivity_behind{}, permittivity_ahead{}, beta{};
  double area = 0;
};

/// The surfaces that have interfaces of several contrasts, or ones that are not closed.
template <class T>
struct TouchingChambers {
  std::vector<TouchingChamber> chambers{};
  std::vector<ChamberWall<T>> walls{};
  std::vector<std::int32_t> wall_of{};  ///< [n]: −1 of other panels; empty if there is none
  /// What surrounds surfaces that hang together, by number of ChamberWall::complex: of those that
  /// are interfaces alone, in one medium, whose chambers are all known.
  std::map<std::int32_t, T> surroundings{};
};

/// As find_gauss_shifts() has them.
template <class T>
TouchingChambers<T> find_touching_chambers(const Panels& panels, const Enclosures& enclosures,
                                           const BasicPanelConditions<T>& conditions,
                                           std::span<const T> beta,
                                           std::span<const std::int32_t> part);

}  // namespace fmbem
