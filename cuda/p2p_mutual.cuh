#pragma once

#include "fmbem/cuda/evaluation.cuh"
#include "fmbem/cuda/pass.cuh"

// P2P by Newton's third law: each pair of leaves is summed once, for both, where the sources are
// the targets and have no dipoles. The leaf that comes first in Morton order takes the pair. What
// it owes to the points of the other goes to places of its own, which are added up afterwards in
// the order of the lists.

namespace fmbem::cuda {

/// What a leaf gets from one item of an earlier one: a sum for each of its points in a row.
struct EarlierSums {
  std::int64_t slot;       ///< of the first point's
  std::int32_t doublings;  ///< log2 of the other leaf's side, its unit of length, over the own
};

/// A target with a source too close for single precision.
struct CloseTarget {
  std::int32_t target, row;
};

/// What a plan has of its near field by Newton's third law besides the near lists.
struct MutualLists {
  DeviceBuffer<EarlierSums> earlier;  ///< as of MutualRow
  /// Of single precision: targets with sources closer than their coordinates allow, within 2^-8
  /// sides of the larger of two leaves, or 2^-20 within a leaf. There is room for more.
  DeviceBuffer<CloseTarget> close;
  std::int64_t n_close = 0;
  std::int64_t bytes() const { return earlier.bytes() + close.bytes(); }
};

/// Lists what earlier leaves give, in the order of the near lists, which were made with `most`
/// targets of an item at most.
void list_earlier_sums(const PlanTree& tree, std::int64_t points, int most, MutualLists& lists,
                       cudaStream_t stream);
/// Finds the close targets, in any order: each is summed by itself. Waits for the device.
void find_close_targets(const PlanTree& tree, const PointsView<float>& points, MutualLists& lists,
                        cudaStream_t stream);

struct MutualView {
  const MutualRow* rows;  ///< [rows + 1]
  std::int64_t slots;     ///< sums of each kind that items owe to others
  const EarlierSums* earlier;
  const CloseTarget* close;
  std::int64_t n_close;
};

/// Numbers that items write for each of the slots.
constexpr int mutual_results(bool potential, bool gradient) { return potential + 3 * gradient; }

/// As p2p(), with `slots` [mutual_results][lists.slots] as room for what items owe. Streams but the
/// first wait for it between right-hand sides, by the events; what comes after the last is in the
/// first stream.
template <class N, class Kernel>
void p2p_mutual(NearArguments<N> a, const MutualView& lists, N* slots, const Kernel& kernel,
                int vectors, const ItemClasses& classes, int root_terms,
                const cudaStream_t* streams, const Event* joins);

}  // namespace fmbem::cuda
