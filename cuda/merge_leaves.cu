#include <type_traits>
#include <vector>

#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/level_begins.cuh"
#include "fmbem/cuda/merge_leaves.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda {
namespace {

/// Which splits last by their own points.
__global__ void find_lasting_by_points(TreeView tree, std::int64_t splits, int max_leaf,
                                       bool* crowded) {
  const std::int64_t s = thread_index();
  if (s < splits) crowded[s] = crowd_about(tree, static_cast<std::int32_t>(s)) > max_leaf;
}

__device__ inline bool has_lasting_child(const TreeView& tree, std::int64_t split,
                                         const std::int32_t* lasts) {
  for (int octant = 0; octant < 8; ++octant) {
    const std::int32_t child = tree.child[8 * split + octant];
    if (child >= 0 && tree.split_of[child] >= 0 && lasts[tree.split_of[child]]) return true;
  }
  return false;
}

/// The splits of a level that last not for the grading alone; and the grading that they ask for:
/// the colleagues of their parents last, too. A thread for each colleague.
__global__ void grade_lasting(TreeView tree, std::int32_t first, std::int64_t count,
                              const bool* crowded, std::int32_t* lasts) {
  const std::int64_t i = thread_index();
  if (i >= 27 * count) return;
  const std::int64_t split = first + i / 27;
  if (!crowded[split] && !has_lasting_child(tree, split, lasts)) return;
  lasts[split] = 1;
  const std::int32_t parent = tree.parent[tree.box_of[split]];
  if (parent < 0) return;
  const std::int32_t c = tree.colleague[27 * static_cast<std::int64_t>(parent) + i % 27];
  if (c >= 0) lasts[tree.split_of[c]] = 1;
}

/// Whether there are splits that do not last.
__global__ void find_lost(const std::int32_t* lasts, std::int64_t splits, int* lost) {
  const std::int64_t s = thread_index();
  if (s < splits && !lasts[s]) *lost = 1;
}

__global__ void find_boxes_left(TreeView tree, std::int64_t boxes, const std::int32_t* lasts,
                                std::int32_t* is_left) {
  const std::int64_t b = thread_index();
  if (b > boxes) return;
  is_left[b] = b < boxes && (tree.parent[b] < 0 || lasts[tree.parent[b]]);
}

/// Where boxes and splits that are left come to be: the number of those before.
struct Left {
  const std::int32_t *boxes, *splits;  ///< flags
  const std::int32_t *new_box, *new_split;
};

__device__ inline std::int32_t box_now(const Left& left, std::int32_t box) {
  return box >= 0 && left.boxes[box] ? left.new_box[box] : -1;
}

/// What a tree is made of.
struct TreeArrays {
  std::uint64_t *code, *upper_code;
  std::int32_t *split_of, *parent, *box_of, *child, *colleague, *held;
  int2 *sources, *targets;
};
TreeArrays arrays_of(const DeviceTree& tree) {
  return {tree.code.data(),    tree.upper_code.data(),   tree.split_of.data(),  tree.parent.data(),
          tree.box_of.data(),  tree.child.data(),        tree.colleague.data(), tree.held.data(),
          tree.sources.data(), tree.other_targets.data()};
}

__global__ void copy_boxes(TreeArrays from, std::int64_t boxes, Left left, TreeArrays to) {
  const std::int64_t b = thread_index();
  if (b >= boxes || !left.boxes[b]) return;
  const std::int32_t now = left.new_box[b], split = from.split_of[b], parent = from.parent[b];
  const bool lasts = split >= 0 && left.splits[split];
  to.code[now] = from.code[b];
  if (from.upper_code) to.upper_code[now] = from.upper_code[b];
  to.split_of[now] = lasts ? left.new_split[split] : -1;
  to.parent[now] = parent < 0 ? -1 : left.new_split[parent];
  if (from.held) to.held[now] = lasts ? from.held[b] : 0;
  to.sources[now] = from.sources[b];
  if (from.targets) to.targets[now] = from.targets[b];
}

/// Children and colleagues of the splits that last; a thread for each.
__global__ void copy_splits(TreeArrays from, std::int64_t splits, Left left, TreeArrays to) {
  constexpr int numbers = 8 + 27;
  const std::int64_t i = thread_index(), split = i / numbers;
  const int k = static_cast<int>(i % numbers);
  if (split >= splits || !left.splits[split]) return;
  const std::int64_t now = left.new_split[split];
  if (k == 0) to.box_of[now] = left.new_box[from.box_of[split]];
  if (k < 8)
    to.child[8 * now + k] = box_now(left, from.child[8 * split + k]);
  else
    to.colleague[27 * now + k - 8] = box_now(left, from.colleague[27 * split + k - 8]);
}

/// Where the levels begin now, [levels + 1] each.
__global__ void find_begins(LevelBegins boxes, LevelBegins splits, Left left,
                            std::int32_t* begins) {
  begins[threadIdx.x] = left.new_box[boxes.at[threadIdx.x]];
  begins[blockDim.x + threadIdx.x] = left.new_split[splits.at[threadIdx.x]];
}

/// The splits that last, [splits], and 0; empty if all do.
DeviceBuffer<std::int32_t> lasting_splits(const DeviceTree& tree, int max_leaf,
                                          cudaStream_t stream) {
  DeviceBuffer<std::int32_t> lasts(tree.splits + 1, stream);
  DeviceBuffer<bool> crowded(tree.splits, stream);
  DeviceBuffer<int> lost(1, stream);
  lasts.fill_bytes(0);
  lost.fill_bytes(0);
  launch(find_lasting_by_points, blocks_for(tree.splits), threads_per_block, 0, stream, tree.view(),
         tree.splits, max_leaf, crowded.data());
  for (int level = tree.levels() - 2; level >= 0; --level) {
    const std::int32_t first = tree.split_begin[level];
    const std::int64_t count = tree.split_begin[level + 1] - first;
    launch(grade_lasting, blocks_for(27 * count), threads_per_block, 0, stream, tree.view(), first,
           count, crowded.data(), lasts.data());
  }
  launch(find_lost, blocks_for(tree.splits), threads_per_block, 0, stream, lasts.data(),
         tree.splits, lost.data());
  if (download_one(lost.data(), stream) == 0) return {};
  return lasts;
}

/// Finds where the levels begin, and so how many boxes and splits there are.
void set_levels(DeviceTree& tree, const DeviceTree& before, const Left& left, cudaStream_t stream) {
  const auto ends = static_cast<int>(before.box_begin.size());
  DeviceBuffer<std::int32_t> begins(2 * ends, stream);
  launch(find_begins, 1, ends, 0, stream, LevelBegins(before.box_begin),
         LevelBegins(before.split_begin), left, begins.data());
  std::vector<std::int32_t> host(2 * ends);
  begins.download(host.data());
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  tree.boxes = host[ends - 1];
  tree.splits = host[2 * ends - 1];
  for (int level = 0; level < ends && (level == 0 || host[level - 1] < tree.boxes); ++level) {
    tree.box_begin.push_back(host[level]);
    tree.split_begin.push_back(host[ends + level]);
  }
}

}  // namespace

void merge_leaves(DeviceTree& tree, int max_leaf, cudaStream_t stream) {
  const DeviceBuffer<std::int32_t> lasts = lasting_splits(tree, max_leaf, stream);
  if (lasts.size() == 0) return;
  const std::int64_t boxes = tree.boxes, splits = tree.splits;
  DeviceBuffer<std::int32_t> is_left(boxes + 1, stream), new_box(boxes + 1, stream),
      new_split(splits + 1, stream);
  launch(find_boxes_left, blocks_for(boxes + 1), threads_per_block, 0, stream, tree.view(), boxes,
         lasts.data(), is_left.data());
  exclusive_sum(is_left.data(), new_box.data(), boxes + 1, stream);
  exclusive_sum(lasts.data(), new_split.data(), splits + 1, stream);
  const Left left{is_left.data(), lasts.data(), new_box.data(), new_split.data()};
  DeviceTree merged;
  merged.root = tree.root;
  set_levels(merged, tree, left, stream);
  const std::int64_t n = merged.boxes, m = merged.splits;
  const auto as = [&](const auto& array, std::int64_t size) {  // none where there was none
    return std::remove_cvref_t<decltype(array)>(array.size() > 0 ? size : 0, stream);
  };
  merged.code = as(tree.code, n);
  merged.upper_code = as(tree.upper_code, n);
  merged.split_of = as(tree.split_of, n);
  merged.parent = as(tree.parent, n);
  merged.sources = as(tree.sources, n);
  merged.other_targets = as(tree.other_targets, n);
  merged.held = as(tree.held, n);
  merged.box_of = as(tree.box_of, m);
  merged.child = as(tree.child, 8 * m);
  merged.colleague = as(tree.colleague, 27 * m);
  const TreeArrays from = arrays_of(tree), to = arrays_of(merged);
  launch(copy_boxes, blocks_for(boxes), threads_per_block, 0, stream, from, boxes, left, to);
  launch(copy_splits, blocks_for(35 * splits), threads_per_block, 0, stream, from, splits, left,
         to);
  if (merged.levels() <= deepest_level) merged.upper_code = {};  // all zeros now
  tree = std::move(merged);
}

}  // namespace fmbem::cuda
