#pragma once

#include <string>
#include <vector>

#include "fmbem/meshes/check.hpp"
#include "fmbem/meshes/mesh.hpp"

namespace fmbem {

/// The gap from a group to the nearest other one.
struct Gap {
  int a = 0, b = 0;     ///< indices of groups, a < b
  double distance = 0;  ///< from corners and centres of panels: exact but between crossing edges
  double edge = 0;      ///< the longest of the panel there
  Vec3d place;
};

/// The gap of each group to its nearest one, the narrowest first; each pair of groups once. O(n log
/// n).
std::vector<Gap> find_gaps(const SurfaceMesh& mesh);

/// What of a mesh would limit the accuracy of a solve, one sentence each. The figures behind them
/// are in docs/accuracy.md.
std::vector<std::string> accuracy_limits(const SurfaceMesh& mesh, const MeshReport& check,
                                         const std::vector<Gap>& gaps);

}  // namespace fmbem
