#pragma once

// What laws make of nodes of a tree, shared by CPU and GPU.
#include <cstdint>

#include "fmbem/bem/precond/cluster_kernel.hpp"
#include "fmbem/fmm/base/lower_bound.hpp"

namespace fmbem {

/// Lists of parts, ascending, with a factor each. A list has one more sum than parts: that of
/// factor × area before each part, and of all.
template <class T>
struct PartLists {
  const std::int32_t *begin, *number;
  const T *factor, *sum_before;

  FMBEM_HD bool is_empty(std::int32_t list) const { return begin[list] == begin[list + 1]; }
  /// The place of the first part from `bound` on.
  FMBEM_HD std::int32_t find(std::int32_t list, std::int32_t bound) const {
    return lower_bound(number, begin[list], begin[list + 1], bound);
  }
};

/// The parts of nodes of a tree over places.
struct NodeParts {
  const Cluster* nodes;
  const std::int32_t* part_at;  ///< [places]

  FMBEM_HD std::int32_t first(std::int32_t k) const { return part_at[nodes[k].begin]; }
  FMBEM_HD std::int32_t last(std::int32_t k) const { return part_at[nodes[k].end - 1]; }
  FMBEM_HD bool hold_several(std::int32_t k) const { return first(k) != last(k); }
};

/// Laws (ChargeRows) as rows of nodes see them. T is double or complex.
template <class T>
struct LawsOfNodes {
  NodeParts parts;
  const double* charge_area;        ///< [nodes], with the weights of charges
  const std::int32_t* law_of_part;  ///< [parts], or −1
  const T* share_of_part;           ///< [parts], over area
  PartLists<T> charges;             ///< by law
  const double* area;               ///< [laws], by which these are divided
  PartLists<T> rows;                ///< by law: f of each
  PartLists<T> others;              ///< of nodes that are given
  const std::int32_t* list_of;      ///< [nodes]: of others, of nodes that are given

  /// The law that replaces the mean of rows that a node has a share in, or −1.
  FMBEM_HD std::int32_t law_of(std::int32_t k) const {
    const std::int32_t part = parts.first(k);
    return part < 0 || parts.hold_several(k) ? -1 : law_of_part[part];
  }
  /// Of a node with a law, in that mean.
  FMBEM_HD T share_of(std::int32_t k) const {
    return share_of_part[parts.first(k)] * parts.nodes[k].area;
  }
  /// What a law makes of the density of node l by charges.
  FMBEM_HD T charge_entry(std::int32_t law, std::int32_t l) const {
    return sum_over(charges, law, l) / area[law];
  }
  /// What it makes of the row of node k: f times its area.
  FMBEM_HD T row_factor(std::int32_t law, std::int32_t k) const {
    const std::int32_t part = parts.first(k), at = rows.find(law, part);
    return at < rows.begin[law + 1] && rows.number[at] == part
               ? rows.factor[at] * parts.nodes[k].area
               : T(0);
  }
  /// Whether a node holds several parts with a law.
  FMBEM_HD bool is_given(std::int32_t k) const {
    return parts.hold_several(k) && law_of_part[parts.first(k)] >= 0;
  }
  /// The entry for node l in the row of node k, which is given.
  FMBEM_HD T given_entry(std::int32_t k, std::int32_t l) const {
    const Cluster &node = parts.nodes[k], &of = parts.nodes[l];
    // Of the others that the node itself holds only the sum of charges is known, which is given.
    if (of.begin >= node.begin && of.end <= node.end)
      return k == l ? T(charge_area[k] / node.area) : T(0);
    return sum_over(others, list_of[k], l) / node.area;
  }

 private:
  /// Σ factor × the area of each that is in node l.
  FMBEM_HD T sum_over(const PartLists<T>& lists, std::int32_t list, std::int32_t l) const {
    const std::int32_t first = parts.first(l), last = parts.last(l);
    if (first < 0 || lists.is_empty(list)) return T(0);
    const std::int32_t i = lists.find(list, first), j = lists.find(list, last + 1);
    if (first != last) return lists.sum_before[j + list] - lists.sum_before[i + list];
    return i == j ? T(0) : lists.factor[i] * charge_area[l];
  }
};

}  // namespace fmbem
