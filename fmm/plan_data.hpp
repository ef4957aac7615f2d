#pragma once

#include <memory>
#include <vector>

#include "fmbem/fmm/expansion/parity_order.hpp"
#include "fmbem/fmm/plan.hpp"
#include "fmbem/fmm/spread_sources.hpp"
#include "fmbem/fmm/tree/octree.hpp"

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
  std::vector<std::int32_t> source_boxes{};          ///< boxes with sources of their own
  std::vector<std::vector<std::int32_t>> parents{};  ///< [levels], boxes that are not leaves
  ParityOrder order;
  Precision precision = Precision::double_precision;       ///< of the expansions
  Precision near_precision = Precision::double_precision;  ///< of the near field
  int root_terms = 3;                                      ///< of CpuKernels::near
  /// Sources that are not points: then there is no near field, and P2M takes their moments.
  const SpreadSources* spread = nullptr;
  bool keep_moments = false;  ///< of spread sources, from one evaluation to the next

  const SortedPoints& targets() const { return sources_are_targets ? sources : other_targets; }
};

/// The power of two that brings the side of the hull to [1, 2). Throws InputError if there is none.
double unit_for(const Cube& hull);

/// Fills `parents` and `source_boxes` from the tree.
void list_boxes(PlanData& data);

/// Of a coefficient.
std::int64_t bytes_of_a_number(const PlanData& data);
std::int64_t kept_moment_bytes(const PlanData& data);

PlanInfo info_of(const PlanData& data, int max_leaf, double inflation, std::int64_t operator_bytes);

/// What a backend does with a plan's data.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Arguments as checked by Plan::evaluate.
  virtual void evaluate(const Strengths& strengths, const Fields& fields, Seconds& seconds) = 0;
  virtual std::int64_t operator_bytes() const = 0;
};

}  // namespace fmbem::fmm
