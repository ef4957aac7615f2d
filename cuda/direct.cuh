#pragma once

#include "fmbem/cuda/evaluation.cuh"

namespace fmbem::cuda {

/// What a direct sum is made with. Its points stand in an order in which neighbours follow each
/// other.
struct DirectOptions {
  double scale;         ///< as of PlanTree
  bool same;            ///< whether the sources are the targets
  Vec3d centre;         ///< of the points times the scale
  Precision precision;  ///< of pairs that are far enough apart
  double tolerance;
  double softening;  ///< times the scale
};

/// Evaluations pair by pair. The points are read by work in the stream, which must outlive it.
std::unique_ptr<Evaluation> make_direct_evaluation(const DirectOptions& options, PlanPoints points,
                                                   const Stream& stream);

}  // namespace fmbem::cuda
