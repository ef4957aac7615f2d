#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fmbem/fmm/base/buffer.hpp"
#include "fmbem/fmm/lists/reach.hpp"

namespace fmbem::fmm {

struct PointTree;

/// Sources of boxes, in compressed rows.
struct BoxRows {
  std::vector<std::int64_t> begin;    ///< [boxes + 1], or empty: no box has any
  LargeVector<std::int32_t> sources;  ///< boxes

  std::span<const std::int32_t> operator[](std::int32_t box) const {
    if (begin.empty()) return {};
    return std::span(sources).subspan(begin[box], begin[box + 1] - begin[box]);
  }
};

/// What interacts in the hybrid of treecode and FMM beside the near lists, by the box that is acted
/// on. What acts on a box acts on all targets in it.
struct HybridLists {
  /// [boxes]: bit c is set where the children of the colleague at that place act on those of the
  /// box by M2L, in blocks (expansion/translations.hpp). Empty if M2L is by displacements.
  std::vector<std::uint32_t> m2l_places;
  BoxRows m2l;  ///< boxes of the same level, by displacements
  BoxRows m2p;  ///< expansions that act on points
  BoxRows p2l;  ///< points that act on local expansions
  /// Points of leaves that act on the points of leaves, but lie out of the near lists' reach.
  BoxRows p2p;
};

struct Box;

/// What near lists reach: leaves so many levels apart, with centres that are so many halves of the
/// finer one's side apart in each direction, and half of the larger one's side more.
struct NearReach {
  int levels;
  std::int64_t halves;
  bool operator()(const Box& a, const Box& b) const;
};
/// Of the integer coordinates of the CPU's near field (near_coordinates.hpp).
inline constexpr NearReach integer_reach{1, 7};
inline constexpr NearReach any_reach{deepest_tree_level, std::numeric_limits<std::int64_t>::max()};

/// From this θ on two boxes of one level that do not touch are far enough from each other, so that
/// M2L has the displacements of the FMM.
inline constexpr double theta_of_blocks = 0.866;

/// What the traversal weighs, in seconds of one thread.
struct HybridCosts {
  double pair = 0;         ///< of a source and a target
  double near_source = 0;  ///< of a source near to a leaf
  double near_box = 0;     ///< of a leaf near to a leaf
  double far_pair = 0;     ///< what a pair takes more out of integer_reach
  double m2l_row = 0;      ///< of a parent and an orbit
  double m2l_pair = 0;     ///< of two boxes, by displacements
  double m2p_target = 0;   ///< of a box and a target
  double p2l_source = 0;   ///< of a source and a box
  int lanes = 1;           ///< M2P takes so many targets of a leaf at once, and P2L sources
  double box = 0;          ///< of M2M and L2L
  double parent = 0;       ///< of M2L of a parent, however few rows it has
};

/// Traverses pairs of boxes from the root: a pair with (r_t + r_s)/R ≤ θ acts by M2L, M2P, P2L or
/// P2P, whichever takes the least time; another by P2P, or its boxes are split, whichever takes
/// less, with the time of M2L's rows shared by the pairs that have them. So leaves that are too
/// full are split as far as the tree goes, and of a tree that goes too far boxes below those that
/// interact are taken away. Makes all lists of `tree`, whose octree it prunes. O(boxes). Sources:
/// Dehnen 2002 (pairs, and their criterion); Yokota and Barba 2012 (choice by the times of
/// kernels). Of Yukawa's kernel pairs that are farther apart than `kernel_reach` are left out, and
/// larger boxes have no expansions.
void make_hybrid_lists(PointTree& tree, double theta, const HybridCosts& costs,
                       const NearReach& reach = integer_reach, double kernel_reach = endless);

}  // namespace fmbem::fmm
