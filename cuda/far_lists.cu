#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/lists.cuh"
#include "fmbem/cuda/primitives.cuh"
#include "fmbem/fmm/expansion/translations.hpp"

namespace fmbem::cuda {
namespace {

constexpr int places = fmm::orbits - 1;

__global__ void flag_source_boxes(TreeView tree, std::int64_t boxes, std::int32_t* flags) {
  const std::int64_t b = thread_index();
  if (b < boxes) flags[b] = !is_empty(tree.own_sources(static_cast<std::int32_t>(b)));
}

__global__ void flag_target_leaves(TreeView tree, std::int64_t boxes, std::int32_t* flags) {
  const std::int64_t b = thread_index();
  if (b < boxes) flags[b] = tree.split_of[b] < 0 && !is_empty(tree.targets[b]);
}

__global__ void flag_parents(TreeView tree, std::int64_t splits, std::int32_t* flags) {
  const std::int64_t s = thread_index();
  if (s < splits) flags[s] = s > 0 && !is_empty(tree.targets[tree.box_of[s]]);
}

/// Where each level's splits begin among the parents.
__global__ void find_parent_levels(const std::int32_t* parents, std::int32_t n,
                                   const std::int32_t* split_begin, std::int32_t* begin) {
  begin[threadIdx.x] = lower_bound(parents, 0, n, split_begin[threadIdx.x]);
}

struct OrbitTable {
  fmm::OrbitPlace place[places][8];
};

__global__ void list_m2l(TreeView tree, const std::int32_t* parents, std::int64_t n,
                         OrbitTable table, const std::uint32_t* colleagues, std::int32_t* out) {
  const std::int64_t i = thread_index();
  if (i >= n * places * 8) return;
  const fmm::OrbitPlace place = table.place[i / 8 % places][i % 8];
  const std::int32_t split = parents[i / (8 * places)];
  const std::int32_t uncle =
      tree.colleague[27 * static_cast<std::int64_t>(split) + place.colleague];
  const bool acts = !colleagues || (colleagues[tree.box_of[split]] >> place.colleague & 1) != 0;
  std::int32_t box = -1;
  if (acts && uncle >= 0 && tree.split_of[uncle] >= 0)
    box = tree.child[8 * static_cast<std::int64_t>(tree.split_of[uncle]) + place.octant];
  out[i] = box >= 0 && !is_empty(tree.sources[box]) ? box : -1;
}

DeviceBuffer<std::int32_t> boxes_where(void (*flag)(TreeView, std::int64_t, std::int32_t*),
                                       const DeviceTree& tree, cudaStream_t stream) {
  DeviceBuffer<std::int32_t> flags(tree.boxes, stream);
  launch(flag, blocks_for(tree.boxes), threads_per_block, 0, stream, tree.view(), tree.boxes,
         flags.data());
  return where(flags, stream);
}

}  // namespace

M2lRows make_m2l_rows(const DeviceTree& tree, const TreeView& view, cudaStream_t stream,
                      const std::uint32_t* colleagues) {
  M2lRows rows;
  if (tree.splits == 0) return rows;
  DeviceBuffer<std::int32_t> flags(tree.splits, stream);
  launch(flag_parents, blocks_for(tree.splits), threads_per_block, 0, stream, view, tree.splits,
         flags.data());
  rows.parents = where(flags, stream);
  const auto n = static_cast<std::int64_t>(rows.parents.size());
  OrbitTable table;
  const auto all = fmm::orbit_places();
  for (int orbit = 0; orbit < places; ++orbit)
    for (int g = 0; g < 8; ++g) table.place[orbit][g] = all[orbit + 1][g];
  rows.sources = DeviceBuffer<std::int32_t>(n * places * 8, stream);
  launch(list_m2l, blocks_for(n * places * 8), threads_per_block, 0, stream, view,
         rows.parents.data(), n, table, colleagues, rows.sources.data());

  const int levels = static_cast<int>(tree.split_begin.size());
  const auto split_begin = to_device(tree.split_begin, stream);
  DeviceBuffer<std::int32_t> begin(levels, stream);
  launch(find_parent_levels, 1, levels, 0, stream, rows.parents.data(), n, split_begin.data(),
         begin.data());
  rows.parent_begin.resize(levels);
  begin.download(rows.parent_begin.data());
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  return rows;
}

FarLists make_far_lists(const DeviceTree& tree, cudaStream_t stream, bool has_m2l,
                        const std::uint32_t* colleagues) {
  return {boxes_where(flag_source_boxes, tree, stream),
          boxes_where(flag_target_leaves, tree, stream),
          has_m2l ? make_m2l_rows(tree, tree.view(), stream, colleagues) : M2lRows()};
}

}  // namespace fmbem::cuda
