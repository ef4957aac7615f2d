#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/parts_of_points.cuh"
#include "fmbem/cuda/primitives.cuh"
#include "fmbem/cuda/resort_points.cuh"

namespace fmbem::cuda {
namespace {

using Key = std::uint64_t;

/// The leaf of each point in the tree's order. A warp for each leaf.
__global__ void spread_leaves(TreeView tree, const std::int32_t* leaves, std::int64_t n,
                              std::int32_t* leaf_at) {
  const std::int64_t i = thread_index() / warp_size;
  if (i >= n) return;
  const std::int32_t leaf = leaves[i];
  const int2 range = tree.sources[leaf];
  for (int k = range.x + static_cast<int>(threadIdx.x) % warp_size; k < range.y; k += warp_size)
    leaf_at[k] = leaf;
}

__device__ inline bool holds(const TreeView& tree, std::int32_t box, Key key) {
  const Key code = tree.code[box];
  const int level = level_of(code);
  return key >> 3 * (deepest_level - level) == key_in(code, level);
}

/// The leaf that holds a key, or else the last one before it, or the first.
__device__ inline std::int32_t leaf_before(const TreeView& tree, const std::int32_t* leaf_at,
                                           Key key) {
  std::int32_t box = 0;
  for (int level = 0;; ++level) {
    int before = tree.sources[box].x;  // points
    const std::int64_t split = tree.split_of[box];
    if (!is_empty(tree.sources[box])) {
      if (split < 0) return box;
      const int octant = static_cast<int>(key >> 3 * (deepest_level - 1 - level) & 7);
      box = tree.child[8 * split + octant];
      if (box >= 0) continue;
      for (int other = 0; other < octant; ++other) {
        const std::int32_t child = tree.child[8 * split + other];
        if (child >= 0) before = tree.sources[child].y;
      }
    }
    return leaf_at[max(before - 1, 0)];
  }
}

/// In the order of before. A part is known by the first point of its leaf.
__global__ void count_in_parts(PointsToCount points, double scale, Cube root, TreeView tree,
                               const std::int32_t* leaf_at, Key* keys, Vec3d* gathered,
                               std::int32_t* part, std::int32_t* counts, std::int32_t* slot,
                               int* last) {
  const std::int64_t k = thread_index();
  int mine = 0;
  if (k < points.count) {
    const Vec3d point = points.points[points.order_before[k]];
    gathered[k] = point;
    const Key key = keys[k] = morton_key(scale * point, root);
    std::int32_t leaf = leaf_at[k];
    if (!holds(tree, leaf, key)) leaf = leaf_before(tree, leaf_at, key);
    const std::int32_t own = part[k] = tree.sources[leaf].x;
    slot[k] = mine = atomicAdd(counts + own, 1);
  }
  note_last_slot(mine, last);
}

struct PartOfPoint {
  const std::int32_t* part;
  __device__ std::int32_t operator()(std::int64_t k) const { return part[k]; }
};

/// A point's rank in its part, as in a histogram's cell. A warp for each leaf.
__global__ void __launch_bounds__(threads_per_block)
    rank_in_parts(TreeView tree, const std::int32_t* leaves, std::int64_t n,
                  const std::int32_t* begin, const Key* keys, const std::int32_t* places,
                  const std::int32_t* order_before, Key* to_keys, std::int32_t* to_order,
                  std::int32_t* to_place) {
  __shared__ Key s_keys[warps_per_block][most_in_part];
  const std::int64_t i = thread_index() / warp_size;
  if (i >= n) return;
  const int lane = threadIdx.x % warp_size;
  Key* const own_keys = s_keys[threadIdx.x / warp_size];
  const int part = tree.sources[leaves[i]].x, first = begin[part], count = begin[part + 1] - first;
  for (int k = lane; k < count; k += warp_size) own_keys[k] = keys[first + k];
  __syncwarp();
  for (int k = lane; k < count; k += warp_size) {
    const Key own = own_keys[k];
    const std::int32_t place = places[first + k], index = order_before[place];
    int rank = first, equal = 0;
#pragma unroll 4
    for (int j = 0; j < count; ++j) {
      rank += own_keys[j] < own;
      equal += own_keys[j] == own;
    }
    for (int j = 0; j < count && equal > 1; ++j)
      rank += own_keys[j] == own && order_before[places[first + j]] < index;
    to_keys[rank] = own;
    to_order[rank] = index;
    to_place[rank] = place;
  }
}

}  // namespace

std::optional<ResortedPoints> resort_points(const PointsToCount& points, double scale,
                                            const Cube& root, const TreeView& tree,
                                            const DeviceBuffer<std::int32_t>& leaves,
                                            cudaStream_t stream) {
  const std::int64_t n = points.count, n_leaves = static_cast<std::int64_t>(leaves.size());
  const unsigned blocks = blocks_for(n), blocks_of_leaves = blocks_for(n_leaves, warps_per_block);
  DeviceBuffer<Key> keys(n, stream);
  DeviceBuffer<std::int32_t> leaf_at(n, stream), part(n, stream), slot(n, stream),
      counts(n + 1, stream), begin(n + 1, stream);
  DeviceBuffer<int> last_slot(1, stream);
  ResortedPoints result;
  result.gathered.points = DeviceBuffer<Vec3d>(n, stream);
  counts.fill_bytes(0);
  last_slot.fill_bytes(0);
  launch(spread_leaves, blocks_of_leaves, threads_per_block, 0, stream, tree, leaves.data(),
         n_leaves, leaf_at.data());
  launch(count_in_parts, blocks, threads_per_block, 0, stream, points, scale, root, tree,
         leaf_at.data(), keys.data(), result.gathered.points.data(), part.data(), counts.data(),
         slot.data(), last_slot.data());
  exclusive_sum(counts.data(), begin.data(), n + 1, stream);
  if (download_one(last_slot.data(), stream) >= most_in_part) return {};
  DeviceBuffer<Key> placed(n, stream);
  DeviceBuffer<std::int32_t> places(n, stream);
  launch(place_in_parts<PartOfPoint>, blocks, threads_per_block, 0, stream, keys.data(), n,
         PartOfPoint{part.data()}, begin.data(), slot.data(), placed.data(), places.data());
  result.sorted.keys = std::move(keys);
  result.sorted.order = DeviceBuffer<std::int32_t>(n, stream);
  result.gathered.place = DeviceBuffer<std::int32_t>(n, stream);
  launch(rank_in_parts, blocks_of_leaves, threads_per_block, 0, stream, tree, leaves.data(),
         n_leaves, begin.data(), placed.data(), places.data(), points.order_before,
         result.sorted.keys.data(), result.sorted.order.data(), result.gathered.place.data());
  return result;
}

}  // namespace fmbem::cuda
