#pragma once

#include <cstddef>
#include <cstdint>

#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem {

/// A row of the near lists: a leaf with targets, and the sources that are near to it.
struct NearRow {
  fmm::Range targets;
  std::int64_t begin, end;  ///< of its boxes in the lists
};

inline NearRow near_row(const fmm::PointTree& tree, std::size_t row) {
  const fmm::NearLists& near = tree.lists.p2p;
  return {tree.octree.boxes[near.targets[row]].targets, near.begin[row], near.begin[row + 1]};
}

/// Calls body(j) with the input's index of each near source of the row, in the order of the lists.
template <class Body>
void for_near_sources(const fmm::PointTree& tree, const NearRow& row, Body&& body) {
  for (std::int64_t k = row.begin; k < row.end; ++k) {
    const fmm::Range own = tree.octree.boxes[tree.lists.p2p.sources[k]].own_sources();
    for (std::int32_t j = own.begin; j < own.end; ++j) body(tree.sources.order[j]);
  }
}

}  // namespace fmbem
