#pragma once

#include <span>
#include <vector>

#include "fmbem/meshes/mesh.hpp"
#include "fmbem/meshes/write_vtu.hpp"

namespace fmbem {

/// [n vertices]: the means, by area, of values of the panels that meet at each vertex. Vertices are
/// told apart by their numbers, not their places: surfaces that have none in common, as those of
/// join_meshes(), keep their own values where they touch or cross.
std::vector<double> vertex_means(const SurfaceMesh& mesh, std::span<const double> values);

/// The same of each field, of the same name.
std::vector<VertexField> vertex_means(const SurfaceMesh& mesh,
                                      const std::vector<PanelField>& fields);

}  // namespace fmbem
