#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/bem/precond/cluster_tree.hpp"
#include "fmbem/bem/precond/mixed_places.hpp"

namespace fmbem {

/// What charge equations and stretched rows change in the rows of small systems. Both are laws: in
/// the place of the mean of the rows of some parts, weighted by area and weight, there is
///
///     Σ_parts (c Q_p + f Y_p),   Q_p their charges, Y_p the sums of their rows times area.
///
/// All nodes of parts with a law are in a cut. For a node that holds several such parts, and all
/// that they hang together with, the equation is that its density is given, less their others'
/// charges over its area. Areas have the weights of charges where they belong to densities. T is
/// double or complex.
template <class T>
class ChargeRows {
 public:
  ChargeRows(const MixedPlaces& places, const BasicMixedRows<T>& rows, const ClusterTree& tree);

  /// The law that replaces the mean of rows that a node has a share in, or −1.
  std::int32_t law_of(const Cluster& node) const {
    const std::int32_t part = places_.trees.part[node.begin];
    return places_.holds_parts(node) || part < 0 ? -1 : law_of_part_[part].law;
  }
  /// Of a node with a law, in that mean.
  T share_of(const Cluster& node) const {
    return law_of_part_[places_.trees.part[node.begin]].share * node.area;
  }
  /// What a law makes of the density of node l by charges.
  T charge_entry(std::int32_t law, std::int32_t l) const {
    return sum_over(laws_[law].charges, l) / laws_[law].area;
  }
  /// What it makes of the row of node k: f times its area.
  T row_factor(std::int32_t law, const Cluster& k) const;
  bool has_rows(std::int32_t law) const { return !laws_[law].rows.empty(); }

  /// Whether a node holds several parts with a law.
  bool is_given(const Cluster& node) const {
    return places_.holds_parts(node) && law_of_part_[places_.trees.part[node.begin]].law >= 0;
  }
  /// The entry for node l in the row of node k, which is given.
  T given_entry(std::int32_t k, std::int32_t l) const;

 private:
  using Factors = std::map<std::int32_t, T>;  ///< by number in MixedPlaces
  /// Charges of parts, with the sum of factor × area before each.
  struct Charges {
    std::vector<std::int32_t> number;
    std::vector<T> factor, sum_before{T(0)};
  };
  struct Law {
    Charges charges;
    double area;  ///< by which these are divided
    Factors rows{};
  };
  struct OfPart {
    std::int32_t law = -1;
    T share{};  ///< over area
  };

  void add_equations(const BasicMixedRows<T>& rows);
  void add_stretched(const BasicMixedRows<T>& rows);
  void add_stretched(const BasicMixedRows<T>& rows, const BasicStretchedParts<T>& parts,
                     const std::vector<T>& beta);
  void add_given();
  Charges sorted(const Factors& factors) const;
  Charges merged(const Charges& a, const Charges& b) const;
  /// Σ factor × the area of each that is in node l.
  T sum_over(const Charges& charges, std::int32_t l) const;

  const MixedPlaces& places_;
  const ClusterTree& tree_;
  std::vector<double> charge_area_;  ///< [nodes], with the weights of charges
  std::vector<Law> laws_;
  std::vector<OfPart> law_of_part_;         ///< [parts]
  std::vector<Charges> others_of_part_;     ///< [parts]: of equations
  std::vector<Charges> of_node_;            ///< of nodes that are given
  std::vector<std::int32_t> list_of_node_;  ///< [nodes]: index of of_node_, or −1
};

}  // namespace fmbem
