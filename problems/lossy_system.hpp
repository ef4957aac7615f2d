#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/complex_operator.hpp"
#include "fmbem/bem/layer/field.hpp"
#include "fmbem/problems/enclosures.hpp"
#include "fmbem/problems/media.hpp"
#include "fmbem/problems/panel_conditions.hpp"

namespace fmbem {

/// What holds on each panel where media have losses, in the order of Panels; as PanelConditions,
/// with complex relative permittivities ε − iκ/(ωε₀): time goes as exp(+iωt).
struct LossyConditions {
  std::vector<PanelConditions::Kind> kind{};  ///< [n]
  std::vector<Complex> behind{}, ahead{};     ///< [n]; 0 where there is no region
  std::vector<int> conductor{};               ///< [n], −1 of what is none
  std::vector<bool> floats{};                 ///< [conductors]
  std::vector<std::string> names{};           ///< [conductors]

  bool gives_flux(std::size_t i) const { return kind[i] == PanelConditions::Kind::flux; }
  bool is_floating(std::size_t i) const { return conductor[i] >= 0 && floats[conductor[i]]; }
};

/// What is applied, real parts and imaginary ones.
struct LossyField {
  AppliedField real{}, imaginary{};
};
/// An applied field, with images already, whose sources lie in such media: potentials are those of
/// charges over ε. Sizes are those of `applied`'s sources. Throws InputError where they differ, and
/// for media whose permittivity is 0.
struct SourceMedia {
  std::vector<Complex> charges{}, dipoles{}, lines{};
};
LossyField in_lossy_media(const AppliedField& applied, const SourceMedia& media);

struct ComplexField {
  std::vector<Complex> potential;  ///< [n_points]
  std::vector<Vec3<Complex>> e;    ///< [n_points]
};

/// A permittivity from its real part, relative, and a conductivity in S/m at an angular frequency.
Complex lossy_permittivity(double permittivity, double conductivity, double omega);

/// The equations of MediaSystem for complex permittivities, and complex φ, σ and charges:
/// amplitudes of what goes as exp(+iωt), at frequencies whose waves are long. iω times a
/// conductor's charge is the current that it gives off, conducted or displaced. As a real system of
/// twice the size.
class LossySystem {
 public:
  /// Throws InputError for permittivities that are 0 on both sides or not finite, that amplify
  /// (Im ε > 0) or are negative (Re ε < 0), and for floating conductors in several media. The
  /// panels must outlive it.
  LossySystem(const Panels& panels, LossyConditions conditions, LossyField applied,
              double scale_to_m);

  const ComplexRows& rows() const { return rows_; }
  std::shared_ptr<const ComplexOperator> make_operator(const OperatorOptions& options);

  /// [2 n], real parts and imaginary ones. `given`: [n panels] φ in V, 0 on what floats, or what a
  /// panel gives off, in relative permittivities times V per unit of length; `charge`:
  /// [conductors], C of those that float.
  std::vector<double> right_hand_side(std::span<const Complex> given,
                                      std::span<const Complex> charge) const;

  /// [n panels]: σ from [2 n] numbers.
  std::vector<Complex> densities(std::span<const double> both) const;
  /// [n panels]: free charge densities of conductors and the charge densities of interfaces, over
  /// ε₀, as MediaSystem::free_charge().
  std::vector<Complex> free_charge(std::span<const Complex> sigma) const;
  /// φ in V and E in V/m at points in the mesh's coordinates.
  ComplexField field(std::span<const Complex> sigma, std::span<const Vec3d> points,
                     const FieldOptions& options = {}) const;
  /// Sets those of floating conductors, V, from the density at one of their panels.
  void find_potentials(std::span<const Complex> sigma, std::vector<Complex>& potential) const;

 private:
  void check() const;
  void set_rows();
  void set_equations();
  /// Of conductors; sets [enclosures] parts.
  void join_floating(const Enclosures& enclosures, std::vector<std::int32_t>& part_of);
  void add_gauss_equations(const Enclosures& enclosures, std::span<const std::int32_t> part_of);
  void set_charges(std::span<const Complex> charge, std::vector<Complex>& b) const;
  bool is_interface(std::size_t i) const {
    return given_.gives_flux(i) && given_.behind[i] != 0.0 && given_.ahead[i] != 0.0;
  }

  const Panels& panels_;
  LossyConditions given_;
  LossyField applied_;
  double scale_to_m_;
  std::vector<double> area_;    ///< [n panels]
  std::vector<bool> grounded_;  ///< [conductors]
  ComplexRows rows_;
  /// What an equation says in the place of the mean of its rows, as in MediaSystem.
  struct Equation {
    int conductor;
    Complex factor;
  };
  std::vector<Equation> equations_;
  std::vector<Complex> applied_potential_, applied_flux_;  ///< [n panels]
  std::vector<std::int32_t> sheets_;                       ///< potential rows between two media
  std::shared_ptr<const BoundaryOperator> sheet_flux_;     ///< K' of those rows, or null
};

}  // namespace fmbem
