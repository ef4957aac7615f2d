#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

namespace fmbem {

enum class PanelConditionKind : std::uint8_t { potential, flux };

/// What holds on each panel, all in the order of Panels. Either φ is given there, or what the panel
/// gives off: an interface gives off nothing, and Neumann and Robin conditions are interfaces to
/// where there is no region, whose coefficient is 0. T is double or Complex.
template <class T>
struct BasicPanelConditions {
  using Kind = PanelConditionKind;
  std::vector<Kind> kind{};  ///< [n]
  /// [n]: relative permittivities (or conductivities) behind and ahead; 0 where there is no region,
  /// not on both sides. On closed conductors with nothing inside that of both sides may be what
  /// lies ahead.
  std::vector<T> behind{}, ahead{};
  std::vector<int> conductor{};  ///< [n], −1 of what is none
  /// [n] or empty: of what a panel gives off, the coefficient of −φ, in relative permittivities per
  /// unit of length (Robin).
  std::vector<double> admittance{};
  std::vector<bool> floats{};  ///< [conductors]: the charge is given, and the potential is not
  std::vector<std::string> names{};  ///< [conductors]
  /// [n] or empty: sets of Neumann panels 0, 1, …, one for each bounded domain where nothing says
  /// what φ is, and −1 of others. The charges of each add up to 0.
  std::vector<std::int32_t> unfixed{};

  bool gives_flux(std::size_t i) const { return kind[i] == Kind::flux; }
  bool is_interface(std::size_t i) const {
    return gives_flux(i) && behind[i] != T(0) && ahead[i] != T(0) && !has_admittance(i);
  }
  bool has_admittance(std::size_t i) const { return !admittance.empty() && admittance[i] != 0; }
  bool is_floating(std::size_t i) const { return conductor[i] >= 0 && floats[conductor[i]]; }
  bool is_unfixed(std::size_t i) const { return !unfixed.empty() && unfixed[i] >= 0; }
};
using PanelConditions = BasicPanelConditions<double>;
/// Where media have losses: complex relative permittivities ε − iκ/(ωε₀). Time goes as exp(+iωt).
using LossyConditions = BasicPanelConditions<std::complex<double>>;

}  // namespace fmbem
