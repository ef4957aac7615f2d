#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "fmbem/fmm/cpu/near_coordinates.hpp"
#include "fmbem/fmm/cpu/pass.hpp"

namespace fmbem::fmm {

/// Leaves, next to each other in Morton order, whose pairs with each other and with all later
/// leaves are summed by one thread. What it owes to leaves of other chunks waits in its part of a
/// buffer until all chunks are done, so that sums do not depend on which thread does what.
struct MutualChunk {
  struct Leaf {
    NearRange points;
    std::int32_t level;
    bool meets_itself;        ///< whether its points act on each other
    std::int64_t others_end;  ///< in the chunk's others; they begin where those before end
  };
  std::vector<Leaf> leaves;
  /// Later leaves that are near, as each leaf sees them; of each those last that integers do not
  /// hold.
  std::vector<NearRange> others;
  std::vector<NearRange> outside;  ///< those that are in other chunks, each once
  std::int64_t buffer_begin = 0;   ///< of its part of the buffer of all chunks
  std::int32_t buffer_points = 0;
};

/// Targets of a row of the near lists that one thread takes at a time. Most rows are one block; a
/// direct sum is one row.
struct TargetBlock {
  std::size_t row;
  Range targets;
};
inline constexpr std::int32_t targets_of_a_block = 512;

/// What P2P works with beside the tree; made once.
struct NearData {
  NearData(const PointTree& tree, Precision precision, Method method);

  template <class N>
  const NearCoordinates<N>& sources() const {
    if constexpr (std::is_same_v<N, double>)
      return double_sources;
    else
      return *single_sources;
  }
  template <class N>
  const NearCoordinates<N>& targets() const {
    if constexpr (std::is_same_v<N, double>)
      return double_targets;
    else
      return single_targets ? *single_targets : *single_sources;
  }

  NearCoordinates<double> double_sources, double_targets;
  std::optional<NearCoordinates<float>> single_sources;  ///< for a near field in single precision
  std::optional<NearCoordinates<float>> single_targets;  ///< if they are not the sources
  std::vector<MutualChunk> chunks;                       ///< if the sources are the targets
  std::vector<TargetBlock> blocks;
};

/// Makes chunks of about equal numbers of pairs; how many does not depend on the number of threads.
std::vector<MutualChunk> mutual_chunks(const PointTree& tree);
/// The same of a tree of one box, whose points are taken in pieces as if these were leaves.
std::vector<MutualChunk> direct_chunks(const PointTree& tree);

/// Puts the near field of charges of one right-hand side into the results, each pair once. The
/// sources are the targets.
template <class N, class T>
void p2p_mutual(const NearData& near, Pass<T>& pass, int vector);

/// Starts the results with the near field.
template <class T>
void p2p(const NearData& near, Pass<T>& pass);
/// The same of second derivatives, always in double precision.
template <class T>
void p2p_hessian(const NearData& near, Pass<T>& pass);

}  // namespace fmbem::fmm
