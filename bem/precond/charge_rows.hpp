#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "fmbem/bem/layer/mixed_rows.hpp"
#include "fmbem/bem/precond/charge_kernel.hpp"
#include "fmbem/bem/precond/cluster_tree.hpp"
#include "fmbem/bem/precond/mixed_places.hpp"

namespace fmbem {

/// What charge equations and stretched rows say of parts. Both are laws: in the place of the mean
/// of the rows of some parts, weighted by area and weight, there is
///
///     Σ_parts (c Q_p + f Y_p),   Q_p their charges, Y_p the sums of their rows times area.
///
/// Areas have the weights of charges where they belong to densities. T is double or complex.
template <class T>
class ChargeLaws {
 public:
  ChargeLaws(const MixedPlaces& places, const BasicMixedRows<T>& rows);

  /// PartLists that it owns.
  struct Lists {
    std::vector<std::int32_t> begin{0}, number;
    std::vector<T> factor, sum_before;
    PartLists<T> view() const {
      return {begin.data(), number.data(), factor.data(), sum_before.data()};
    }
  };
  /// The others of equations of parts [first, last], for each such range.
  Lists others_of(std::span<const std::pair<std::int32_t, std::int32_t>> ranges) const;

  std::size_t size() const { return area_.size(); }
  // Members of LawsOfNodes.
  const std::vector<std::int32_t>& law_of_part() const { return law_of_part_; }
  const std::vector<T>& share_of_part() const { return share_of_part_; }
  const Lists& charges() const { return charges_; }
  const std::vector<double>& area() const { return area_; }
  const Lists& rows() const { return rows_; }

 private:
  using Factors = std::map<std::int32_t, T>;  ///< by number in MixedPlaces

  void add_equations(const BasicMixedRows<T>& rows);
  void add_stretched(const BasicMixedRows<T>& rows);
  void add_stretched(const BasicMixedRows<T>& rows, const BasicStretchedParts<T>& parts,
                     const std::vector<T>& beta);
  void add(Lists& lists, const Factors& factors) const;

  const MixedPlaces& places_;
  std::vector<std::int32_t> law_of_part_;
  std::vector<T> share_of_part_;
  Lists charges_, rows_;
  std::vector<double> area_;
  std::vector<Factors> others_of_part_;  ///< [parts]: of equations
};

/// What laws change in the rows of small systems. All nodes of parts with a law are in a cut. For a
/// node that holds several such parts, and all that they hang together with, the equation is that
/// its density is given, less their others' charges over its area.
template <class T>
class ChargeRows {
 public:
  ChargeRows(const MixedPlaces& places, const BasicMixedRows<T>& rows, const ClusterTree& tree);
  LawsOfNodes<T> view() const;

 private:
  const MixedPlaces& places_;
  const ClusterTree& tree_;
  ChargeLaws<T> laws_;
  std::vector<double> charge_area_;  ///< [nodes]
  typename ChargeLaws<T>::Lists others_;
  std::vector<std::int32_t> list_of_;  ///< [nodes]
};

}  // namespace fmbem
