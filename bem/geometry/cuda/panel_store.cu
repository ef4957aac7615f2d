#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "fmbem/bem/geometry/cuda/panel_store.cuh"
#include "fmbem/bem/geometry/strip.hpp"
#include "fmbem/bem/geometry/triangle.hpp"
#include "fmbem/bem/near/norm_estimate.hpp"
#include "fmbem/bem/space/cuda/device_pieces.cuh"
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/staging.cuh"

namespace fmbem::cuda::bem {
namespace {

/// Copies the vertices of the panels one by one, `numbers` numbers in all: [n][3].
__global__ void gather_vertices(const Vec3d* vertices, const int* corners,
                                const std::int32_t* order, std::int64_t numbers, Vec3d* to) {
  const std::int64_t k = thread_index();
  if (k >= numbers) return;
  const std::int64_t panel = k / 3, triangle = order ? order[panel] : panel;
  to[k] = vertices[corners[3 * triangle + k % 3]];
}

__global__ void measure(const Vec3d* vertices, std::int64_t n, Vec3d* centroid, double* area,
                        double* radius) {
  const std::int64_t j = thread_index();
  if (j >= n) return;
  const Triangle t = make_triangle(vertices[3 * j], vertices[3 * j + 1], vertices[3 * j + 2]);
  centroid[j] = t.centroid;
  area[j] = t.area;
  radius[j] = t.radius;
}

/// Panels of one set that are another.
struct ChosenPanels {
  const std::int32_t* chosen;
  std::int64_t n;
  const Vec3d *vertices, *centroid;
  const std::uint64_t* keys;
  const double *area, *radius;
};

__global__ void gather_panels(ChosenPanels from, Vec3d* vertices, Vec3d* centroid,
                              std::uint64_t* keys, double* area, double* radius) {
  const std::int64_t k = thread_index();
  if (k >= from.n) return;
  const std::int64_t i = from.chosen[k];
  for (int corner = 0; corner < 3; ++corner)
    vertices[3 * k + corner] = from.vertices[3 * i + corner];
  centroid[k] = from.centroid[i];
  keys[k] = from.keys[i];
  area[k] = from.area[i];
  radius[k] = from.radius[i];
}

/// The longest edge is at most two radii.
__global__ void find_long(const double* area, const double* radius, std::int64_t n, int* found) {
  const std::int64_t j = thread_index();
  if (j < n && 2 * radius[j] * radius[j] > long_aspect * area[j]) *found = 1;
}

__global__ void find_ends(const Vec3d* vertices, std::int64_t n, Vec3d* low, Vec3d* high) {
  const std::int64_t j = thread_index();
  if (j >= n) return;
  Vec3d smallest = vertices[3 * j], largest = smallest;
  for (int k = 1; k < 3; ++k) {
    const Vec3d v = vertices[3 * j + k];
    smallest = {fmin(smallest.x, v.x), fmin(smallest.y, v.y), fmin(smallest.z, v.z)};
    largest = {fmax(largest.x, v.x), fmax(largest.y, v.y), fmax(largest.z, v.z)};
  }
  low[j] = smallest;
  high[j] = largest;
}

bool is_any_long(const PanelStore& panels, cudaStream_t stream) {
  DeviceBuffer<int> found(1, stream);
  found.fill_bytes(0);
  launch(find_long, blocks_for(panels.size()), threads_per_block, 0, stream, panels.area.data(),
         panels.radius.data(), panels.size(), found.data());
  return download_one(found.data(), stream) != 0;
}

/// Threads of a block that adds up a row: there are few rows.
constexpr int share_threads = 1024;

__device__ double add_up(double value) {
  __shared__ double s_sum[share_threads];
  s_sum[threadIdx.x] = value;
  __syncthreads();
  for (int half = share_threads / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half) s_sum[threadIdx.x] += s_sum[threadIdx.x + half];
    __syncthreads();
  }
  const double sum = s_sum[0];
  __syncthreads();
  return sum;
}

/// For every stride-th row, one block each: the sums of the row's first target over near panels, or
/// pieces from −half to half about their centroids, and over all, of which every far_stride-th far
/// one stands for the others.
__global__ void sum_rows(TreeView tree, const std::int32_t* leaves, NearListsView lists,
                         std::int64_t stride, const std::int32_t* source_order,
                         const std::int32_t* target_order, const Vec3d* target,
                         const Vec3d* centroid, const Vec3d* half, const double* area, double kappa,
                         std::int64_t n, std::int64_t far_stride, double* near_sums, double* sums) {
  const std::int64_t row = blockIdx.x * stride;
  const Vec3d x = target[target_order[tree.targets[leaves[row]].x]];
  const auto part = [&](std::int64_t j) {
    return half ? piece_size_over_distance(area[j], centroid[j], half[j], x)
                : panel_size_over_distance(area[j], centroid[j], x, kappa);
  };
  double near = 0, sampled = 0, all = 0;
  for (std::int64_t e = lists.begin[row]; e < lists.begin[row + 1]; ++e) {
    const NearEntry entry = lists.entries[e];
    for (int j = threadIdx.x; j < entry.count; j += blockDim.x) {
      const std::int32_t source = source_order[entry.begin + j];
      const double sum = part(source);
      near += sum;
      if (far_stride > 1 && source % far_stride == 0) sampled += sum;
    }
  }
  for (std::int64_t j = far_stride * threadIdx.x; j < n; j += far_stride * blockDim.x)
    all += part(j);
  near = add_up(near);
  all = add_up(all);
  if (far_stride > 1) all = near + static_cast<double>(far_stride) * (all - add_up(sampled));
  if (threadIdx.x > 0) return;
  near_sums[blockIdx.x] = near;
  sums[blockIdx.x] = all;
}

/// The same of |K| over near panels.
__global__ void sum_fluxes(TreeView tree, const std::int32_t* leaves, NearListsView lists,
                           std::int64_t stride, const std::int32_t* source_order,
                           const std::int32_t* target_order, const Vec3d* target,
                           const Vec3d* vertices, const Vec3d* centroid, const double* area,
                           double* near_sums) {
  const std::int64_t row = blockIdx.x * stride;
  const Vec3d x = target[target_order[tree.targets[leaves[row]].x]];
  double near = 0;
  for (std::int64_t e = lists.begin[row]; e < lists.begin[row + 1]; ++e) {
    const NearEntry entry = lists.entries[e];
    for (int j = threadIdx.x; j < entry.count; j += blockDim.x) {
      const std::int32_t source = source_order[entry.begin + j];
      const Vec3d* const v = vertices + std::int64_t{3} * source;
      near += panel_flux(0.5 * cross(v[1] - v[0], v[2] - v[0]), area[source], centroid[source], x);
    }
  }
  near = add_up(near);
  if (threadIdx.x == 0) near_sums[blockIdx.x] = near;
}

}  // namespace

TrianglesOnDevice::TrianglesOnDevice(std::span<const Vec3d> host_vertices,
                                     std::span<const std::array<int, 3>> host_corners,
                                     cudaStream_t stream)
    : vertices(host_vertices.size(), stream), corners(3 * host_corners.size(), stream) {
  copy_to_device(host_vertices.data(), vertices.size(), vertices.data(), stream);
  copy_to_device(host_corners.data()->data(), corners.size(), corners.data(), stream);
}

PanelStore::PanelStore(const TrianglesOnDevice& triangles, const std::int32_t* order,
                       DeviceBuffer<std::uint64_t> sorted_keys, double diagonal,
                       cudaStream_t stream)
    : vertices(triangles.corners.size(), stream),
      keys(std::move(sorted_keys)),
      centroid(triangles.size(), stream),
      area(triangles.size(), stream),
      radius(triangles.size(), stream),
      extent(diagonal) {
  launch(gather_vertices, blocks_for(3 * size()), threads_per_block, 0, stream,
         triangles.vertices.data(), triangles.corners.data(), order, 3 * size(), vertices.data());
  launch(measure, blocks_for(size()), threads_per_block, 0, stream, vertices.data(), size(),
         centroid.data(), area.data(), radius.data());
  has_long = is_any_long(*this, stream);
}

PanelStore::PanelStore(const PanelStore& all, const DeviceBuffer<std::int32_t>& chosen,
                       cudaStream_t stream)
    : vertices(3 * chosen.size(), stream),
      keys(chosen.size(), stream),
      centroid(chosen.size(), stream),
      area(chosen.size(), stream),
      radius(chosen.size(), stream),
      extent(all.extent) {
  launch(gather_panels, blocks_for(size()), threads_per_block, 0, stream,
         ChosenPanels{chosen.data(), size(), all.vertices.data(), all.centroid.data(),
                      all.keys.data(), all.area.data(), all.radius.data()},
         vertices.data(), centroid.data(), keys.data(), area.data(), radius.data());
  has_long = is_any_long(*this, stream);
}

std::shared_ptr<const PanelStore> store_of(const Panels& panels, cudaStream_t stream) {
  if (panels.on_device) return panels.on_device;
  const TrianglesOnDevice triangles(panels.vertices, panels.corners, stream);
  DeviceBuffer<std::uint64_t> keys(panels.size(), stream);
  copy_to_device(panels.key.data(), keys.size(), keys.data(), stream);
  return std::make_shared<const PanelStore>(triangles, nullptr, std::move(keys), panels.extent,
                                            stream);
}

SpreadTree grow_panel_tree(const PanelStore& panels, const DeviceBuffer<Vec3d>& targets,
                           const SpreadOptions& options, cudaStream_t stream,
                           const DevicePieces* pieces) {
  const std::int64_t n = panels.size();
  if (pieces) {
    const PieceExtents extents = pieces->extents(panels.vertices.data(), stream);
    return grow_spread_tree(
        {extents.centre.data(), extents.low.data(), extents.high.data(), targets.data(),
         pieces->size(), static_cast<std::int64_t>(targets.size())},
        options, stream);
  }
  DeviceBuffer<Vec3d> low(n, stream), high(n, stream);
  launch(find_ends, blocks_for(n), threads_per_block, 0, stream, panels.vertices.data(), n,
         low.data(), high.data());
  return grow_spread_tree({panels.centroid.data(), low.data(), high.data(), targets.data(), n,
                           static_cast<std::int64_t>(targets.size())},
                          options, stream);
}

NormEstimate estimate_norm(const PanelStore& panels, const DeviceBuffer<Vec3d>& targets,
                           const SpreadTree& tree, double kappa, cudaStream_t stream,
                           const DevicePieces* pieces) {
  const auto [stride, rows] = SampledRows(tree.rows());
  DeviceBuffer<double> near_sums(rows, stream), sums(rows, stream);
  std::optional<PieceExtents> extents;
  if (pieces) extents = pieces->extents(panels.vertices.data(), stream);
  launch(sum_rows, static_cast<unsigned>(rows), share_threads, 0, stream, tree.tree.view(),
         tree.far.target_leaves.data(), tree.near.view(), stride, tree.source_order.data(),
         tree.target_order.data(), targets.data(),
         extents ? extents->centre.data() : panels.centroid.data(),
         extents ? extents->half.data() : nullptr,
         extents ? extents->area.data() : panels.area.data(), kappa, tree.sources(),
         extents ? stride_of_far_pieces(tree.sources()) : 1, near_sums.data(), sums.data());
  std::vector<double> near(rows), all(rows);
  near_sums.download(near.data());
  sums.download(all.data());
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return norm_estimate_of(near, all, pieces != nullptr);
}

NormEstimate estimate_double_layer(const PanelStore& panels, const DeviceBuffer<Vec3d>& targets,
                                   const SpreadTree& tree, cudaStream_t stream) {
  const auto [stride, rows] = SampledRows(tree.rows());
  DeviceBuffer<double> near_sums(rows, stream);
  launch(sum_fluxes, static_cast<unsigned>(rows), share_threads, 0, stream, tree.tree.view(),
         tree.far.target_leaves.data(), tree.near.view(), stride, tree.source_order.data(),
         tree.target_order.data(), targets.data(), panels.vertices.data(), panels.centroid.data(),
         panels.area.data(), near_sums.data());
  std::vector<double> near(rows);
  near_sums.download(near.data());
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return double_layer_estimate_of(near);
}

}  // namespace fmbem::cuda::bem
