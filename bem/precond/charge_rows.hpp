#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/bem/precond/cluster_tree.hpp"
#include "fmbem/bem/precond/mixed_places.hpp"

namespace fmbem {

/// What charge equations change in the rows of small systems. All nodes of a part with an equation
/// are in a cut: their rows lose their mean over the part, and take in its place the part's charge,
/// with those of others, over its area. For a node that holds several such parts the equation is
/// that its density is given, less their others' charges over its area. Areas have the weights of
/// charges where they belong to densities.
class ChargeRows {
 public:
  ChargeRows(const MixedPlaces& places, const MixedRows& rows, const ClusterTree& tree);

  /// The part with an equation that a node belongs to, or −1.
  std::int32_t part_of(const Cluster& node) const {
    const std::int32_t part = places_.trees.part[node.begin];
    return holds_parts(node) || part < 0 || places_.parts[part].equation < 0 ? -1 : part;
  }
  /// Whether a node holds several parts with an equation.
  bool is_given(const Cluster& node) const {
    return holds_parts(node) && places_.parts[places_.trees.part[node.begin]].equation >= 0;
  }

  double area_of_part(std::int32_t part) const { return places_.parts[part].area; }
  /// The entry for node l in the equation of a part's charge.
  double part_entry(std::int32_t part, std::int32_t l) const;
  /// The entry for node l in the row of node k, which is given.
  double given_entry(std::int32_t k, std::int32_t l) const;

 private:
  /// Others by their number in MixedPlaces, ascending, with the sum of factor × area before each.
  struct Others {
    std::vector<std::int32_t> number;
    std::vector<double> factor, sum_before{0.0};
  };

  bool holds_parts(const Cluster& node) const {
    return places_.trees.part[node.begin] != places_.trees.part[node.end - 1];
  }
  Others merged(const Others& a, const Others& b) const;
  /// Σ factor × the area of each that is in node l.
  double sum_over(const Others& others, std::int32_t l) const;

  const MixedPlaces& places_;
  const ClusterTree& tree_;
  std::vector<double> charge_area_;         ///< [nodes], with the weights of charges
  std::vector<Others> of_part_;             ///< [parts]
  std::vector<Others> of_node_;             ///< of nodes that are given
  std::vector<std::int32_t> list_of_node_;  ///< [nodes]: index of of_node_, or −1
};

}  // namespace fmbem
