// Boxes of the deepest level: those whose points all coincide, and those that are too full.
#include <algorithm>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/lists.cuh"

namespace fmbem::cuda {
namespace {

__global__ void flag_one_places(TreeView tree, const std::int32_t first, std::int32_t last,
                                const Vec3d* sources, const std::int32_t* source_order,
                                const Vec3d* targets, const std::int32_t* target_order,
                                std::uint8_t* flags) {
  const std::int64_t i = thread_index() / warp_size;
  if (first + i >= last) return;
  const std::int64_t b = first + i;
  const int lane = threadIdx.x % warp_size;
  const int2 s = tree.sources[b], t = tree.targets[b];
  bool same = !is_empty(s) && !is_empty(t);
  if (same) {
    const Vec3d place = sources[source_order[s.x]];
    for (int k = s.x + lane; k < s.y; k += warp_size)
      same = same && sources[source_order[k]] == place;
    for (int k = t.x + lane; k < t.y; k += warp_size)
      same = same && targets[target_order[k]] == place;
  }
  same = __all_sync(whole_warp, same);
  if (lane == 0) flags[b] = same;
}

__global__ void find_crowded(TreeView tree, std::int32_t first, std::int32_t n,
                             const std::uint8_t* one_place, int max_leaf, std::int32_t* found) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const std::int64_t b = first + i;
  if (!one_place[b] && max(size_of(tree.sources[b]), size_of(tree.targets[b])) > max_leaf)
    *found = 1;
}

}  // namespace

DeviceBuffer<std::uint8_t> find_one_places(const DeviceTree& tree, const PlacesInOrder& sources,
                                           const PlacesInOrder& targets, cudaStream_t stream) {
  const int deepest = tree.deepest();
  if (tree.levels() <= deepest) return {};
  DeviceBuffer<std::uint8_t> flags(tree.boxes, stream);
  flags.fill_bytes(0);
  const std::int32_t first = tree.box_begin[deepest], last = tree.box_begin[deepest + 1];
  launch(flag_one_places, blocks_for(last - first, warps_per_block), threads_per_block, 0, stream,
         tree.view(), first, last, sources.places, sources.order, targets.places, targets.order,
         flags.data());
  return flags;
}

bool has_crowded_boxes(const DeviceTree& tree, const DeviceBuffer<std::uint8_t>& one_place,
                       int max_leaf, cudaStream_t stream) {
  if (one_place.size() == 0) return false;
  DeviceBuffer<std::int32_t> found(1, stream);
  found.fill_bytes(0);
  const std::int32_t first = tree.box_begin[tree.deepest()], n = tree.box_begin.back() - first;
  launch(find_crowded, blocks_for(n), threads_per_block, 0, stream, tree.view(), first, n,
         one_place.data(), max_leaf, found.data());
  return download_one(found.data(), stream) != 0;
}

}  // namespace fmbem::cuda
