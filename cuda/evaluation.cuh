#pragma once

#include <memory>
#include <optional>

#include "fmbem/cuda/fmm_plan.hpp"
#include "fmbem/cuda/histogram_tree.cuh"
#include "fmbem/cuda/hybrid.cuh"
#include "fmbem/cuda/level_operators.cuh"
#include "fmbem/cuda/lists.cuh"
#include "fmbem/fmm/base/precision.hpp"
#include "fmbem/fmm/expansion/parity_order.hpp"
#include "fmbem/fmm/tree/point_tree.hpp"

namespace fmbem::cuda {

/// Tree and lists of a plan.
struct PlanTree {
  double scale = 1;  ///< lengths inside are the caller's times it
  bool same = true;  ///< whether the sources are the targets
  DeviceTree tree;
  FarLists far;
  NearDeviceLists near;
  std::optional<HybridDeviceLists> hybrid;  ///< of that method
  std::int64_t bytes() const {
    return tree.bytes() + far.bytes() + near.bytes() + (hybrid ? hybrid->bytes() : 0);
  }
};

/// What the near lists of a hybrid reach, with a near field in that precision.
fmm::NearReach near_reach(Precision near_precision);

/// Tree and lists of a hybrid, which fmm::make_hybrid_lists() has made on the host, with up to
/// `most` targets of a warp of P2P, and by Newton's third law or not; M2L by displacements has the
/// levels apart for Yukawa's kernel. The host waits for the stream.
PlanTree hybrid_plan_tree(const fmm::PointTree& host, int most, bool third_law,
                          fmm::DisplacedLevels levels, cudaStream_t stream);

/// The points of a plan, with the order in which they stand in its tree. Where the sources are the
/// targets, the targets' order is empty.
struct PlanPoints {
  DevicePoints sources, targets;
  DeviceBuffer<std::int32_t> source_order{}, target_order{};
  GatheredPoints gathered_sources{}, gathered_targets{};  ///< of some moves
};
/// The order of points: null where there is none.
struct PlanOrder {
  const std::int32_t *sources = nullptr, *targets = nullptr;
};

struct EvaluationOptions {
  Precision precision;       ///< of the expansions
  Precision near_precision;  ///< of the near field
  int root_terms;            ///< as of p2p()
  bool third_law;            ///< each pair of leaves once, as of p2p_mutual()
  int targets_of_a_warp;     ///< in the near field
  PlanKernel kernel;
  fmm::Expansion expansion = fmm::Expansion::spherical;  ///< of a hybrid, where they act on points
};

/// Evaluations of a plan, whatever their precisions.
class Evaluation {
 public:
  virtual ~Evaluation() = default;
  /// As of FmmPlan, with arguments that it has checked.
  virtual void evaluate(const DeviceStrengths& strengths, const DeviceFields& fields) = 0;
  virtual fmm::Seconds evaluate_stages(const DeviceStrengths& strengths,
                                       const DeviceFields& fields) = 0;
  /// Goes on with new points, for which the tree has been made anew in its place, and keeps tables
  /// and operators, which do not depend on points. False where there are none to keep: then a new
  /// evaluation has to be made.
  virtual bool renew(PlanPoints& /*points*/, const PlanKernel& /*kernel*/) { return false; }
  /// In which the points stand.
  virtual PlanOrder order() const { return {}; }
  virtual std::int64_t bytes() const = 0;
  virtual std::int64_t operator_bytes() const = 0;
};

/// The points are read by work in the stream; tree and stream must outlive it.
std::unique_ptr<Evaluation> make_evaluation(const PlanTree& tree, PlanPoints points,
                                            const fmm::ParityOrder& order,
                                            const EvaluationOptions& options, const Stream& stream);

}  // namespace fmbem::cuda
