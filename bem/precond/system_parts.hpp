#pragma once

#include <cstdint>

#include "fmbem/bem/precond/mixed_kernel.hpp"

namespace fmbem {

/// A node of a small system of mixed rows, in a leaf's coordinates, in units of its radius, and
/// what its row and its column are made of: an entry off the diagonal is
///
///     strength_l mixed_entry(row of k, d, smear2_k + smear2_l),
///
/// where some nodes are long with the potential of segments instead of α's part. Its size is an odd
/// number of words, so that neighbours are in different banks of a GPU's shared memory.
struct SystemNode {
  float x, y, z, smear2;  ///< of the point that stands for it
  PlacedRow row;
  float strength;  ///< of its column
  float own;       ///< the entry on the diagonal
  float across2;   ///< smear of a segment
  PlacedSegment segment;
  float share;       ///< in the mean of the rows that a law replaces
  std::int32_t law;  ///< which of the leaf's, or −1
};
static_assert(sizeof(SystemNode) % 8 == 4);

/// One without a law.
FMBEM_HD inline SystemNode place_node(const Cluster& node, const MeanRow& row, Vec3d origin,
                                      double unit) {
  const PlacedCluster placed = place_cluster(node, origin, unit);
  return {placed.x,
          placed.y,
          placed.z,
          placed_point_smear2(node, unit),
          place_row(row, unit),
          placed_strength(node, unit),
          placed_own_entry(node, row),
          placed.smear2,
          place_segment(node, unit),
          0,
          -1};
}

/// An entry that is not that of the smooth kernel.
struct SetEntry {
  std::uint16_t row, column;
  float value;
};

/// A law (ChargeRows) in a small system: the row at `place` becomes m numbers, from `numbers` on,
/// plus the rows of terms times their factors.
struct SystemLaw {
  std::int32_t place, numbers, terms_begin, terms_end;
};
struct LawTerm {
  std::int32_t place;
  float factor;
};
/// A row that is m numbers.
struct GivenRow {
  std::int32_t place, numbers;
};

}  // namespace fmbem
