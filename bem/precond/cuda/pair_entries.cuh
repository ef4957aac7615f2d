#pragma once

#include <cstdint>

#include "fmbem/bem/precond/cuda/close_table.cuh"
#include "fmbem/bem/precond/system_parts.hpp"
#include "fmbem/cuda/memory.cuh"

namespace fmbem::cuda::bem {

/// The entries between two nodes, by their places among all; −1 where one is not set.
struct PairTask {
  NodePair nodes;
  std::int32_t kl, lk;
};

/// Sets the values of entries between pairs of nodes.
void find_entries(const DeviceRowNodes& of, const CloseTableView& table,
                  const DeviceBuffer<PairTask>& pairs, SetEntry* entries, cudaStream_t stream);

}  // namespace fmbem::cuda::bem
