#pragma once

#include <cstdint>
#include <vector>

#include <cuda_fp16.h>

#include "fmbem/bem/precond/cuda/cluster_tree.cuh"

namespace fmbem::cuda::bem {

/// The length of a leaf's rows: its panels and up to three zeros, so that they are read by fours.
__host__ __device__ inline std::int64_t row_stride(std::int64_t own) { return (own + 3) / 4 * 4; }

/// Rows of the inverse times the extent, rounded to half precision. Those of a leaf start at its
/// begin, [cut][row_stride(panels of the leaf)]; an entry is value × scale of the panel.
struct DeviceRows {
  DeviceBuffer<std::int64_t> begin;  ///< [leaves]
  DeviceBuffer<__half> values;
  DeviceBuffer<float> scale;  ///< [n], powers of two: a row's largest value is in [2^14, 2^15)
};

/// The leaves of cuts: how many panels each has, the place of its first one, and where its cut
/// begins.
struct LeavesOfCuts {
  DeviceBuffer<std::int32_t> own, place;  ///< [leaves]
  std::vector<std::int32_t> own_on_host;  ///< [leaves]
  std::vector<std::int64_t> cut_begin;    ///< [leaves + 1]
};
LeavesOfCuts leaves_of_cuts(const DeviceClusterTree& tree, const DeviceCuts& cuts,
                            cudaStream_t stream);

/// Solves the small systems of all leaves. Throws InputError if one is singular.
DeviceRows solve_systems(const DeviceClusterTree& tree, const DeviceCuts& cuts,
                         const DevicePanels& panels, int max_leaf, cudaStream_t stream);

}  // namespace fmbem::cuda::bem
