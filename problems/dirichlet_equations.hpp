#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/enclosures.hpp"
#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/boundary_operator.hpp"
#include "fmbem/problems/second_kind_operator.hpp"

namespace fmbem {

/// On which side of a panel a region lies: inside and outside of a closed surface whose normals
/// point outward.
enum class RegionSide : std::int8_t { behind = 1, ahead = -1 };

/// How Δu = 0 with u = g on the boundary of a region becomes an integral equation. s is 1 on panels
/// that have the region behind them, −1 where it is ahead.
enum class DirichletFormulation {
  /// Green's identity, u = V(s ∂ₙu) − K(s u) in the region: V(s ∂ₙu) = ½ g + K(s g). The unknown is
  /// s ∂ₙu, n the panels' normals.
  direct,
  /// A double layer, u = Kμ + Σ_b V q_b: (K − s/2) μ + Σ_b V q_b = g. Around each closed surface b
  /// of which the region lies outside, constant μ have no field in it, and no μ has a net flux; so
  /// b has a charge of even density q_b = mean_b(μ)/mean_b(V 1_b). Source: Mikhlin 1957, "Integral
  /// Equations", section 31, with the charge at a point inside.
  second_kind,
};

/// In the region u = V σ + K μ, with constants on panels.
struct DirichletDensities {
  std::vector<double> sigma, mu;  ///< [n panels], in the order of Panels
  /// [n panels] of DirichletFormulation::direct: ∂u/∂n, n the panel's normal; first order in the
  /// panels' size at each of them. Else empty.
  std::vector<double> normal_derivative;
};

/// The equations of a formulation, on the CPU.
class DirichletEquations {
 public:
  /// `side`: [n panels]; all of them bound the region. Throws InputError for surfaces that are not
  /// closed or change their side. The panels must outlive it.
  DirichletEquations(const Panels& panels, std::span<const RegionSide> side,
                     DirichletFormulation formulation);

  /// Throws InputError as operators do.
  std::shared_ptr<const BoundaryOperator> make_operator(OperatorOptions options);
  /// [n panels], of g at centroids.
  std::vector<double> right_hand_side(const std::vector<double>& g) const;
  /// What a solution x of the equations for g means.
  DirichletDensities densities(const std::vector<double>& g, std::vector<double> x) const;

  /// Closed surfaces.
  const Enclosures& parts() const { return parts_; }
  /// Surfaces that were given a charge; none by DirichletFormulation::direct.
  std::size_t completed() const { return second_kind_ ? second_kind_->charges().size() : 0; }

 private:
  std::vector<SecondKindOperator::Charge> charges_of(const OperatorOptions& options) const;

  const Panels& panels_;
  DirichletFormulation formulation_;
  std::vector<double> jump_;  ///< s
  Enclosures parts_;
  std::shared_ptr<const BoundaryOperator> k_;
  std::shared_ptr<const SecondKindOperator> second_kind_;  ///< or null
};

}  // namespace fmbem
