#pragma once

#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/precond/cluster_rows.hpp"
#include "fmbem/bem/precond/solvation_inverse.hpp"
#include "fmbem/bem/precond/solvation_kernel.hpp"

namespace fmbem {

/// Molecules have many turns of the surface close to each other, which alone would be 400 nodes.
/// With half of the panels in a leaf, coarser clusters and 128 nodes a solve takes an iteration
/// more than with 200 nodes, and the setup less than two thirds (docs/decisions.md).
inline constexpr ClusterInverseOptions solvation_cuts{
    .max_leaf = 32, .nearness = 1, .most_unknowns = 128};

/// Trees over panels, one for each two regions that panels are between.
ClusterTree solvation_trees(const Panels& panels, std::span<const Triangle> triangles,
                            const RegionsOfPanels& regions, int max_leaf = solvation_cuts.max_leaf);

/// [nodes]
std::vector<NodeSides> sides_of_nodes(const ClusterTree& tree, std::span<const Triangle> triangles,
                                      const RegionsOfPanels& regions);

}  // namespace fmbem
