#include <algorithm>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/histogram_tree.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/parts_of_points.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda {
namespace {

using Key = std::uint64_t;

/// Nodes of the complete octree are numbered level by level, by key within a level.
FMBEM_HD constexpr std::int64_t first_node(int level) {
  return ((std::int64_t{1} << 3 * level) - 1) / 7;
}
__device__ inline int level_of_node(std::int64_t node) {
  return level_of(static_cast<Key>(7 * node + 1));
}

/// Where the points of each cell of the finest level begin, [cells + 1].
struct Bookmarks {
  const std::int32_t* begin;
  int finest;

  __device__ int2 range(std::int64_t node) const {
    const int level = level_of_node(node), shift = 3 * (finest - level);
    const std::int64_t key = node - first_node(level);
    return make_int2(begin[key << shift], begin[(key + 1) << shift]);
  }
};

/// The bookmarks of sources and of targets, which may be the same.
struct Cells {
  Bookmarks sources, targets;
  __device__ bool has_points(std::int64_t node) const {
    return !is_empty(sources.range(node)) || !is_empty(targets.range(node));
  }
};

/// The node of the same level at one of the 27 places about a node, −1 beyond the root.
__device__ inline std::int64_t colleague_node(std::int64_t node, int level, int place) {
  const Cell cell = grid_cell(static_cast<Key>(node - first_node(level)));
  const Cell c{cell.x + place / 9 - 1, cell.y + place / 3 % 3 - 1, cell.z + place % 3 - 1};
  if (min(c.x, min(c.y, c.z)) < 0 || max(c.x, max(c.y, c.z)) >= 1 << level) return -1;
  return first_node(level) + static_cast<std::int64_t>(grid_key(c));
}

/// In the order of before, if there is one, in which points are gathered.
__global__ void find_keys(PointsToCount points, double scale, Cube root, Key* keys,
                          Vec3d* gathered) {
  const std::int64_t i = thread_index();
  if (i >= points.count) return;
  const Vec3d point = points.points[gathered ? points.order_before[i] : i];
  keys[i] = morton_key(scale * point, root);
  if (gathered) gathered[i] = point;
}

__global__ void count_in_cells(const Key* keys, std::int64_t n, int shift, std::int32_t* counts,
                               std::int32_t* slot, int* last) {
  const std::int64_t i = thread_index();
  const int own = next_slot(counts, i < n ? static_cast<std::int32_t>(keys[i] >> shift) : -1, last);
  if (i < n) slot[i] = own;
}

struct CellOfPoint {
  const Key* keys;
  int shift;
  __device__ std::int32_t operator()(std::int64_t i) const {
    return static_cast<std::int32_t>(keys[i] >> shift);
  }
};

/// Of the nodes above the finest level.
__global__ void split_crowded(Cells cells, std::int64_t nodes, int max_leaf, std::uint8_t* split) {
  const std::int64_t node = thread_index();
  if (node < nodes)
    split[node] = size_of(cells.sources.range(node)) > max_leaf ||
                  size_of(cells.targets.range(node)) > max_leaf;
}

/// Splits the colleagues of the parents of the boxes of a level that are split, a warp for each
/// parent. Threads that write the same flag write the same value.
__global__ void split_for_grading(Cells cells, int level, std::uint8_t* split) {
  const std::int64_t parent = thread_index() / warp_size;
  if (parent >= std::int64_t{1} << 3 * (level - 1)) return;
  const int lane = threadIdx.x % warp_size;
  if (!__any_sync(whole_warp, lane < 8 && split[first_node(level) + 8 * parent + lane])) return;
  const std::int64_t node =
      lane < 27 ? colleague_node(first_node(level - 1) + parent, level - 1, lane) : -1;
  if (node >= 0 && cells.has_points(node)) split[node] = 1;
}

__global__ void flag_boxes(Cells cells, std::int64_t nodes, const std::uint8_t* split,
                           std::uint8_t* box) {
  const std::int64_t node = thread_index();
  if (node < nodes) box[node] = node == 0 || (split[(node - 1) / 8] && cells.has_points(node));
}

/// Numbers of the first box and the first split of each level, up to one beyond the finest.
__global__ void find_begins(const std::int32_t* box_number, const std::int32_t* split_number,
                            int finest, std::int32_t* begins) {
  const int level = static_cast<int>(threadIdx.x);
  begins[level] = box_number[first_node(level)];
  begins[finest + 2 + level] = split_number[first_node(min(level, finest))];
}

/// Flags and numbers of nodes; there are splits above the finest level alone.
struct Nodes {
  const std::uint8_t *box, *split;
  const std::int32_t *box_number, *split_number;
  std::int64_t count, inner;

  __device__ std::int32_t number(std::int64_t node) const {
    return node >= 0 && box[node] ? box_number[node] : -1;
  }
};

struct BoxArraysOfCells {
  Key* code;
  std::int32_t *split_of, *parent, *box_of, *child, *colleague;
  int2 *sources, *targets;  ///< the latter null where the sources are the targets
};

__global__ void fill_boxes(Cells cells, Nodes nodes, BoxArraysOfCells out) {
  const std::int64_t node = thread_index();
  if (node >= nodes.count || !nodes.box[node]) return;
  const std::int32_t b = nodes.box_number[node];
  const int level = level_of_node(node);
  out.code[b] = first_code(level) + static_cast<Key>(node - first_node(level));
  out.parent[b] = node == 0 ? -1 : nodes.split_number[(node - 1) / 8];
  out.sources[b] = cells.sources.range(node);
  if (out.targets) out.targets[b] = cells.targets.range(node);
  const bool is_split = node < nodes.inner && nodes.split[node];
  out.split_of[b] = is_split ? nodes.split_number[node] : -1;
  if (is_split) out.box_of[nodes.split_number[node]] = b;
}

/// A warp for a split: its children, then its colleagues.
__global__ void fill_splits(Nodes nodes, std::int64_t splits, BoxArraysOfCells out) {
  const std::int64_t s = thread_index() / warp_size;
  if (s >= splits) return;
  const int lane = threadIdx.x % warp_size;
  const Key code = out.code[out.box_of[s]];
  const int level = level_of(code);
  const std::int64_t node = first_node(level) + static_cast<std::int64_t>(key_in(code, level));
  if (lane < 8) out.child[8 * s + lane] = nodes.number(8 * node + 1 + lane);
  if (lane < 27) out.colleague[27 * s + lane] = nodes.number(colleague_node(node, level, lane));
}

/// Points of one kind while they are counted.
struct Counted {
  std::int64_t n;
  const std::int32_t* order_before;
  DeviceBuffer<Key> keys;
  DeviceBuffer<std::int32_t> slot, begin{};
  DeviceBuffer<Vec3d> gathered{};

  Counted(const PointsToCount& points, double scale, const Cube& root, cudaStream_t stream)
      : n(points.count), order_before(points.order_before), keys(n, stream), slot(n, stream) {
    if (order_before) gathered = DeviceBuffer<Vec3d>(n, stream);
    launch(find_keys, blocks_for(n), threads_per_block, 0, stream, points, scale, root, keys.data(),
           gathered.data());
  }

  void count(int level, int* last_slot, cudaStream_t stream) {
    const std::int64_t cells = std::int64_t{1} << 3 * level;
    DeviceBuffer<std::int32_t> counts(cells + 1, stream);
    counts.fill_bytes(0);
    launch(count_in_cells, blocks_for(n), threads_per_block, 0, stream, keys.data(), n,
           3 * (deepest_level - level), counts.data(), slot.data(), last_slot);
    begin = DeviceBuffer<std::int32_t>(cells + 1, stream);
    exclusive_sum(counts.data(), begin.data(), cells + 1, stream);
  }

  CountedPoints sorted(int level, cudaStream_t stream) {
    const int shift = 3 * (deepest_level - level);
    DeviceBuffer<Key> placed(n, stream);
    DeviceBuffer<std::int32_t> index(n, stream);
    launch(place_in_parts<CellOfPoint>, blocks_for(n), threads_per_block, 0, stream, keys.data(), n,
           CellOfPoint{keys.data(), shift}, begin.data(), slot.data(), placed.data(), index.data(),
           nullptr);
    CountedPoints result{.order = DeviceBuffer<std::int32_t>(n, stream),
                         .gathered = {.points = std::move(gathered)}};
    if (order_before) result.gathered.place = DeviceBuffer<std::int32_t>(n, stream);
    launch(rank_in_parts<CellOfPoint>, blocks_for(n), threads_per_block, 0, stream, placed.data(),
           index.data(), n, CellOfPoint{placed.data(), shift}, begin.data(), order_before,
           RankedPoints{nullptr, result.order.data(), result.gathered.place.data()});
    return result;
  }
};

DeviceTree tree_of_cells(const Cube& root, const Cells& cells, bool same, int finest, int max_leaf,
                         cudaStream_t stream) {
  const std::int64_t nodes = first_node(finest + 1), inner = first_node(finest);
  // One more of each, so that scans end with their sums.
  DeviceBuffer<std::uint8_t> split(inner + 1, stream), box(nodes + 1, stream);
  split.fill_bytes(0);
  box.fill_bytes(0);
  launch(split_crowded, blocks_for(inner), threads_per_block, 0, stream, cells, inner, max_leaf,
         split.data());
  for (int level = finest - 1; level > 1; --level)
    launch(split_for_grading, blocks_for(std::int64_t{1} << 3 * (level - 1), warps_per_block),
           threads_per_block, 0, stream, cells, level, split.data());
  launch(flag_boxes, blocks_for(nodes), threads_per_block, 0, stream, cells, nodes, split.data(),
         box.data());
  DeviceBuffer<std::int32_t> box_number(nodes + 1, stream), split_number(inner + 1, stream),
      begins(2 * (finest + 2), stream);
  exclusive_sum(box.data(), box_number.data(), nodes + 1, stream);
  exclusive_sum(split.data(), split_number.data(), inner + 1, stream);
  launch(find_begins, 1, finest + 2, 0, stream, box_number.data(), split_number.data(), finest,
         begins.data());
  std::vector<std::int32_t> host(begins.size());
  begins.download(host.data());
  FMBEM_CUDA(cudaStreamSynchronize(stream));

  DeviceTree tree;
  tree.root = root;
  tree.boxes = host[finest + 1];
  tree.splits = host.back();
  for (int level = 0; level <= finest && host[level] < tree.boxes; ++level) {
    tree.box_begin.push_back(host[level]);
    tree.split_begin.push_back(host[finest + 2 + level]);
  }
  tree.box_begin.push_back(static_cast<std::int32_t>(tree.boxes));
  tree.split_begin.push_back(static_cast<std::int32_t>(tree.splits));
  tree.code = DeviceBuffer<Key>(tree.boxes, stream);
  for (auto* of_boxes : {&tree.split_of, &tree.parent})
    *of_boxes = DeviceBuffer<std::int32_t>(tree.boxes, stream);
  tree.box_of = DeviceBuffer<std::int32_t>(tree.splits, stream);
  tree.child = DeviceBuffer<std::int32_t>(8 * tree.splits, stream);
  tree.colleague = DeviceBuffer<std::int32_t>(27 * tree.splits, stream);
  tree.sources = DeviceBuffer<int2>(tree.boxes, stream);
  if (!same) tree.other_targets = DeviceBuffer<int2>(tree.boxes, stream);
  const Nodes numbered{box.data(),          split.data(), box_number.data(),
                       split_number.data(), nodes,        inner};
  const BoxArraysOfCells out{tree.code.data(),    tree.split_of.data(),     tree.parent.data(),
                             tree.box_of.data(),  tree.child.data(),        tree.colleague.data(),
                             tree.sources.data(), tree.other_targets.data()};
  launch(fill_boxes, blocks_for(nodes), threads_per_block, 0, stream, cells, numbered, out);
  launch(fill_splits, blocks_for(tree.splits, warps_per_block), threads_per_block, 0, stream,
         numbered, tree.splits, out);
  return tree;
}

}  // namespace

std::optional<HistogramTree> build_tree_by_histogram(const Cube& root, double scale,
                                                     PointsToCount sources,
                                                     const PointsToCount* targets, int max_leaf,
                                                     int first_level, cudaStream_t stream) {
  const std::int64_t n = std::max(sources.count, targets ? targets->count : 0);
  const int most = std::min(max_leaf, most_in_part);
  Counted from(sources, scale, root, stream);
  std::optional<Counted> to;
  if (targets) to.emplace(*targets, scale, root, stream);
  DeviceBuffer<int> last_slot(1, stream);
  // The level on which a uniform cloud would have few enough points, and then those below.
  int level = std::min(first_level, deepest_histogram);
  while (level < deepest_histogram && std::int64_t{most} << 3 * level < n) ++level;
  for (;; ++level) {
    // Cells grow in number as points do: clouds that need more are not for a histogram.
    if (level > deepest_histogram || (std::int64_t{1} << 3 * level) > 64 * n) return {};
    last_slot.fill_bytes(0);
    from.count(level, last_slot.data(), stream);
    if (to) to->count(level, last_slot.data(), stream);
    if (download_one(last_slot.data(), stream) < most) break;
  }
  const Bookmarks of_sources{from.begin.data(), level};
  const Cells cells{of_sources, to ? Bookmarks{to->begin.data(), level} : of_sources};
  HistogramTree made{from.sorted(level, stream), {}, {}, level};
  if (to) made.targets = to->sorted(level, stream);
  made.tree = tree_of_cells(root, cells, !targets, level, max_leaf, stream);
  return made;
}

}  // namespace fmbem::cuda
