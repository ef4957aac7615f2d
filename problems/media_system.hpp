#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/mixed_operator.hpp"
#include "fmbem/problems/enclosures.hpp"
#include "fmbem/problems/solve_conductors.hpp"

namespace fmbem {

/// The equations of conductors among dielectrics for a single layer σ on all surfaces, V per unit
/// of length, φ = Vσ + φ_a everywhere:
///
///     conductor, at a potential:  Vσ = φ − φ_a, over the extent of all panels, so that the unit of
///                                 length does not matter
///     interface, ε₁ behind its panels and ε₂ ahead:  σ + β K'σ = −β ∂ₙφ_a,
///                                 β = 2 (ε₁ − ε₂)/(ε₁ + ε₂)
///
/// ∂ₙφ_a is the mean over the panel. A floating conductor has its charge in the place of the mean
/// of its rows; a closed interface of one β Gauss's law, by which at high contrasts its charge is
/// as accurate as σ (docs/decisions.md).
class MediaSystem {
 public:
  /// Throws InputError for media of unknown or conducting groups, permittivities out of range and
  /// floating conductors that are unknown or sheets between two media.
  MediaSystem(const SurfaceMesh& mesh, const Panels& panels, std::span<const Conductor> conductors,
              std::span<const int> conductor_of, const ConductorOptions& options);

  const MixedRows& rows() const { return rows_; }
  /// The operator of the rows, and what else its products are needed for.
  std::shared_ptr<const BoundaryOperator> make_operator(const OperatorOptions& options);

  /// [n panels], for a potential in V, or a charge in C where it floats, of each conductor.
  std::vector<double> right_hand_side(std::span<const double> given) const;

  /// [n panels], in Panels' order: the free charge density of conductors and the charge density of
  /// interfaces over ε₀, V per unit of length. Of a conductor ε σ where one medium surrounds it, of
  /// a sheet between two ε₁(½σ + K'σ + ∂ₙφ_a) + ε₂(½σ − K'σ − ∂ₙφ_a).
  std::vector<double> free_charge(std::span<const double> sigma) const;

  /// Sets those of floating conductors, V, from the density at one of their panels.
  void find_potentials(std::span<const double> sigma, std::vector<double>& potential) const;

  /// ‖z‖, farads: in the charge that belongs to this problem a residual r of another one is z·r.
  /// z are the free charges of conductors at 1 V, and of interfaces, where r is a charge that is
  /// too much, the potentials, which are 1 V at the most.
  double residual_weight(std::span<const double> free_charge) const;

 private:
  void set_media(const SurfaceMesh& mesh, const ConductorOptions& options);
  void set_floating(std::span<const Conductor> conductors, const ConductorOptions& options);
  /// Of numbers, from the least to the most.
  struct Range {
    double least = std::numeric_limits<double>::infinity(), most = -least;
    void add(double value) {
      least = std::min(least, value);
      most = std::max(most, value);
    }
    bool is_one() const { return least == most; }
  };
  void set_parts();
  void add_floating_equations(std::span<const std::int32_t> part_of_conductor,
                              std::span<const Range> permittivity);
  void add_gauss_equations(const Enclosures& enclosures, std::span<const std::int32_t> part_of,
                           std::span<const Range> common);
  void set_applied(const SurfaceMesh& mesh, const AppliedField& applied);
  bool is_interface(std::size_t i) const { return conductor_of_[i] < 0; }

  const Panels& panels_;
  std::span<const Conductor> conductors_;
  std::span<const int> conductor_of_;
  double scale_to_m_;
  std::vector<double> area_;            ///< [n panels]
  std::vector<double> behind_, ahead_;  ///< [n panels]: relative permittivities
  std::vector<bool> floats_;            ///< [conductors]
  std::vector<bool> grounded_;          ///< [conductors]: those that touch a ground plane
  MixedRows rows_;
  /// What an equation says in the place of the mean of its rows: the charge of a conductor or, of
  /// an interface, the sum of the right-hand side, times a factor.
  struct Given {
    int conductor = -1;
    double factor = 1;
  };
  std::vector<Given> given_;                              ///< [equations]
  std::vector<double> applied_potential_, applied_flux_;  ///< [n panels], empty without a field
  std::shared_ptr<const MixedOperator> op_;
  std::vector<std::int32_t> sheets_;                    ///< panels of conductors between two media
  std::shared_ptr<const BoundaryOperator> sheet_flux_;  ///< K' of those rows, or null
};

}  // namespace fmbem
