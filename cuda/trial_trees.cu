#include <algorithm>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/lists.cuh"
#include "fmbem/cuda/merge_leaves.cuh"
#include "fmbem/cuda/trial_trees.cuh"

namespace fmbem::cuda {
namespace {

/// Numbers of points a leaf, ascending.
struct Trials {
  int count;
  int max_leaf[most_trials];

  /// In how many of the trials so many points are too many for a leaf.
  __device__ int below(int points) const {
    int n = 0;
    for (int c = 0; c < count; ++c) n += max_leaf[c] < points;
    return n;
  }
};

__device__ inline int max_of_warp(int x) {
  for (int step = 1; step < warp_size; step *= 2) x = max(x, __shfl_xor_sync(whole_warp, x, step));
  return x;
}
/// Of each split of the finest tree: in how many trials, the first ones, it is split; and in how
/// many of these it asks for the splits of the grading (merge_leaves.hpp).
struct Cuts {
  int *cut, *asks;
};

/// The most that one of the children of a split has, 0 without any.
__device__ inline int most_of_children(const TreeView& tree, std::int64_t split, const int* of) {
  int most = 0;
  for (int octant = 0; octant < 8; ++octant) {
    const std::int32_t child = tree.child[8 * split + octant];
    if (child >= 0 && tree.split_of[child] >= 0) most = max(most, of[tree.split_of[child]]);
  }
  return most;
}

/// For the splits of one level, after those of the next; a warp for each.
__global__ void find_cuts(TreeView tree, std::int32_t first, std::int32_t last, Trials trials,
                          fmm::Leaves leaves, Cuts cuts) {
  const std::int64_t s = first + thread_index() / warp_size;
  if (s >= last) return;
  const int lane = threadIdx.x % warp_size;
  const int points = size_of(tree.sources[tree.box_of[s]]);
  const std::int32_t colleague = lane < 27 ? tree.colleague[27 * s + lane] : -1;
  int crowd = points;
  if (leaves == fmm::Leaves::merged) {
    const int colleagues = sum_of_warp(colleague >= 0),
              around = sum_of_warp(colleague < 0 ? 0 : size_of(tree.sources[colleague]));
    crowd = min(points, (around + colleagues - 1) / colleagues);
  }
  const int own = max(trials.below(crowd), most_of_children(tree, s, cuts.cut));
  const std::int32_t split = colleague < 0 ? -1 : tree.split_of[colleague];
  const int all = max_of_warp(max(own, split < 0 ? 0 : most_of_children(tree, split, cuts.asks)));
  if (lane > 0) return;
  cuts.cut[s] = all;
  cuts.asks[s] = leaves == fmm::Leaves::merged ? own : all;
}

/// Points of those children of a colleague of a box's parent, the one at this place, that touch the
/// box.
__device__ inline int touching_points(const TreeView& tree, std::int32_t split, int place,
                                      int octant) {
  int points = 0;
  for (int other = 0; other < 8; ++other) {
    const std::int32_t child = tree.child[8 * static_cast<std::int64_t>(split) + other];
    const int x = 2 * (place / 9 - 1) + (other >> 2) - (octant >> 2),
              y = 2 * (place / 3 % 3 - 1) + (other >> 1 & 1) - (octant >> 1 & 1),
              z = 2 * (place % 3 - 1) + (other & 1) - (octant & 1);
    if (child >= 0 && max(abs(x), max(abs(y), abs(z))) <= 1) points += size_of(tree.sources[child]);
  }
  return points;
}

using Count = unsigned long long;
struct Counts {
  Count pairs, sources, parents, leaves;

  __device__ void add(const Counts& other) {
    atomicAdd(&pairs, other.pairs);
    atomicAdd(&sources, other.sources);
    atomicAdd(&parents, other.parents);
    atomicAdd(&leaves, other.leaves);
  }
};

/// The level of the roots. They are the first children of the boxes of level 1, and so do not
/// touch.
constexpr int level_of_roots = 2;

/// Adds to counts [roots][most_trials] what the boxes below the roots do in each trial. A warp for
/// a box; its lanes serve the colleagues of the parent, and then the trials.
__global__ void __launch_bounds__(threads_per_block)
    count_boxes_of_trials(TreeView tree, std::int32_t boxes, const int* cut, int roots,
                          Counts* counts) {
  __shared__ Counts s_counts[most_roots * most_trials];
  const int all_counts = roots * most_trials;
  for (int c = threadIdx.x; c < all_counts; c += blockDim.x) s_counts[c] = {};
  __syncthreads();
  const int lane = threadIdx.x % warp_size;
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * warps_per_block;
  for (std::int64_t b = 1 + thread_index() / warp_size; b < boxes; b += warps) {
    const auto box = static_cast<std::int32_t>(b);
    const int level = tree.level(box), octant = static_cast<int>(tree.code[b] & 7);
    if (level <= level_of_roots) continue;
    const int root = tree.octant(box, 1);
    const std::int64_t parent = tree.parent[b];
    const int points = size_of(tree.sources[b]);
    const int begin = tree.split_of[b] < 0 ? 0 : cut[tree.split_of[b]], end = cut[parent];
    Counts mine{};
    if (lane < begin) mine.parents = 1;
    if (begin < end) {
      // A colleague of the parent is split; or it is a leaf, all of whose points are near; or it is
      // not there, as a colleague of the grandparent is a leaf.
      const std::int32_t colleague = lane < 27 ? tree.colleague[27 * parent + lane] : -1;
      const std::int32_t split = colleague < 0 ? -1 : tree.split_of[colleague];
      const int all = colleague < 0 ? 0 : size_of(tree.sources[colleague]);
      const int touching = split < 0 ? 0 : touching_points(tree, split, lane, octant);
      const int cut_of_colleague = split < 0 ? 0 : cut[split];
      int there = most_trials, all_above = 0, cut_above = most_trials;
      if (level > level_of_roots + 1) {
        if (colleague >= 0) there = cut[tree.parent[colleague]];
        const std::int64_t grandparent = tree.parent[tree.box_of[parent]];
        const std::int32_t above = lane < 27 ? tree.colleague[27 * grandparent + lane] : -1;
        if (above >= 0) {
          all_above = size_of(tree.sources[above]);
          cut_above = tree.split_of[above] < 0 ? 0 : cut[tree.split_of[above]];
        }
      }
      for (int c = begin; c < end; ++c) {
        const int sources = sum_of_warp((c < cut_of_colleague ? touching
                                         : c < there          ? all
                                                              : 0) +
                                        (c < cut_above ? 0 : all_above));
        if (lane == c)
          mine = {static_cast<Count>(points) * sources, static_cast<Count>(sources), 0, 1};
      }
    }
    if (lane < end) s_counts[root * most_trials + lane].add(mine);
  }
  __syncthreads();
  for (int c = threadIdx.x; c < all_counts; c += blockDim.x) counts[c].add(s_counts[c]);
}

struct Roots {
  int count;
  Cube root[most_roots];
};

/// Points as they lie in each of the roots, in a unit cube of which these are boxes: [roots][n].
__global__ void place_side_by_side(const Vec3d* points, const std::int32_t* order,
                                   std::int64_t stride, std::int64_t n, double scale, Roots roots,
                                   Vec3d* to) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const Vec3d point = scale * points[order[i * stride]];
  for (int k = 0; k < roots.count; ++k) {
    const Vec3d from = point - roots.root[k].corner;
    Vec3d place;
    for (int axis = 0; axis < 3; ++axis) {
      // A point at the root's upper end is in its last box.
      const double inside = fmin(from[axis] / roots.root[k].side, 1 - 0x1p-30);
      place[axis] = 0.25 * inside + 0.5 * (k >> (2 - axis) & 1);
    }
    to[k * n + i] = place;
  }
}

}  // namespace

std::vector<TreeCounts> count_trees(const Vec3d* points, const std::int32_t* order, std::int64_t n,
                                    std::int64_t stride, double scale, std::span<const Cube> roots,
                                    std::span<const int> max_leaf, fmm::Leaves leaves,
                                    cudaStream_t stream) {
  const std::int64_t in_sample = sample_size(n, stride);
  FMBEM_REQUIRE(!roots.empty() && roots.size() <= most_roots && !max_leaf.empty() &&
                    max_leaf.size() <= most_trials && max_leaf.back() < in_sample,
                "there are 1 to " << most_roots << " roots and 1 to " << most_trials
                                  << " sizes of leaves, each less than all points");
  Roots all{.count = static_cast<int>(roots.size()), .root = {}};
  std::copy(roots.begin(), roots.end(), all.root);
  DeviceBuffer<Vec3d> places(in_sample * roots.size(), stream);
  launch(place_side_by_side, blocks_for(in_sample), threads_per_block, 0, stream, points, order,
         stride, in_sample, scale, all, places.data());
  const Cube unit_cube{{0, 0, 0}, 1};
  const SortedKeys keys = sort_points(places.data(), static_cast<std::int64_t>(places.size()), 1,
                                      unit_cube, nullptr, stream);
  DeviceTree tree = build_tree<std::uint64_t>(unit_cube, keys, nullptr, max_leaf.front(), stream);
  const PlacesInOrder in_order{places.data(), keys.order.data()};
  if (has_crowded_boxes(tree, find_one_places(tree, in_order, in_order, stream), max_leaf.front(),
                        stream))
    tree = build_tree<fmm::TreeKey>(
        unit_cube,
        sort_points_deep(places.data(), static_cast<std::int64_t>(places.size()), 1, unit_cube,
                         stream),
        nullptr, max_leaf.front(), stream);

  Trials trials{.count = static_cast<int>(max_leaf.size()), .max_leaf = {}};
  std::copy(max_leaf.begin(), max_leaf.end(), trials.max_leaf);
  DeviceBuffer<int> cut(tree.splits, stream), asks(tree.splits, stream);
  for (int level = tree.levels() - 1; level >= 0; --level) {
    const std::int32_t first = tree.split_begin[level], last = tree.split_begin[level + 1];
    launch(find_cuts, blocks_for(last - first, warps_per_block), threads_per_block, 0, stream,
           tree.view(), first, last, trials, leaves, Cuts{cut.data(), asks.data()});
  }
  DeviceBuffer<Counts> counts(roots.size() * most_trials, stream);
  counts.fill_bytes(0);
  launch(count_boxes_of_trials, std::min(blocks_for(tree.boxes, warps_per_block), 1024u),
         threads_per_block, 0, stream, tree.view(), static_cast<std::int32_t>(tree.boxes),
         cut.data(), all.count, counts.data());
  std::vector<Counts> host(counts.size());
  counts.download(host.data());
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  std::vector<TreeCounts> result;
  for (int root = 0; root < all.count; ++root) {
    for (int c = 0; c < trials.count; ++c) {
      const Counts& found = host[root * most_trials + c];
      result.push_back(
          {static_cast<std::int64_t>(found.pairs), static_cast<std::int64_t>(found.sources),
           static_cast<std::int64_t>(found.parents), static_cast<std::int64_t>(found.leaves)});
    }
  }
  return result;
}

}  // namespace fmbem::cuda
