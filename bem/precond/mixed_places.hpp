#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/bem/precond/cluster_tree.hpp"

namespace fmbem {

/// The places of the panels of a mixed system, in trees whose clusters do not mix what differs.
/// Rows of V alone are apart from rows with K'; and in either kind panels are apart by their part:
/// no charge equation names it, one names it as another, or it has one. In trees of parts upper
/// nodes hold whole parts, sorted by the Morton keys of their centroids, so that there may be
/// thousands of them.
struct MixedPlaces {
  /// Throws InputError for sizes that differ, values that are not finite, equations of parts
  /// without panels, and parts in equations that have rows of both kinds.
  MixedPlaces(const Panels& panels, std::span<const Triangle> triangles, const MixedRows& rows);

  /// A part that an equation names.
  struct Part {
    std::int32_t begin, end;   ///< its places
    double area, charge_area;  ///< the latter with the weights of charges
    std::int32_t equation;     ///< of MixedRows, or −1
  };

  TreePlaces trees;         ///< their `part` is an index of `parts`, or −1
  std::vector<Part> parts;  ///< in the order of places
  /// [parts of MixedRows]: the index of each in `parts`, or −1.
  std::vector<std::int32_t> number_of;
};

/// The charge that a density 1 on a panel counts for in equations, over its area.
inline double charge_weight(const MixedRows& rows, std::size_t i) {
  return rows.weight.empty() ? 1 : rows.weight[i];
}

/// Whether a row is of V alone.
inline bool is_single_layer_row(const MixedRows& rows, std::size_t i) {
  return rows.beta[i] == 0 && rows.alpha[i] != 0;
}

}  // namespace fmbem
