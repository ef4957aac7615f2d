#pragma once

#include <cstdint>
#include <vector>

#include "fmbem/bem/precond/cuda/mixed_nodes.cuh"
#include "fmbem/bem/precond/system_parts.hpp"

namespace fmbem::cuda::bem {

/// The cuts of some leaves; nodes of the first one are the first of a batch.
struct LeafBatch {
  const std::int32_t* leaves;
  const std::int64_t* cut_begin;  ///< [count + 1]
  const std::int32_t* cut;        ///< of all leaves
  std::int64_t first_node;        ///< cut_begin[0]
  std::int64_t count;

  __device__ std::int32_t node_begin(std::int64_t f) const {
    return static_cast<std::int32_t>(cut_begin[f] - first_node);
  }
};

/// What laws make of some leaves' systems.
struct LawParts {
  DeviceBuffer<std::int32_t> law_begin, given_begin;  ///< [leaves + 1]
  DeviceBuffer<SystemLaw> laws;
  DeviceBuffer<LawTerm> terms;
  DeviceBuffer<GivenRow> given;
  DeviceBuffer<float> numbers;
};
/// Also sets the laws and shares of the batch's nodes.
LawParts law_parts(const LeafBatch& batch, const DeviceLaws& laws, SystemNode* nodes,
                   cudaStream_t stream);

/// Small systems of mixed rows in parts, leaf after leaf.
struct DeviceBatch {
  DeviceBuffer<std::int32_t> node_begin, entry_begin;  ///< [leaves + 1]
  DeviceBuffer<SystemNode> nodes;
  DeviceBuffer<SetEntry> entries;
  LawParts laws;
};
/// The small systems of leaves [first, last) in parts. `cut_begin` is that of the cuts.
DeviceBatch system_parts(const DeviceMixedNodes& of, const std::vector<std::int64_t>& cut_begin,
                         std::int64_t first, std::int64_t last, cudaStream_t stream);

/// Where the things of each leaf begin, from their numbers, and how many there are.
struct Begins {
  DeviceBuffer<std::int32_t> begin;  ///< [leaves + 1]
  std::int32_t count;
};
/// `counts`: [leaves + 1], the last 0.
Begins begins_of(const DeviceBuffer<std::int32_t>& counts, cudaStream_t stream);

}  // namespace fmbem::cuda::bem
