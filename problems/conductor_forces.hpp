#pragma once

#include <span>
#include <string>
#include <vector>

#include "fmbem/problems/forces.hpp"
#include "fmbem/problems/solve_conductors.hpp"

namespace fmbem {

/// A body of groups of a mesh.
struct BodyOfGroups {
  Body body;
  std::vector<std::string> groups;
};

/// Each conductor, and each group that is a closed interface. `is_interface`: [n panels].
std::vector<BodyOfGroups> bodies_of_solution(const SurfaceMesh& mesh,
                                             const ConductorSolution& solution,
                                             std::span<const char> is_interface);

/// As BodyPanels has them.
struct PanelMedia {
  std::vector<char> is_interface;
  std::vector<double> behind, ahead;
};

/// find_forces() of one problem of a solution on bodies of groups. Throws InputError as that does,
/// and for unknown groups and those of two bodies.
Forces forces_on_groups(const SurfaceMesh& mesh, const ConductorSolution& solution,
                        const AppliedField& applied, std::size_t problem,
                        const std::vector<BodyOfGroups>& bodies, const PanelMedia& media,
                        const ForceOptions& options);

/// find_forces() of one problem of a solution of `options`. Bodies are those asked for or, where
/// none are, each conductor and each group that is a closed interface. Throws InputError as that
/// does, and for unknown groups and those of two bodies.
Forces conductor_forces(const SurfaceMesh& mesh, const ConductorOptions& options,
                        const ConductorSolution& solution, std::size_t problem,
                        const std::vector<BodyOfGroups>& bodies = {},
                        const ForceOptions& force_options = {});

/// The electrostatic energy of one problem, J, without what point charges have alone.
struct Energy {
  double conductors = 0;  ///< ½ Σ Q V
  double charges = 0;     ///< ½ Σ q φ, φ without the charge's own potential q/(4πε₀ε_q r)
  /// ½ ε₀ε Σ σ φ_u, and the same of charges: with ε the permittivity of all space, and φ_u the
  /// potential −E·x of the uniform field.
  double uniform = 0;
  double total() const { return conductors + charges + uniform; }
};

/// ½ Σ Q V + ½ Σ q φ is what it takes to bring all free charges there, dielectrics included. A
/// uniform field is that of charges far away, which stay what they are: with it the other half of
/// the energy of all charges, free and bound, in it comes besides, so that forces at given charges
/// are −∂/∂x of the total (at given potentials, +∂/∂x of ½ Σ Q V). It is that of the origin of
/// coordinates, unless all charges add up to 0. Throws InputError for a problem that is not there.
Energy conductor_energy(const SurfaceMesh& mesh, const ConductorOptions& options,
                        const ConductorSolution& solution, std::size_t problem);

}  // namespace fmbem
