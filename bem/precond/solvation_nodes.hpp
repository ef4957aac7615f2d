#pragma once

#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/precond/cluster_rows.hpp"
#include "fmbem/bem/precond/solvation_inverse.hpp"
#include "fmbem/bem/precond/solvation_kernel.hpp"

namespace fmbem {

/// Molecules have many turns of the surface close to each other, which alone would be 400 nodes.
inline constexpr ClusterInverseOptions solvation_cuts{.most_unknowns = 200};

/// Trees over panels, one for each two regions that panels are between.
ClusterTree solvation_trees(const Panels& panels, std::span<const Triangle> triangles,
                            const RegionsOfPanels& regions);

/// [nodes]
std::vector<NodeSides> sides_of_nodes(const ClusterTree& tree, std::span<const Triangle> triangles,
                                      const RegionsOfPanels& regions);

}  // namespace fmbem
