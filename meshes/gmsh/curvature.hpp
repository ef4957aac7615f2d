#pragma once

#include <map>
#include <string>
#include <vector>

#include "fmbem/meshes/gmsh/gmsh_session.hpp"
#include "fmbem/meshes/size_limits.hpp"

namespace fmbem {

/// The larger principal curvature of a surface, in 1/length.
struct SurfaceCurvature {
  std::vector<CurvedPoint> samples;  ///< on a grid of its parameters
  double typical;                    ///< their median
};

/// By tags of surfaces; planes are left out.
std::map<int, SurfaceCurvature> sample_curvature(GmshSession& gmsh, const std::string& file);

/// [n triangles] of a mesh with Gmsh's tags: the largest curvature at the triangle's vertices that
/// are inside a face; if there are none, the surface's median.
std::vector<double> curvatures(GmshSession& gmsh, const SurfaceMesh& mesh,
                               const std::vector<int>& surface_of,
                               const std::map<int, SurfaceCurvature>& of_surface);

}  // namespace fmbem
