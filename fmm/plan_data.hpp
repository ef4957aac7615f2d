#pragma once

#include <vector>

#include "fmbem/fmm/octree.hpp"
#include "fmbem/fmm/parity_order.hpp"
#include "fmbem/fmm/plan.hpp"

namespace fmbem::fmm {

/// What a plan holds for every backend. Lengths inside are the caller's times `unit`, a power of
/// two that brings the root's side to [1, 2): so no power of a distance leaves the range of
/// numbers.
struct PlanData {
  double unit = 1;
  SortedPoints sources{};
  SortedPoints other_targets{};  ///< empty where the sources are the targets
  bool sources_are_targets = true;
  Octree tree{};
  NearLists near{};
  std::vector<std::int32_t> source_leaves{};         ///< leaves with sources
  std::vector<std::vector<std::int32_t>> parents{};  ///< [levels], boxes that are not leaves
  ParityOrder order;
  Precision precision = Precision::double_precision;       ///< of the expansions
  Precision near_precision = Precision::double_precision;  ///< of the near field
  int root_terms = 3;                                      ///< of CpuKernels::near

  const SortedPoints& targets() const { return sources_are_targets ? sources : other_targets; }
};

/// Fills `parents` and `source_leaves` from the tree.
void list_boxes(PlanData& data);

/// What a backend does with a plan's data.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Arguments as checked by Plan::evaluate.
  virtual void evaluate(const Strengths& strengths, const Fields& fields, Seconds& seconds) = 0;
  virtual std::int64_t operator_bytes() const = 0;
};

}  // namespace fmbem::fmm
