#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "fmbem/bem/geometry/enclosures.hpp"
#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/complex_operator.hpp"
#include "fmbem/bem/layer/mixed_operator.hpp"
#include "fmbem/problems/gauss_shifts.hpp"
#include "fmbem/problems/layer_field.hpp"
#include "fmbem/problems/lossy_media.hpp"
#include "fmbem/problems/media.hpp"
#include "fmbem/problems/panel_conditions.hpp"

namespace fmbem {

/// Numbers of one problem of a MediaSystem.
template <class T>
struct BasicPanelData {
  /// [n panels], in the order of Panels: φ in V where that is given, but 0 on what floats; else
  /// what the panel gives off, in relative permittivities times V per unit of length.
  std::vector<T> given;
  std::vector<T> charge{};  ///< [conductors]: C of those that float
  bool applied = true;      ///< whether there is the system's applied field
};
using PanelData = BasicPanelData<double>;
using LossyData = BasicPanelData<Complex>;

/// [conductors]: those that float, but whose charge is none of the charges of densities, as media
/// differ on their two sides, or complex ones along them, or as an interface touches them: there
/// ε σ is not their charge by as much as the contrast, on any mesh that does not resolve the edge.
/// MediaSystem refuses them.
template <class T>
std::vector<bool> float_between_media(const Panels& panels,
                                      const BasicPanelConditions<T>& conditions);

/// The equations of boundary value problems for a single layer σ on all surfaces, V per unit of
/// length, φ = Vσ + φ_a everywhere:
///
///     φ is given:  Vσ = φ − φ_a, over the size of a conductor, so that neither the unit of length
///                  matters nor how many others there are
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
///
/// With complex permittivities φ, σ and charges are complex, too: amplitudes of what goes as
/// exp(+iωt), at frequencies whose waves are long. iω times a conductor's charge is the current
/// that it gives off, conducted or displaced. That is a real system of twice the size, on the CPU.
template <class T>
class BasicMediaSystem {
 public:
  static constexpr bool is_complex = !std::is_same_v<T, double>;
  using Applied = std::conditional_t<is_complex, LossyField, AppliedField>;
  using Rows = std::conditional_t<is_complex, ComplexRows, MixedRows>;
  using Operator = std::conditional_t<is_complex, ComplexOperator, MixedOperator>;

  /// Throws InputError for conductors that float_between_media(), for those that float and touch a
  /// ground plane, and for complex permittivities that are 0 on both sides or not finite, that
  /// amplify (Im ε > 0) or are negative (Re ε < 0). The panels must outlive it. `options`: of the
  /// operator that will be asked for; on a GPU real systems have V made beside the host's work
  /// here.
  BasicMediaSystem(const Panels& panels, BasicPanelConditions<T> conditions, Applied applied,
                   double scale_to_m, const OperatorOptions& options = {});

  const Panels& panels() const { return panels_; }
  const Rows& rows() const { return *rows_; }
  const BasicPanelConditions<T>& conditions() const { return given_; }
  const Applied& applied() const { return applied_; }
  /// Whether a conductor touches a ground plane.
  bool is_grounded(std::size_t conductor) const { return grounded_[conductor]; }
  /// The operator of the rows, and what else its products are needed for.
  std::shared_ptr<const Operator> make_operator(const OperatorOptions& options);

  /// numbers_of() the right-hand side, [n panels].
  std::vector<double> right_hand_side(const BasicPanelData<T>& data) const;

  /// Whether the charge of a panel where φ is given is that of two sides, by mean_flux(), and not ε
  /// σ: where the media differ, and where conductors touch interfaces.
  bool has_two_sides(std::size_t i) const {
    return !given_.gives_flux(i) && (permittivity_behind(i) != permittivity_ahead(i) ||
                                     (!gauss_.empty() && gauss_.charge_by_flux[i]));
  }

  /// Whether some do, so that charges take products.
  bool has_sheets() const { return !sheets_.empty(); }

  /// [n panels], in Panels' order: the free charge density of conductors and the charge density of
  /// interfaces over ε₀, V per unit of length. Of a conductor ε σ where one medium surrounds it, of
  /// a sheet between two ε₁(½σ + K'σ + ∂ₙφ_a) + ε₂(½σ − K'σ − ∂ₙφ_a).
  std::vector<T> free_charge(std::span<const T> sigma, bool applied = true,
                             std::span<const T> given = {}) const;

  /// [n panels]: K'σ + ∂ₙφ_a, the mean of ∂ₙφ on both sides. By operators that there are, so on
  /// potential rows with one medium on both sides it is NaN. Of interfaces that touch others only
  /// the flux on the side of the lower ε is that of this mean (GaussShifts::flux).
  /// `given`: as BasicPanelData has it, where σ solves for it; empty for 0.
  std::vector<T> mean_flux(std::span<const T> sigma, bool applied,
                           std::span<const T> given = {}) const;

  /// φ in V and E in V/m at points in the mesh's coordinates.
  LayerField<T> field(std::span<const T> sigma, std::span<const Vec3d> points,
                      const FieldOptions& options = {}, bool applied = true) const;

  /// Sets those of floating conductors, V, from the density at one of their panels.
  void find_potentials(std::span<const T> sigma, bool applied, std::vector<T>& potential) const;

  /// ‖z‖, farads: in the charge that belongs to this problem a residual r of another one is z·r.
  /// z are the free charges of conductors at 1 V, and of interfaces, where r is a charge that is
  /// too much, the potentials, which are 1 V at the most.
  double residual_weight(std::span<const T> free_charge) const;

 private:
  /// The first number of a set, and whether all of them are that.
  struct Common {
    T value{};
    char is_one = true;
  };
  void check() const;
  /// The diameter of a sphere with as much surface as conductors have on average.
  double size_of_a_conductor() const;
  void set_rows();
  void set_parts();
  /// [enclosures]: what rows of a part have in common, β of an interface, ε ahead of a conductor.
  std::vector<Common> common_of_parts(const Enclosures& enclosures) const;
  void find_grounded(const Enclosures& enclosures);
  void join_parts(const Enclosures& enclosures, std::vector<std::int32_t>& part_of);
  void add_floating_equations(std::span<const Common> permittivity);
  void add_gauss_equations(const Enclosures& enclosures, std::span<const std::int32_t> part_of,
                           std::span<const Common> common);
  void add_gauss_shifts(const Enclosures& enclosures);
  void put_in_what_is_known();
  void correct_fluxes(std::span<const T> sigma, bool applied, std::span<const T> given,
                      std::vector<T>& flux) const;
  void set_applied();
  // 0 in metal that interfaces touch.
  T permittivity_behind(std::size_t i) const {
    return !gauss_.empty() && gauss_.is_metal_behind[i] ? T(0) : given_.behind[i];
  }
  T permittivity_ahead(std::size_t i) const {
    return !gauss_.empty() && gauss_.is_metal_ahead[i] ? T(0) : given_.ahead[i];
  }
  /// Without a contrast.
  bool is_plain_interface(std::size_t i) const {
    return given_.is_interface(i) && given_.behind[i] == given_.ahead[i];
  }
  T mean_permittivity(std::size_t i) const { return 0.5 * (given_.behind[i] + given_.ahead[i]); }
  T applied_potential(std::size_t i) const {
    return applied_potential_.empty() ? T(0) : applied_potential_[i];
  }
  T applied_flux(std::size_t i) const { return applied_flux_.empty() ? T(0) : applied_flux_[i]; }

  const Panels& panels_;
  BasicPanelConditions<T> given_;
  Applied applied_;
  double scale_to_m_;
  std::vector<bool> grounded_;  ///< [conductors]: those that touch a ground plane
  Areas area_;                  ///< [n panels]
  std::shared_ptr<Rows> rows_ = std::make_shared<Rows>();  ///< the operator's as well
  /// What an equation says in the place of the mean of its rows: the charge of a conductor or, of
  /// an interface, the sum of the right-hand side, times a factor.
  struct Equation {
    int conductor = -1;
    T factor{1};
  };
  std::vector<Equation> equations_;                                ///< [equations]
  std::vector<BasicPartShift<T>> known_shifts_;                    ///< of the right-hand side
  std::vector<std::int32_t> part_of_conductor_, part_of_unfixed_;  ///< −1 for none
  std::vector<T> applied_potential_, applied_flux_;  ///< [n panels], empty without a field
  std::optional<MixedOperator::Part> v_;             ///< until the operator has it
  std::shared_ptr<const Operator> op_;
  GaussShifts<T> gauss_;
  std::vector<std::int32_t> sheets_;  ///< potential rows whose charge is that of two sides
  /// K' of those sheets, and interfaces without a contrast, that the operator does not have it of,
  /// or null.
  std::vector<std::int32_t> asked_panels_;
  std::shared_ptr<const BoundaryOperator> asked_flux_;
};
using MediaSystem = BasicMediaSystem<double>;
using LossySystem = BasicMediaSystem<Complex>;

}  // namespace fmbem
