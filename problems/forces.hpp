#pragma once

#include <string>
#include <vector>

#include "fmbem/problems/bodies.hpp"
#include "fmbem/problems/media.hpp"

namespace fmbem {

/// The charges of a solved problem.
struct ForceProblem {
  BodyPanels panels;
  /// [n panels], of φ = Vσ + φ_a, V per unit of the mesh's length: a panel's charge, free and
  /// bound, is ε₀σ.
  std::span<const double> sigma;
  std::span<const Body> bodies;
  const AppliedField& applied;  ///< with its images, behind, where the panels have some
  double scale_to_m = 1;
};

struct ForceOptions {
  /// Of fields and of integrals over panels, relative to the sum of the forces' absolute values on
  /// the panels of a body: 1e-9 to 0.1.
  double tolerance = 1e-6;
};

/// On one body. Torques are about `about`.
struct BodyForce {
  std::string name;
  double permittivity = 1;  ///< relative, of the medium around it
  double charge = 0;        ///< C, free and bound, of all that belongs to it
  Vec3d about;              ///< in the mesh's coordinates
  Vec3d force{},
      torque{};      ///< N, N m: of the charge in the field of all that does not belong to it
  double error = 0;  ///< N, an estimate for the integrals over panels
  /// N, N m: of Maxwell's stress on its border, NaN where that is not closed.
  Vec3d stress_force{}, stress_torque{};
};

struct Forces {
  std::vector<BodyForce> bodies;  ///< in their order
  /// N, on each applied charge, in the field of all else, inside bodies too.
  std::vector<Vec3d> on_charges;
};

/// Forces of the surroundings' Maxwell stress on bodies.
///
/// In a medium of relative permittivity ε around a body, a fluid at rest or vacuum, the force on it
/// is that of the stress ε₀ε (E Eᵀ − ½ E² I) on a surface closely around it: the fluid's pressure,
/// electrostriction with it, makes up for the rest [Landau and Lifshitz 1984, §§ 15-16]. E is there
/// that of all charges, free and bound, in vacuum; so it is also
///
///     F = ε ε₀ Σ_panels ∫ σ E_other dS + ε Σ_charges (q/ε_q) E_other,
///
/// E_other being of all that does not belong to the body (BodyExtent), σ with what is bound on the
/// medium's side of its surface. This is finite on open sheets too, and it is the force that is
/// given; the stress itself, by the field outside at centroids, converges more slowly beside edges.
/// Of two bodies alone action is reaction, to the tolerance.
/// Images behind symmetry planes, also its own, are others; a body that touches a plane is refused.
///
/// E_other is integrated over panels by rules of degree 5, and those panels are cut into four,
/// again and again, for which a rule of degree 2 differs by too much: where other bodies are close,
/// to some of the distances to them. O(bodies (panels + their points)). Throws InputError as
/// find_bodies(), and for a tolerance out of range and sizes that differ.
Forces find_forces(const ForceProblem& problem, const ForceOptions& options = {});

}  // namespace fmbem
