#pragma once

#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/meshes/mesh.hpp"
#include "fmbem/problems/boundary_problem.hpp"
#include "fmbem/problems/capacitance.hpp"
#include "fmbem/problems/lossy_media.hpp"
#include "fmbem/problems/media.hpp"
#include "fmbem/problems/panel_conditions.hpp"
#include "fmbem/problems/problem_regions.hpp"

namespace fmbem {

/// Conductors of a problem, in the order of the mesh's groups. Throws InputError where groups of
/// one conductor do not say the same of it, and where conductors touch (make_conductors()).
struct ProblemConductors {
  std::vector<Conductor> all;
  std::vector<GroupCondition::OfConductor> given;  ///< [conductors]
  std::vector<int> of_panel;                       ///< [n panels], −1 for none
};
ProblemConductors conductors_of(const SurfaceMesh& mesh, const Panels& panels,
                                std::span<const ResolvedGroup> groups);

/// What a solver has of its problem.
struct ProblemParts {
  const SurfaceMesh& mesh;
  const BoundaryProblem& problem;
  std::span<const ResolvedGroup> groups;
  const Panels& panels;
  const PanelSides& sides;
  std::span<const int> region_of_source;
  const ProblemConductors& conductors;
  const Domains& domains;
  std::span<const double> area;          ///< [n panels]
  const std::vector<bool>& is_grounded;  ///< [regions]: they reach a ground plane
};

/// T is double or, with losses, Complex.
template <class T>
struct ProblemConditions {
  /// What MediaSystem is to know. A closed conductor, or one that is closed with others of its
  /// name, that has nothing inside is solid: what lies ahead counts on both sides.
  BasicPanelConditions<T> panels;
  /// [conductors]: those that float_between_media(), which are to be solved for at potentials.
  std::vector<bool> driven;
};
/// Throws InputError for Robin coefficients that are negative or not finite, and for domains
/// without a condition that could be compatible.
template <class T>
ProblemConditions<T> conditions_of(const ProblemParts& parts);

/// Panel i, as data are given there.
SurfacePoint surface_point(const Panels& panels, std::size_t i);

/// [n panels] in the order of Panels, as PanelData::given has them. Throws InputError for values
/// that are not finite.
std::vector<double> given_values(const SurfaceMesh& mesh, const Panels& panels,
                                 const BoundaryProblem& problem,
                                 std::span<const ResolvedGroup> groups);

/// The sources in their regions, and the field.
AppliedField applied_field(const BoundaryProblem& problem, std::span<const int> region_of_source);

/// The same of regions with losses: `applied` is that of without, with its images.
LossyField lossy_field(const BoundaryProblem& problem, std::span<const int> region_of_source,
                       const AppliedField& applied);

}  // namespace fmbem
