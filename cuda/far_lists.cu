#include <algorithm>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/cub_primitives.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/level_begins.cuh"
#include "fmbem/cuda/lists.cuh"
#include "fmbem/fmm/expansion/translations.hpp"

namespace fmbem::cuda {
namespace {

constexpr int orbit_places = fmm::orbits - 1, of_orbits = orbit_places * 8;

/// In which lists a box is; and, summed up, how many of the boxes before it are there.
struct InLists {
  std::int32_t source_boxes, target_leaves, parents;
  __host__ __device__ friend InLists operator+(const InLists& a, const InLists& b) {
    return {a.source_boxes + b.source_boxes, a.target_leaves + b.target_leaves,
            a.parents + b.parents};
  }
};

__device__ inline InLists lists_with(const TreeView& tree, std::int32_t box) {
  const std::int32_t split = tree.split_of[box];
  const bool has_targets = !is_empty(tree.targets[box]);
  return {!is_empty(tree.own_sources(box)), split < 0 && has_targets, split > 0 && has_targets};
}

/// Of all boxes, and zeros at the end.
__global__ void find_in_lists(TreeView tree, std::int64_t boxes, InLists* in) {
  const std::int64_t b = thread_index();
  if (b <= boxes) in[b] = b < boxes ? lists_with(tree, static_cast<std::int32_t>(b)) : InLists{};
}

/// How long the lists are, and where each level's parents begin.
struct ListSizes {
  InLists all;
  std::int32_t parent_begin[fmm::deepest_tree_level + 2];
};

__global__ void find_sizes(const InLists* before, LevelBegins levels, std::int64_t boxes,
                           ListSizes* sizes) {
  sizes->parent_begin[threadIdx.x] = before[levels.at[threadIdx.x]].parents;
  if (threadIdx.x == 0) sizes->all = before[boxes];
}

__global__ void place_in_lists(TreeView tree, std::int64_t boxes, const InLists* before,
                               std::int32_t* source_boxes, std::int32_t* target_leaves,
                               std::int32_t* parents) {
  const std::int64_t b = thread_index();
  if (b >= boxes) return;
  const auto box = static_cast<std::int32_t>(b);
  const InLists in = lists_with(tree, box), at = before[b];
  if (in.source_boxes) source_boxes[at.source_boxes] = box;
  if (in.target_leaves) target_leaves[at.target_leaves] = box;
  if (in.parents && parents) parents[at.parents] = tree.split_of[box];
}

struct OrbitTable {
  fmm::OrbitPlace place[of_orbits];
};

/// A block takes parent after parent, and each of its threads one place among the orbits.
__global__ void __launch_bounds__(of_orbits)
    list_m2l(TreeView tree, const std::int32_t* parents, std::int32_t n,
             const __grid_constant__ OrbitTable table, const std::uint32_t* colleagues,
             std::int32_t* out) {
  const fmm::OrbitPlace place = table.place[threadIdx.x];
  for (auto i = static_cast<std::int32_t>(blockIdx.x); i < n;
       i += static_cast<std::int32_t>(gridDim.x)) {
    const std::int64_t split = parents[i];
    const std::int32_t uncle = tree.colleague[27 * split + place.colleague];
    const bool acts = !colleagues || (colleagues[tree.box_of[split]] >> place.colleague & 1) != 0;
    std::int32_t box = -1;
    if (acts && uncle >= 0 && tree.split_of[uncle] >= 0)
      box = tree.child[8 * static_cast<std::int64_t>(tree.split_of[uncle]) + place.octant];
    out[of_orbits * static_cast<std::int64_t>(i) + threadIdx.x] =
        box >= 0 && !is_empty(tree.sources[box]) ? box : -1;
  }
}

void list_orbits(M2lRows& rows, const TreeView& view, const std::uint32_t* colleagues,
                 cudaStream_t stream) {
  const auto n = static_cast<std::int64_t>(rows.parents.size());
  OrbitTable table;
  const auto all = fmm::orbit_places();
  for (int orbit = 0; orbit < orbit_places; ++orbit)
    for (int g = 0; g < 8; ++g) table.place[8 * orbit + g] = all[orbit + 1][g];
  rows.sources = DeviceBuffer<std::int32_t>(n * of_orbits, stream);
  launch(list_m2l, static_cast<unsigned>(std::min<std::int64_t>(n, 2048)), of_orbits, 0, stream,
         view, rows.parents.data(), static_cast<std::int32_t>(n), table, colleagues,
         rows.sources.data());
}

/// Of a view of the tree.
FarLists lists_of_boxes(const DeviceTree& tree, const TreeView& view, bool has_m2l,
                        const std::uint32_t* colleagues, cudaStream_t stream) {
  const std::int64_t boxes = tree.boxes;
  DeviceBuffer<InLists> in(boxes + 1, stream), before(boxes + 1, stream);
  DeviceBuffer<ListSizes> on_device(1, stream);
  launch(find_in_lists, blocks_for(boxes + 1), threads_per_block, 0, stream, view, boxes,
         in.data());
  exclusive_sum(in.data(), before.data(), boxes + 1, stream);
  const std::size_t ends = tree.box_begin.size();
  launch(find_sizes, 1, static_cast<unsigned>(ends), 0, stream, before.data(),
         LevelBegins(tree.box_begin), boxes, on_device.data());
  const ListSizes sizes = download_one(on_device.data(), stream);

  FarLists lists;
  lists.source_boxes = DeviceBuffer<std::int32_t>(sizes.all.source_boxes, stream);
  lists.target_leaves = DeviceBuffer<std::int32_t>(sizes.all.target_leaves, stream);
  if (has_m2l) lists.m2l.parents = DeviceBuffer<std::int32_t>(sizes.all.parents, stream);
  launch(place_in_lists, blocks_for(boxes), threads_per_block, 0, stream, view, boxes,
         before.data(), lists.source_boxes.data(), lists.target_leaves.data(),
         lists.m2l.parents.data());
  if (has_m2l && tree.splits > 0) {
    lists.m2l.parent_begin.assign(sizes.parent_begin, sizes.parent_begin + ends);
    list_orbits(lists.m2l, view, colleagues, stream);
  }
  return lists;
}

}  // namespace

M2lRows make_m2l_rows(const DeviceTree& tree, const TreeView& view, cudaStream_t stream,
                      const std::uint32_t* colleagues) {
  return lists_of_boxes(tree, view, true, colleagues, stream).m2l;
}

FarLists make_far_lists(const DeviceTree& tree, cudaStream_t stream, bool has_m2l,
                        const std::uint32_t* colleagues) {
  return lists_of_boxes(tree, tree.view(), has_m2l, colleagues, stream);
}

}  // namespace fmbem::cuda
