#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// A surface that studies of Krylov methods know; no file is read. Names may end with :X where
/// there is a size to choose.
struct KnownProblem {
  std::string name, what;
  std::optional<double> size{};  ///< what X is by default
};
const std::vector<KnownProblem>& known_problems();

/// Its mesh, every triangle split into four `refine` times, 0 to 8; new vertices lie on the
/// surface. Throws InputError for a name or a size that is none.
SurfaceMesh known_problem_mesh(const std::string& name, int refine);

/// Whether it is the unit sphere about the origin, on which solutions are known.
bool is_unit_sphere(const std::string& name);

}  // namespace fmbem
