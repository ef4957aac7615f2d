#pragma once

#include "fmbem/cuda/evaluation.cuh"
#include "fmbem/cuda/pass.cuh"

// P2P by Newton's third law: each pair of leaves is summed once, for both, where the sources are
// the targets and have no dipoles. The leaf that comes first in Morton order takes the pair. What
// it owes to the points of the other goes to places of its own, which are added up afterwards in
// the order of the lists.

namespace fmbem::cuda {

/// A row of the near lists. Each range begins at the place given here and ends where that of the
/// next row begins.
struct MutualRow {
  std::int64_t later_begin;    ///< its leaves that come later in Morton order
  std::int64_t earlier_begin;  ///< what it gets from those before
  std::int64_t slot_begin;     ///< what it owes: [items][later_sources]
  std::int32_t later_sources;  ///< points of the later leaves
};

/// What a leaf gets from one item of an earlier one: a sum for each of its points in a row.
struct EarlierSums {
  std::int64_t slot;       ///< of the first point's
  std::int32_t doublings;  ///< log2 of the other leaf's side, its unit of length, over the own
};

struct MutualView {
  const MutualRow* rows;  ///< [rows + 1]
  const NearEntry* later;
  const EarlierSums* earlier;
  std::int64_t slots;
};

/// A target with a source too close for single precision.
struct CloseTarget {
  std::int32_t target, row;
};

/// The lists of a plan; 20 bytes a pair of leaves.
struct MutualLists {
  DeviceBuffer<MutualRow> rows;
  DeviceBuffer<NearEntry> later;
  DeviceBuffer<EarlierSums> earlier;
  DeviceBuffer<std::int32_t> row_of;  ///< [points]
  std::int64_t slots = 0;             ///< sums of each kind that items owe to others
  MutualView view() const { return {rows.data(), later.data(), earlier.data(), slots}; }
  std::int64_t bytes() const {
    return rows.bytes() + later.bytes() + earlier.bytes() + row_of.bytes();
  }
};
/// `most`: targets of an item at most, as of make_near_lists().
MutualLists make_mutual_lists(const PlanTree& tree, std::int64_t points, int most,
                              cudaStream_t stream);

/// Targets with sources closer than their coordinates in single precision allow: those within
/// 2^-8 sides of the larger of two leaves, and 2^-20 within a leaf.
DeviceBuffer<CloseTarget> find_close_targets(const PlanTree& tree, const MutualLists& lists,
                                             const PointsView<float>& points, cudaStream_t stream);

/// Numbers that items write for each of the slots.
constexpr int mutual_results(bool potential, bool gradient) { return potential + 3 * gradient; }

/// As p2p(), with `slots` [mutual_results][lists.slots] as room for what items owe, and the close
/// targets of single precision. Streams but the first wait for it between right-hand sides, by the
/// events; what comes after the last is in the first stream.
template <class N, class Kernel>
void p2p_mutual(NearArguments<N> a, const MutualView& lists, N* slots,
                const DeviceBuffer<CloseTarget>& close, const Kernel& kernel, int vectors,
                const ItemClasses& classes, int root_terms, const cudaStream_t* streams,
                const Event* joins);

}  // namespace fmbem::cuda
