#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/bem/geometry/panels.hpp"
#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/bem/precond/cluster_tree.hpp"
#include "fmbem/fmm/base/buffer.hpp"

namespace fmbem {

/// The places of the panels of a mixed system, in trees whose clusters do not mix what differs.
/// Rows of V alone are apart from rows with K'; and in either kind panels are apart by their part:
/// no charge equation names it, one names it as another, it has one, or it is a wall of several
/// that shifts know of. In trees of parts upper nodes hold whole parts, sorted by the Morton keys
/// of their centroids, so that there may be thousands of them. Walls whose shifts name each other
/// hang together, and are sorted by the key of all of them.
struct MixedPlaces {
  /// Throws InputError for sizes that differ, values that are not finite, equations of parts
  /// without panels, and parts in equations that have rows of both kinds.
  template <class T>
  MixedPlaces(const Panels& panels, const BasicMixedRows<T>& rows);

  /// A part that an equation names.
  struct Part {
    std::int32_t begin, end;  ///< its places
    double area;
    double charge_area, weight2_area;  ///< Σ w A and Σ w² A, w the weights of charges
    std::int32_t equation;             ///< of MixedRows, or −1
    /// Places of all that it hangs together with.
    std::int32_t all_begin = 0, all_end = 0;
  };

  TreePlaces trees;         ///< their `part` is an index of `parts`, or −1
  std::vector<Part> parts;  ///< in the order of places
  Areas area;               ///< [n], of panels; null without equations and shifts
  /// [parts of MixedRows]: the index of each in `parts`, or −1.
  std::vector<std::int32_t> number_of;

  /// Whether a node holds several parts, of which some do not hang together with others in it
  /// alone: every leaf's cut has to open it.
  bool divides(const Cluster& node) const {
    return divides_parts(trees.part.data(), parts.data(), node);
  }
  /// The same for who has copies of the numbers of parts, [places], and of the parts.
  FMBEM_HD static bool divides_parts(const std::int32_t* part_at, const Part* parts,
                                     const Cluster& node) {
    const std::int32_t first = part_at[node.begin], last = part_at[node.end - 1];
    return first != last && (node.begin > parts[first].all_begin || node.end < parts[last].all_end);
  }
};

/// The charge that a density 1 on a panel counts for in equations, over its area.
template <class T>
double charge_weight(const BasicMixedRows<T>& rows, std::size_t i) {
  return rows.weight.empty() ? 1 : rows.weight[i];
}

/// Whether a row is of V alone.
template <class T>
bool is_single_layer_row(const BasicMixedRows<T>& rows, std::size_t i) {
  return rows.beta[i] == T(0) && rows.alpha[i] != T(0);
}

}  // namespace fmbem
