#pragma once

#include <functional>
#include <optional>

#include "fmbem/meshes/mesh.hpp"
#include "fmbem/meshes/pqr_file.hpp"
#include "fmbem/problems/boundary_problem.hpp"
#include "fmbem/problems/solvation/solvation_model.hpp"

namespace fmbem {

/// A surface that studies solve on, with what is known of it.
struct StudyProblem {
  SurfaceMesh mesh{};
  bool is_unit_sphere = false;  ///< about the origin: solutions of many data are known
  /// Of formulations `media`: what lies where. The potential that comes of it outside, V, if that
  /// is known.
  std::optional<BoundaryProblem> media{};
  std::function<double(Vec3d)> exact_potential{};
  /// Of formulations `solvate`: what lies in the surface, and around it. The solvation energy,
  /// kcal/mol, if that is known.
  std::optional<Molecule> molecule{};
  SolvationModel solvation{};
  std::function<double(const SolvationModel&)> exact_energy{};
};

}  // namespace fmbem
