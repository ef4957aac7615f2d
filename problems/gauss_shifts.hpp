#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/enclosures.hpp"
#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/problems/known_charges.hpp"
#include "fmbem/problems/panel_conditions.hpp"

namespace fmbem {

/// Gauss's law where dielectrics of several permittivities touch, or conductors lie on interfaces.
/// Each chamber r between such surfaces, a bounded one whose permittivity is one, is left by no
/// flux for any σ, as nothing in it is charged:
///
///     Σ_sides A (½σ ± K'σ) + Q_r = 0,   + behind the panels, − ahead of them,
///
/// Q_r what lies in it without touching its walls. K'σ in products gets constants on the walls of
/// chambers that no conductor bounds, the least in the norm that is weighted by area, by which that
/// holds. Free charges of conductors and fluxes through interfaces follow from it as well.
///
/// Where permittivities are high, that law times ε says what flux comes in from outside. Let U be a
/// chamber r and all that hangs together with it by chambers of at least its ε. The rows' sum over
/// the walls of U, weighted by A (ε₁ + ε₂)/2, has no ε of U but at conductors: over Σ A ε outside
/// and at conductors it replaces the mean of rows where r is the one of higher ε. So rows keep
/// their digits, and a small residual means small errors (docs/decisions.md).
template <class T>
struct GaussShifts {
  std::vector<std::int32_t> part{};  ///< [n]: parts, finer than those that there were
  std::vector<std::vector<std::int32_t>>
      made_of{};  ///< [parts that there were]: those in its place
  /// As MixedRows has them.
  std::vector<BasicPartShift<T>> rows{}, inverse_rows{};
  std::vector<BasicStretchedParts<T>> stretched{};
  std::size_t most_walls = 0;  ///< of what hangs together
  /// What K'σ is corrected by for results, if that of rows of fluxes is what these rows say: of
  /// A K'σ, by charges and fluxes of parts. That of interfaces is as it is on the side of the lower
  /// ε; what leaves that side enters the other.
  std::vector<BasicPartShift<T>> flux{};
  /// [n] or empty: of panels where φ is given, whether their charge follows from K'σ; and whether
  /// there is metal behind them or ahead, where no flux is.
  std::vector<char> charge_by_flux{}, is_metal_behind{}, is_metal_ahead{};

  std::vector<KnownCharge<T>> known{};  ///< of interfaces that hang together

  bool empty() const { return part.empty(); }
};

/// `part`: [n], numbers of parts; `beta`: [n], of rows. Chambers that a ground plane, a floating
/// conductor or an unfixed Neumann surface bounds have no such law, nor have those where panels
/// fall together. Nothing comes of surfaces that are closed and have one contrast each: their law
/// is a ChargeEquation.
template <class T>
GaussShifts<T> find_gauss_shifts(const Panels& panels, const Enclosures& enclosures,
                                 const BasicPanelConditions<T>& conditions, std::span<const T> beta,
                                 std::span<const std::int32_t> part);

}  // namespace fmbem
