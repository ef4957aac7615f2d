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

/// Parts are the places of the order of before. Keys of a leaf are shared out in proportion among
/// the places of its points; those that no leaf holds go to the last place before them.
__device__ inline std::int32_t part_of_key(const TreeView& tree, std::int32_t leaf, Key key) {
  constexpr int bits = 31;
  const Key code = tree.code[leaf];
  const int level = level_of(code), shift = 3 * (deepest_level - level);
  const int2 range = tree.sources[leaf];
  const Key own = key_in(code, level), cell = key >> shift;
  if (cell != own) return cell < own ? range.x : range.y - 1;
  const Key inside = key - (own << shift),
            share = shift > bits ? inside >> (shift - bits) : inside << (bits - shift);
  return range.x + static_cast<std::int32_t>(share * static_cast<Key>(size_of(range)) >> bits);
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

/// In the order of before.
__global__ void count_in_parts(PointsToCount points, double scale, Cube root, TreeView tree,
                               const std::int32_t* leaf_at, Key* keys, Vec3d* gathered,
                               std::int32_t* part, std::int32_t* counts, std::int32_t* slot,
                               int* last) {
  const std::int64_t k = thread_index();
  std::int32_t own = -1;
  if (k < points.count) {
    const Vec3d point = points.points[points.order_before[k]];
    gathered[k] = point;
    const Key key = keys[k] = morton_key(scale * point, root);
    std::int32_t leaf = leaf_at[k];
    if (!holds(tree, leaf, key)) leaf = leaf_before(tree, leaf_at, key);
    own = part[k] = part_of_key(tree, leaf, key);
  }
  const int mine = next_slot(counts, own, last);
  if (k < points.count) slot[k] = mine;
}

struct PartOfPoint {
  const std::int32_t* part;
  __device__ std::int32_t operator()(std::int64_t k) const { return part[k]; }
};

}  // namespace

std::optional<ResortedPoints> resort_points(const PointsToCount& points, double scale,
                                            const Cube& root, const TreeView& tree,
                                            const DeviceBuffer<std::int32_t>& leaves,
                                            cudaStream_t stream) {
  const std::int64_t n = points.count, n_leaves = static_cast<std::int64_t>(leaves.size());
  const unsigned blocks = blocks_for(n);
  DeviceBuffer<Key> keys(n, stream);
  DeviceBuffer<std::int32_t> leaf_at(n, stream), part(n, stream), slot(n, stream),
      counts(n + 1, stream), begin(n + 1, stream);
  DeviceBuffer<int> last_slot(1, stream);
  ResortedPoints result;
  result.gathered.points = DeviceBuffer<Vec3d>(n, stream);
  counts.fill_bytes(0);
  last_slot.fill_bytes(0);
  launch(spread_leaves, blocks_for(n_leaves, warps_per_block), threads_per_block, 0, stream, tree,
         leaves.data(), n_leaves, leaf_at.data());
  launch(count_in_parts, blocks, threads_per_block, 0, stream, points, scale, root, tree,
         leaf_at.data(), keys.data(), result.gathered.points.data(), part.data(), counts.data(),
         slot.data(), last_slot.data());
  exclusive_sum(counts.data(), begin.data(), n + 1, stream);
  if (download_one(last_slot.data(), stream) >= most_in_part) return {};
  DeviceBuffer<Key> placed(n, stream);
  DeviceBuffer<std::int32_t> place(n, stream), placed_part(n, stream);
  launch(place_in_parts<PartOfPoint>, blocks, threads_per_block, 0, stream, keys.data(), n,
         PartOfPoint{part.data()}, begin.data(), slot.data(), placed.data(), place.data(),
         placed_part.data());
  result.sorted.keys = std::move(keys);
  result.sorted.order = DeviceBuffer<std::int32_t>(n, stream);
  result.gathered.place = DeviceBuffer<std::int32_t>(n, stream);
  launch(rank_in_parts<PartOfPoint>, blocks, threads_per_block, 0, stream, placed.data(),
         place.data(), n, PartOfPoint{placed_part.data()}, begin.data(), points.order_before,
         RankedPoints{result.sorted.keys.data(), result.sorted.order.data(),
                      result.gathered.place.data()});
  return result;
}

}  // namespace fmbem::cuda
