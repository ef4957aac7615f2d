// Points before there is a tree: their bounds, keys and order.
#include <algorithm>
#include <functional>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"
#include "fmbem/cuda/tree.cuh"

namespace fmbem::cuda {
namespace {

using Key = std::uint64_t;

__device__ inline Bounds bounds_of_both(const Bounds& a, const Bounds& b) {
  return {{fmin(a.low.x, b.low.x), fmin(a.low.y, b.low.y), fmin(a.low.z, b.low.z)},
          {fmax(a.high.x, b.high.x), fmax(a.high.y, b.high.y), fmax(a.high.z, b.high.z)},
          min(a.first_bad, b.first_bad)};
}

/// Of all threads of a block, written by one.
__device__ inline void merge_block(const Bounds& mine, Bounds* out) {
  __shared__ Bounds s_bounds[threads_per_block];
  s_bounds[threadIdx.x] = mine;
  __syncthreads();
  for (int half = threads_per_block / 2; half > 0; half /= 2) {
    if (static_cast<int>(threadIdx.x) < half)
      s_bounds[threadIdx.x] = bounds_of_both(s_bounds[threadIdx.x], s_bounds[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = s_bounds[0];
}

__global__ void find_bounds(const Vec3d* points, std::int64_t n, Bounds* partial) {
  Bounds mine{points[0], points[0], n};
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = thread_index(); i < n; i += stride) {
    const Vec3d p = points[i];
    // The difference of an infinity or NaN with itself is NaN.
    const bool is_good = (p.x - p.x) + (p.y - p.y) + (p.z - p.z) == 0;
    mine = bounds_of_both(mine, {p, p, is_good ? n : i});
  }
  merge_block(mine, partial + blockIdx.x);
}

/// By one block.
__global__ void merge_bounds(const Bounds* partial, unsigned n, Bounds* out) {
  Bounds mine = partial[0];
  for (unsigned k = threadIdx.x; k < n; k += blockDim.x) mine = bounds_of_both(mine, partial[k]);
  merge_block(mine, out);
}

/// Keys of the points order[i], or i where there is no order; with the bits of their deepest level
/// alone.
__global__ void make_keys(const Vec3d* points, std::int64_t n, double scale, Cube root,
                          const std::int8_t* deepest, const std::int32_t* order, Key* keys,
                          std::int32_t* index) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const std::int32_t point = order ? order[i] : static_cast<std::int32_t>(i);
  const int level = deepest ? deepest[point] : deepest_level;
  const int shift = 3 * (deepest_level - level);
  keys[i] = morton_key(scale * points[point], root) >> shift << shift;
  if (index) index[i] = point;
}

__global__ void number(std::int32_t* index, std::int64_t n) {
  const std::int64_t i = thread_index();
  if (i < n) index[i] = static_cast<std::int32_t>(i);
}

__global__ void take(const std::int8_t* from, const std::int32_t* order, std::int64_t n,
                     std::int8_t* to) {
  const std::int64_t i = thread_index();
  if (i < n) to[i] = from[order[i]];
}

__global__ void fill(std::int8_t* to, std::int64_t n, int value) {
  const std::int64_t i = thread_index();
  if (i < n) to[i] = static_cast<std::int8_t>(value);
}

__global__ void take_keys(const Key* from, const std::int32_t* order, std::int64_t n, Key* to) {
  const std::int64_t i = thread_index();
  if (i < n) to[i] = from[order[i]];
}

/// Sorts positions by what `deepest` says of them, then by their keys.
SortedKeys sort_by_depth(const std::int8_t* deepest, std::int64_t n,
                         const std::function<void(const std::int32_t* order, Key* keys)>& make,
                         cudaStream_t stream) {
  DeviceBuffer<std::int32_t> index(n, stream), by_depth(n, stream);
  launch(number, blocks_for(n), threads_per_block, 0, stream, index.data(), n);
  SortedKeys sorted{DeviceBuffer<Key>(n, stream), DeviceBuffer<std::int32_t>(n, stream),
                    DeviceBuffer<std::int8_t>(n, stream)};
  sort_pairs(deepest, sorted.deepest.data(), index.data(), by_depth.data(), n, 8, stream);
  DeviceBuffer<Key> keys(n, stream);
  make(by_depth.data(), keys.data());
  sort_pairs(keys.data(), sorted.keys.data(), by_depth.data(), sorted.order.data(), n,
             3 * deepest_level, stream);
  launch(take, blocks_for(n), threads_per_block, 0, stream, deepest, sorted.order.data(), n,
         sorted.deepest.data());
  return sorted;
}

__global__ void make_deep_keys(const Vec3d* points, std::int64_t n, double scale, Cube root,
                               fmm::TreeKey* keys, std::int32_t* index) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  keys[i] = fmm::tree_key(scale * points[i], root);
  index[i] = static_cast<std::int32_t>(i);
}

/// The keys of both, one after the other.
template <class Key>
DeviceBuffer<Key> joined_keys(const SortedKeysOf<Key>& sources, const SortedKeysOf<Key>& targets,
                              cudaStream_t stream) {
  DeviceBuffer<Key> both(sources.size() + targets.size(), stream);
  FMBEM_CUDA(cudaMemcpyAsync(both.data(), sources.keys.data(), sources.keys.bytes(),
                             cudaMemcpyDeviceToDevice, stream));
  FMBEM_CUDA(cudaMemcpyAsync(both.data() + sources.size(), targets.keys.data(),
                             targets.keys.bytes(), cudaMemcpyDeviceToDevice, stream));
  return both;
}

}  // namespace

SortedKeys sort_points(const Vec3d* points, std::int64_t n, double scale, const Cube& root,
                       const std::int8_t* deepest, cudaStream_t stream) {
  const auto make = [&](const std::int32_t* order, Key* keys, std::int32_t* index) {
    launch(make_keys, blocks_for(n), threads_per_block, 0, stream, points, n, scale, root, deepest,
           order, keys, index);
  };
  if (deepest)
    return sort_by_depth(
        deepest, n, [&](const std::int32_t* order, Key* keys) { make(order, keys, nullptr); },
        stream);
  DeviceBuffer<Key> keys(n, stream);
  DeviceBuffer<std::int32_t> index(n, stream);
  make(nullptr, keys.data(), index.data());
  SortedKeys sorted{DeviceBuffer<Key>(n, stream), DeviceBuffer<std::int32_t>(n, stream)};
  sort_pairs(keys.data(), sorted.keys.data(), index.data(), sorted.order.data(), n,
             3 * deepest_level, stream);
  return sorted;
}

DeepKeys sort_points_deep(const Vec3d* points, std::int64_t n, double scale, const Cube& root,
                          cudaStream_t stream) {
  DeviceBuffer<fmm::TreeKey> keys(n, stream);
  DeviceBuffer<std::int32_t> index(n, stream);
  launch(make_deep_keys, blocks_for(n), threads_per_block, 0, stream, points, n, scale, root,
         keys.data(), index.data());
  DeepKeys sorted{DeviceBuffer<fmm::TreeKey>(n, stream), DeviceBuffer<std::int32_t>(n, stream)};
  sort_pairs(keys.data(), sorted.keys.data(), index.data(), sorted.order.data(), n,
             3 * fmm::deepest_tree_level, stream);
  return sorted;
}

DeepKeys merged_keys(const DeepKeys& sources, const DeepKeys& targets, cudaStream_t stream) {
  const DeviceBuffer<fmm::TreeKey> both = joined_keys(sources, targets, stream);
  const auto all = static_cast<std::int64_t>(both.size());
  DeepKeys sorted{DeviceBuffer<fmm::TreeKey>(all, stream), {}};
  sort_keys(both.data(), sorted.keys.data(), all, 3 * fmm::deepest_tree_level, stream);
  return sorted;
}

SortedKeys merged_keys(const SortedKeys& sources, const SortedKeys& targets, cudaStream_t stream) {
  const std::int64_t n = sources.size(), all = n + targets.size();
  const DeviceBuffer<Key> both = joined_keys(sources, targets, stream);
  if (sources.deepest.size() == 0) {
    SortedKeys sorted{DeviceBuffer<Key>(all, stream), {}};
    sort_keys(both.data(), sorted.keys.data(), all, 3 * deepest_level, stream);
    return sorted;
  }
  DeviceBuffer<std::int8_t> deepest(all, stream);
  FMBEM_CUDA(
      cudaMemcpyAsync(deepest.data(), sources.deepest.data(), n, cudaMemcpyDeviceToDevice, stream));
  launch(fill, blocks_for(targets.size()), threads_per_block, 0, stream, deepest.data() + n,
         targets.size(), deepest_level);
  return sort_by_depth(
      deepest.data(), all,
      [&](const std::int32_t* order, Key* keys) {
        launch(take_keys, blocks_for(all), threads_per_block, 0, stream, both.data(), order, all,
               keys);
      },
      stream);
}

Bounds bounds_of(const Vec3d* points, std::int64_t n, cudaStream_t stream) {
  const unsigned blocks = std::min(blocks_for(n), 1024u);
  DeviceBuffer<Bounds> partial(blocks, stream), all(1, stream);
  launch(find_bounds, blocks, threads_per_block, 0, stream, points, n, partial.data());
  launch(merge_bounds, 1, threads_per_block, 0, stream, partial.data(), blocks, all.data());
  return download_one(all.data(), stream);
}

}  // namespace fmbem::cuda
