#pragma once

#include "fmbem/fmm/tree/octree.hpp"

namespace fmbem::fmm {

/// Whether merge_leaves() comes after a tree is built.
enum class Leaves { plain, merged };

/// What is compared with max_leaf where leaves are merged: the points of a box that build_octree()
/// splits, or the mean of its colleagues' points, itself included, whichever is less; rounded up.
int crowd_about(const Octree& tree, std::int32_t box);

/// Takes back the splits that do not pay, of a tree of build_octree() with the same max_leaf.
///
/// Near pairs are spared where a box has many points, but as the tree is graded, its colleagues are
/// split with it, each of which is a parent of M2L. So a box stays split only where they hold more
/// than max_leaf points in the mean, or where the grading asks for it. In uniform clouds, and on
/// surfaces, colleagues have as many points as the box; where points crowd about a place, a level
/// for each halving of the distance, they have not, and leaves come to hold up to 27 max_leaf.
///
/// The grading is weaker than that of Octree: a box that is split for it alone, and whose children
/// are leaves, asks for none in its turn. So leaves that are near may be two levels apart.
void merge_leaves(Octree& tree, int max_leaf);

}  // namespace fmbem::fmm
