#pragma once

#include "fmbem/fmm/choice/rates.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/tree/octree.hpp"
#include "fmbem/fmm/tree/trial_trees.hpp"

namespace fmbem::fmm {

/// Time of one thread for one right-hand side, from what a tree asks for and the machine's rates.
/// The tree may be that of a sample of which each point stands for `weight` points.
class CostModel {
 public:
  CostModel(const PlanOptions& options, bool sources_are_targets, int order, double weight);

  double near_seconds(const TreeWork& work) const;
  double far_seconds(const TreeWork& work) const;
  /// Of all pairs, without a far field.
  double direct_seconds(std::size_t sources, std::size_t targets) const;

  /// Points of a full leaf of uniformly filled space for which near field and M2L take equally
  /// long.
  double balanced_leaf() const;

 private:
  /// Seconds of a pair, an M2L row, a point, a box; and of a near source and a near box of a leaf.
  double pair_, row_, point_, box_, near_source_, near_box_;
  double weight_;
};

/// Single where the tolerance allows it, unless the options say otherwise. The sums of expansions
/// in single precision are off by some 4e-7 of the far field: near 1e-6 that serves where there is
/// a near field besides, which sources that are the targets have.
Precision precision_of(const PlanOptions& options, bool sources_are_targets);
/// Derivatives need more digits of the near field than single precision has, below 1e-6, and of
/// dipoles below 1e-5.
Precision near_precision_of(const PlanOptions& options);

/// Terms of the series for 1/r that the near field needs: 0 for 1e-4, 1 for 1e-8, 2 for 1e-12, 3
/// for all bits.
int root_terms(const PlanOptions& options);
/// What one thread does of the near field's pairs in a second.
double near_pairs_per_second(const PlanOptions& options, bool sources_are_targets);

/// Rows of the M2L products: pairs of a parent with targets and an orbit that is not empty.
std::int64_t m2l_rows(const Octree& tree);

/// Orbits of the boxes around a parent in which there are sources: bit a is set for orbit a.
/// `occupied` holds, box by box, the octants whose child has sources.
std::uint32_t occupied_orbits(const Octree& tree, std::int32_t parent,
                              std::span<const std::uint8_t> occupied);
/// Those of them that the colleague at that place, with these octants occupied, has children in.
std::uint32_t orbits_at(int place, std::uint8_t occupied);
/// [boxes]: bit g is set where child g has sources.
std::vector<std::uint8_t> occupied_octants(const Octree& tree);

}  // namespace fmbem::fmm
