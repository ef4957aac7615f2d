#pragma once

#include <cstdint>

#include "fmbem/bem/cuda/cluster_tree.cuh"

namespace fmbem::cuda {

/// Entries of a row of the rows of a leaf: its panels and up to three zeros, to be read by fours.
__host__ __device__ inline std::int64_t row_stride(std::int64_t own) { return (own + 3) / 4 * 4; }

/// Rows of the inverse times the extent: leaf after leaf, [cut][row_stride(panels of the leaf)].
struct DeviceRows {
  DeviceBuffer<std::int64_t> begin;  ///< [leaves + 1]
  DeviceBuffer<float> values;
};

/// Solves the small systems of all leaves. Throws InputError if one is singular.
DeviceRows solve_systems(const DeviceClusterTree& tree, const DeviceCuts& cuts,
                         const Triangle* triangles, double extent, int max_leaf,
                         cudaStream_t stream);

}  // namespace fmbem::cuda
