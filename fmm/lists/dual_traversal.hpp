#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fmbem/fmm/lists/hybrid_lists.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::fmm {

/// Two boxes: of one that acts on another, the target comes first; where each acts on the other, in
/// any order.
struct BoxPair {
  std::int32_t a = 0, b = 0;
};
using BoxPairs = LargeVector<BoxPair>;

/// What a traversal finds.
struct FoundPairs {
  BoxPairs p2p;    ///< each acts on the other, point by point
  BoxPairs split;  ///< colleagues whose children act on each other by M2L's blocks
  BoxPairs m2l;    ///< by displacements
  BoxPairs m2p, p2l;
  double seconds = 0;  ///< of all that

  using Sizes = std::array<std::size_t, 5>;
  Sizes sizes() const;
  void shrink(const Sizes& sizes);
};

/// The place of colleague b among the colleagues of a.
int place_of(const Octree& tree, std::int32_t a, std::int32_t b);

/// [boxes]: which are split where just these pairs interact, so that no box below them does.
std::vector<std::uint8_t> split_boxes(const Octree& tree, const FoundPairs& found);

/// [boxes]: bit c is set where the colleague at that place is split with the box.
std::vector<std::uint32_t> places_of_splits(const Octree& tree, const BoxPairs& splits);

/// The traversal of make_hybrid_lists().
FoundPairs traverse_pairs(const PointTree& tree, double theta, double reach,
                          const HybridCosts& costs);

}  // namespace fmbem::fmm
