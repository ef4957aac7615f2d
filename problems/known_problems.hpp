#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fmbem/problems/study_problem.hpp"

namespace fmbem {

/// A problem that studies of Krylov methods know; no file is read. Names may end with :X where
/// there is a size to choose.
struct KnownProblem {
  std::string name, what;
  std::optional<double> size{};  ///< what X is by default
};
const std::vector<KnownProblem>& known_problems();

/// It, with every triangle split into four `refine` times, 0 to 8; new vertices lie on the surface.
/// Throws InputError for a name or a size that is none.
StudyProblem known_problem(const std::string& name, int refine);

}  // namespace fmbem
