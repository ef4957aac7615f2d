#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/mixed_operator.hpp"
#include "fmbem/problems/enclosures.hpp"
#include "fmbem/problems/media.hpp"
#include "fmbem/problems/panel_conditions.hpp"

namespace fmbem {

/// Numbers of one problem of a MediaSystem.
struct PanelData {
  /// [n panels], in the order of Panels: φ in V where that is given, but 0 on what floats; else
  /// what the panel gives off, in relative permittivities times V per unit of length.
  std::vector<double> given;
  std::vector<double> charge;  ///< [conductors]: C of those that float
  bool applied = true;         ///< whether there is the system's applied field
};

/// The equations of boundary value problems for a single layer σ on all surfaces, V per unit of
/// length, φ = Vσ + φ_a everywhere:
///
///     φ is given:  Vσ = φ − φ_a, over the extent of all panels, so that the unit of length does
///                  not matter
///     between ε₁ behind the panels and ε₂ ahead, h − aφ given off to both sides:
///                  σ + β K'σ + α Vσ = −β ∂ₙφ_a − α φ_a + 2h/(ε₁ + ε₂),
///                  β = 2 (ε₁ − ε₂)/(ε₁ + ε₂),  α = 2a/(ε₁ + ε₂)
///
/// as ε₁ ∂ₙφ⁻ − ε₂ ∂ₙφ⁺ = h − aφ, ∂ₙφ^∓ = ±½σ + K'σ + ∂ₙφ_a. Neumann and Robin conditions have ε =
/// 0 on one side. ∂ₙφ_a is the mean over the panel. A floating conductor has its charge in the
/// place of the mean of its rows; a closed interface of one β Gauss's law, by which at high
/// contrasts its charge is as accurate as σ (docs/decisions.md); the Neumann surfaces of a domain
/// where φ is known up to a constant a charge of 0, which takes away the one null vector that there
/// is: their rows' mean, weighted, is 0 for every σ, which is what makes data compatible.
class MediaSystem {
 public:
  /// Throws InputError for floating conductors that are sheets between two media, which `names`
  /// names. What it is given must outlive it.
  MediaSystem(const Panels& panels, const PanelConditions& conditions, const AppliedField& applied,
              double scale_to_m, std::span<const std::string> names);

  const MixedRows& rows() const { return rows_; }
  /// The operator of the rows, and what else its products are needed for.
  std::shared_ptr<const BoundaryOperator> make_operator(const OperatorOptions& options);

  /// [n panels]
  std::vector<double> right_hand_side(const PanelData& data) const;

  /// [n panels], in Panels' order: the free charge density of conductors and the charge density of
  /// interfaces over ε₀, V per unit of length. Of a conductor ε σ where one medium surrounds it, of
  /// a sheet between two ε₁(½σ + K'σ + ∂ₙφ_a) + ε₂(½σ − K'σ − ∂ₙφ_a).
  std::vector<double> free_charge(std::span<const double> sigma) const;

  /// [n panels]: K'σ + ∂ₙφ_a, the mean of ∂ₙφ on both sides. By operators that there are, so on
  /// potential rows with one medium on both sides it is NaN.
  std::vector<double> mean_flux(std::span<const double> sigma, bool applied) const;

  /// Sets those of floating conductors, V, from the density at one of their panels.
  void find_potentials(std::span<const double> sigma, bool applied,
                       std::vector<double>& potential) const;

  /// ‖z‖, farads: in the charge that belongs to this problem a residual r of another one is z·r.
  /// z are the free charges of conductors at 1 V, and of interfaces, where r is a charge that is
  /// too much, the potentials, which are 1 V at the most.
  double residual_weight(std::span<const double> free_charge) const;

 private:
  /// Of numbers, from the least to the most.
  struct Range {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    void add(double value) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
    bool is_one() const { return least == most; }
  };
  void set_rows();
  void set_parts();
  void find_grounded(const Enclosures& enclosures);
  void join_parts(const Enclosures& enclosures, std::vector<std::int32_t>& part_of);
  void add_floating_equations(std::span<const Range> permittivity);
  void add_gauss_equations(const Enclosures& enclosures, std::span<const std::int32_t> part_of,
                           std::span<const Range> common);
  void set_applied();
  double mean_permittivity(std::size_t i) const {
    return 0.5 * (given_.behind[i] + given_.ahead[i]);
  }
  double applied_potential(std::size_t i) const {
    return applied_potential_.empty() ? 0 : applied_potential_[i];
  }
  double applied_flux(std::size_t i) const { return applied_flux_.empty() ? 0 : applied_flux_[i]; }

  const Panels& panels_;
  const PanelConditions& given_;
  const AppliedField& applied_;
  double scale_to_m_;
  std::vector<std::string> names_;  ///< [conductors]
  std::vector<bool> grounded_;      ///< [conductors]: those that touch a ground plane
  std::vector<double> area_;        ///< [n panels]
  MixedRows rows_;
  /// What an equation says in the place of the mean of its rows: the charge of a conductor or, of
  /// an interface, the sum of the right-hand side, times a factor.
  struct Equation {
    int conductor = -1;
    double factor = 1;
  };
  std::vector<Equation> equations_;                                ///< [equations]
  std::vector<std::int32_t> part_of_conductor_, part_of_unfixed_;  ///< −1 for none
  std::vector<double> applied_potential_, applied_flux_;  ///< [n panels], empty without a field
  std::shared_ptr<const MixedOperator> op_;
  std::vector<std::int32_t> sheets_;                    ///< potential rows between two media
  std::shared_ptr<const BoundaryOperator> sheet_flux_;  ///< K' of those rows, or null
};

}  // namespace fmbem
