#pragma once

#include "fmbem/cuda/evaluation.cuh"
#include "fmbem/cuda/level_operators.cuh"
#include "fmbem/fmm/method.hpp"

namespace fmbem::cuda {

struct TreecodeOptions {
  Precision precision;
  double theta;
  fmm::Expansion expansion;
  double tolerance;
  int max_leaf;
  PlanKernel kernel;
  const std::uint8_t* one_place;  ///< as of make_near_lists(), to outlive the evaluation
};

/// Evaluations by a treecode, of a tree with its boxes of sources and leaves of targets: P2M and
/// M2M as of the FMM, then for each leaf a walk, M2P and P2P. The points are read by work in the
/// stream; tree and stream must outlive it.
std::unique_ptr<Evaluation> make_treecode_evaluation(const PlanTree& tree, PlanPoints points,
                                                     const fmm::ParityOrder& order,
                                                     const TreecodeOptions& options,
                                                     const Stream& stream);

/// Pairs that a treecode has: boxes that act on targets by their expansions, and sources on
/// targets.
struct TreecodePairs {
  std::int64_t m2p = 0, p2p = 0;
};
TreecodePairs count_treecode(const PlanTree& tree, double theta, const PlanKernel& kernel,
                             const std::uint8_t* one_place, cudaStream_t stream);

}  // namespace fmbem::cuda
