#include <algorithm>
#include <cmath>
#include <type_traits>

#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/primitives.cuh"
#include "fmbem/cuda/tree_keys.cuh"

namespace fmbem::cuda {
namespace {

/// Counts that the host waits for.
struct Marks {
  int splits, deepest;
};

/// A bit for each level.
template <class Key>
using LevelsOf = std::conditional_t<sizeof(Key) == 8, std::uint32_t, unsigned long long>;

/// Bit l of split[b] says that the box of level l whose first point is b is split.
template <class Levels>
__device__ inline void mark(Levels* split, std::int32_t b, int level, Marks* marks) {
  const Levels before = atomicOr(split + b, Levels{1} << level);
  if (before >> level & 1) return;
  atomicAdd(&marks->splits, 1);
  atomicMax(&marks->deepest, level);
}

__device__ inline int bits_of(std::uint32_t x) { return __popc(x); }
__device__ inline int bits_of(unsigned long long x) { return __popcll(x); }

/// Marks the boxes with more than max_leaf of the points that may sink: a box whose first such
/// point is k is too full if it holds point k + max_leaf. `all` are sources and targets.
template <class Key>
__global__ void mark_crowded(KeysViewOf<Key> points, KeysViewOf<Key> all, int max_leaf,
                             LevelsOf<Key>* split, Marks* marks) {
  constexpr int deepest_level = deepest_level_in<Key>;
  const std::int64_t k = thread_index();
  if (k >= points.size - static_cast<std::int64_t>(max_leaf)) return;
  const Key* const keys = points.key;
  const auto deepest = [&](std::int64_t i) -> int {
    return points.deepest ? points.deepest[i] : deepest_level;
  };
  const int shared = k > 0 ? common_levels(keys[k - 1], keys[k]) : -1;
  // From these levels on k is the first point of its box that may sink: the point before it is in
  // another box, or held.
  const int first = k > 0 ? min(shared + 1, deepest(k - 1)) : 0;
  const int last = min(min(common_levels(keys[k], keys[k + max_leaf]), deepest_level - 1),
                       min(deepest(k), deepest(k + max_leaf)) - 1);
  for (int level = first; level <= last; ++level) {
    const Key key = keys[k] >> 3 * (deepest_level - level);
    const std::int32_t b =
        keys == all.key ? static_cast<std::int32_t>(k) : first_in_box(all, 0, key, level);
    mark(split, b, level, marks);
  }
}

/// What a warp's points are the first of: few of any, so that it looks at eight for each lane,
/// which are on their way together.
template <class Levels>
struct LaneSplits {
  static constexpr int parts = 8, points_of_block = parts * threads_per_block;
  std::int64_t first;  ///< of the lane's points, which are a warp apart
  Levels split[parts];

  __device__ LaneSplits(const Levels* of, std::int64_t n)
      : first(thread_index() / warp_size * warp_size * parts + threadIdx.x % warp_size) {
#pragma unroll
    for (int part = 0; part < parts; ++part) split[part] = point(part) < n ? of[point(part)] : 0;
  }
  __device__ std::int64_t point(int part) const { return first + part * warp_size; }
};

/// Marks the colleagues of the parents of the boxes that are split on `level`. A warp shares them
/// out, as each is found by steps that wait for memory.
template <class Key>
__global__ void grade(KeysViewOf<Key> all, int level, LevelsOf<Key>* split, Marks* marks) {
  constexpr int deepest_level = deepest_level_in<Key>;
  const int lane = threadIdx.x % warp_size, up = level - 1, shift = 3 * (deepest_level - up);
  const LaneSplits<LevelsOf<Key>> own(split, all.size);
#pragma unroll
  for (int part = 0; part < own.parts; ++part) {
    unsigned left = __ballot_sync(whole_warp, (own.split[part] >> level & 1) != 0);
    for (; left != 0; left &= left - 1) {
      const std::int64_t k = own.point(part) - lane + __ffs(static_cast<int>(left)) - 1;
      const auto cell = cell_of(all.key[k] >> shift);
      Key key;
      if (lane >= 27 || !colleague_key(cell, lane, up, key)) continue;
      const std::int32_t b = first_in_box(all, 0, key, up);
      if (b < all.size && all.key[b] >> shift == key) mark(split, b, up, marks);
    }
  }
}

template <class Key>
__global__ void list_splits(const Key* all, std::int32_t n, const LevelsOf<Key>* split, Key* code,
                            std::int32_t* begin, int* count) {
  constexpr int deepest_level = deepest_level_in<Key>;
  const LaneSplits<LevelsOf<Key>> own(split, n);
#pragma unroll
  for (int part = 0; part < own.parts; ++part) {
    const LevelsOf<Key> levels = own.split[part];
    if (levels == 0) continue;
    const std::int64_t k = own.point(part);
    int place = atomicAdd(count, bits_of(levels));  // any order: they are sorted
    for (int level = 0; level < deepest_level; ++level) {
      if (!(levels >> level & 1)) continue;
      code[place] = first_code<Key>(level) + (all[k] >> 3 * (deepest_level - level));
      begin[place++] = static_cast<std::int32_t>(k);
    }
  }
}

template <class Key>
__global__ void count_children(KeysViewOf<Key> all, const Key* split_code,
                               const std::int32_t* begin, std::int32_t splits, std::int32_t* child,
                               std::int32_t* children) {
  const std::int64_t i = thread_index();
  const std::int64_t s = i / 8;
  bool present = false;
  if (s < splits) {
    const int2 range = box_range(all, begin[s], split_code[s] << 3 | static_cast<Key>(i % 8));
    present = range.x < range.y;
  }
  const unsigned siblings = __ballot_sync(whole_warp, present) >> (threadIdx.x % warp_size / 8 * 8);
  if (s >= splits) return;
  const unsigned before = siblings & ((1u << i % 8) - 1);
  child[i] = present ? __popc(before) : -1;
  if (i % 8 == 0) children[s] = __popc(siblings & 0xffu);
}

template <class Key>
struct BoxArrays {
  Key* code;
  std::int32_t *split_of, *parent, *box_of, *child;
  std::int32_t* held;       // null for points
  int2 *sources, *targets;  // the latter null where the sources are the targets
};

/// Number of the split with this code, −1 for a leaf.
template <class Key>
__device__ inline std::int32_t find_code(const Key* codes, std::int32_t n, Key code) {
  const std::int32_t s = lower_bound(codes, 0, n, code);
  return s < n && codes[s] == code ? s : -1;
}

/// How many sources in the range of a split box may not sink below it.
template <class Key>
__device__ inline std::int32_t held_of(const KeysViewOf<Key>& sources, int2 range, int level) {
  std::int32_t first = range.x, end = range.y;
  while (first < end) {  // they have its corner's key, and so come first
    const std::int32_t middle = first + (end - first) / 2;
    if (sources.key[middle] == sources.key[range.x] && sources.deepest[middle] <= level)
      first = middle + 1;
    else
      end = middle;
  }
  return first - range.x;
}

template <class Key>
__global__ void make_boxes(KeysViewOf<Key> sources, KeysViewOf<Key> targets, const Key* split_code,
                           std::int32_t splits, const std::int32_t* child_offset,
                           BoxArrays<Key> boxes) {
  const std::int64_t i = thread_index();
  if (i >= 8 * static_cast<std::int64_t>(splits) && i > 0) return;
  const auto fill_box = [&](std::int32_t b, Key code, std::int32_t parent) {
    boxes.code[b] = code;
    boxes.parent[b] = parent;
    const int2 own = box_range(sources, 0, code);
    boxes.sources[b] = own;
    if (boxes.targets) boxes.targets[b] = box_range(targets, 0, code);
    const std::int32_t split = find_code(split_code, splits, code);
    boxes.split_of[b] = split;
    if (split >= 0) boxes.box_of[split] = b;
    if (boxes.held) boxes.held[b] = split >= 0 ? held_of(sources, own, level_of(code)) : 0;
  };
  if (i == 0) fill_box(0, 1, -1);
  if (splits == 0 || boxes.child[i] < 0) return;
  const auto s = static_cast<std::int32_t>(i / 8);
  const std::int32_t b = 1 + child_offset[s] + boxes.child[i];
  boxes.child[i] = b;
  fill_box(b, split_code[s] << 3 | static_cast<Key>(i % 8), s);
}

template <class Key>
__global__ void find_colleagues(const Key* code, std::int32_t boxes, const std::int32_t* box_of,
                                std::int32_t splits, std::int32_t* colleague) {
  const std::int64_t i = thread_index();
  if (i >= 27 * static_cast<std::int64_t>(splits)) return;
  const Key own = code[box_of[i / 27]];
  const int level = level_of(own);
  Key key;
  const bool inside =
      colleague_key(cell_of(key_in(own, level)), static_cast<int>(i % 27), level, key);
  colleague[i] = inside ? find_code(code, boxes, first_code<Key>(level) + key) : -1;
}

/// First of the ascending codes on each level.
template <class Key>
__global__ void find_levels(const Key* code, std::int32_t n, std::int32_t* begin) {
  const int level = static_cast<int>(threadIdx.x);
  begin[level] = lower_bound(code, 0, n, first_code<Key>(level));
}
template <class Key>
constexpr int most_levels = deepest_level_in<Key> + 1;  // one more would not fit into a code

/// Halves of codes of more than 64 bits.
__global__ void take_apart(const fmm::TreeKey* code, std::int64_t n, std::uint64_t* lower,
                           std::uint64_t* upper) {
  const std::int64_t b = thread_index();
  if (b >= n) return;
  lower[b] = static_cast<std::uint64_t>(code[b]);
  upper[b] = static_cast<std::uint64_t>(code[b] >> 64);
}

__global__ void place_flagged(const std::int32_t* flags, const std::int32_t* offset, std::int32_t n,
                              std::int32_t* out) {
  const std::int64_t i = thread_index();
  if (i < n && flags[i]) out[offset[i]] = static_cast<std::int32_t>(i);
}

/// The boxes that are split, ascending by code.
template <class Key>
struct Splits {
  std::int32_t count = 0;
  DeviceBuffer<Key> code{};
  DeviceBuffer<std::int32_t> begin{};  ///< first of all points in each
};

template <class Key>
Splits<Key> find_splits(const SortedKeysOf<Key>& sources, const SortedKeysOf<Key>* targets,
                        const KeysViewOf<Key>& all, int max_leaf, cudaStream_t stream) {
  DeviceBuffer<LevelsOf<Key>> split(all.size, stream);
  DeviceBuffer<Marks> marks(1, stream);
  split.fill_bytes(0);
  marks.fill_bytes(0);
  for (const SortedKeysOf<Key>* points : {&sources, targets}) {
    if (!points) continue;
    launch(mark_crowded<Key>, blocks_for(std::max<std::int64_t>(points->size() - max_leaf, 0)),
           threads_per_block, 0, stream, points->view(), all, max_leaf, split.data(), marks.data());
  }
  const int deepest = download_one(marks.data(), stream).deepest;
  const unsigned blocks = blocks_for(all.size, LaneSplits<LevelsOf<Key>>::points_of_block);
  for (int level = deepest; level > 1; --level)
    launch(grade<Key>, blocks, threads_per_block, 0, stream, all, level, split.data(),
           marks.data());
  Splits<Key> splits{.count = download_one(marks.data(), stream).splits};
  const std::int32_t n = splits.count;
  splits.code = DeviceBuffer<Key>(n, stream);
  splits.begin = DeviceBuffer<std::int32_t>(n, stream);
  if (n == 0) return splits;
  DeviceBuffer<Key> code(n, stream);
  DeviceBuffer<std::int32_t> begin(n, stream);
  DeviceBuffer<int> count(1, stream);
  count.fill_bytes(0);
  launch(list_splits<Key>, blocks, threads_per_block, 0, stream, all.key, all.size, split.data(),
         code.data(), begin.data(), count.data());
  sort_pairs(code.data(), splits.code.data(), begin.data(), splits.begin.data(), n,
             3 * deepest_level_in<Key> + 1, stream);
  return splits;
}

/// Where the boxes and the splits of each level begin.
template <class Key>
void find_level_begins(DeviceTree& tree, const Key* code, const Splits<Key>& splits,
                       cudaStream_t stream) {
  constexpr int most = most_levels<Key>;
  DeviceBuffer<std::int32_t> begins(2 * most, stream);
  launch(find_levels<Key>, 1, most, 0, stream, code, tree.boxes, begins.data());
  launch(find_levels<Key>, 1, most, 0, stream, splits.code.data(), splits.count,
         begins.data() + most);
  std::vector<std::int32_t> host(2 * most);
  begins.download(host.data());
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  for (int level = 0; level < most && host[level] < tree.boxes; ++level) {
    tree.box_begin.push_back(host[level]);
    tree.split_begin.push_back(host[most + level]);
  }
  tree.box_begin.push_back(tree.boxes);
  tree.split_begin.push_back(splits.count);
}

}  // namespace

double DeviceTree::side(int level) const { return std::ldexp(root.side, -level); }

std::int64_t DeviceTree::bytes() const {
  return code.bytes() + upper_code.bytes() + split_of.bytes() + parent.bytes() + box_of.bytes() +
         child.bytes() + colleague.bytes() + sources.bytes() + other_targets.bytes() + held.bytes();
}

template <class Key>
DeviceTree build_tree(const Cube& root, const SortedKeysOf<Key>& sources,
                      const SortedKeysOf<Key>* targets, int max_leaf, cudaStream_t stream) {
  SortedKeysOf<Key> merged;
  if (targets) merged = merged_keys(sources, *targets, stream);
  const KeysViewOf<Key> all = targets ? merged.view() : sources.view();
  const Splits<Key> splits = find_splits(sources, targets, all, max_leaf, stream);
  const std::int64_t n = splits.count;

  DeviceTree tree;
  tree.root = root;
  tree.splits = splits.count;
  tree.child = DeviceBuffer<std::int32_t>(8 * n, stream);
  tree.box_of = DeviceBuffer<std::int32_t>(n, stream);
  DeviceBuffer<std::int32_t> children(n + 1, stream), child_offset(n + 1, stream);
  children.fill_bytes(0);
  launch(count_children<Key>, blocks_for(8 * n), threads_per_block, 0, stream, all,
         splits.code.data(), splits.begin.data(), splits.count, tree.child.data(), children.data());
  exclusive_sum(children.data(), child_offset.data(), n + 1, stream);
  const std::int32_t boxes = 1 + download_one(child_offset.data() + n, stream);
  tree.boxes = boxes;
  DeviceBuffer<Key> code(boxes, stream);
  tree.split_of = DeviceBuffer<std::int32_t>(boxes, stream);
  tree.parent = DeviceBuffer<std::int32_t>(boxes, stream);
  tree.sources = DeviceBuffer<int2>(boxes, stream);
  if (targets) tree.other_targets = DeviceBuffer<int2>(boxes, stream);
  if (all.deepest) tree.held = DeviceBuffer<std::int32_t>(boxes, stream);
  launch(make_boxes<Key>, blocks_for(std::max<std::int64_t>(8 * n, 1)), threads_per_block, 0,
         stream, sources.view(), targets ? targets->view() : KeysViewOf<Key>{}, splits.code.data(),
         splits.count, child_offset.data(),
         BoxArrays<Key>{code.data(), tree.split_of.data(), tree.parent.data(), tree.box_of.data(),
                        tree.child.data(), tree.held.data(), tree.sources.data(),
                        tree.other_targets.data()});
  tree.colleague = DeviceBuffer<std::int32_t>(27 * n, stream);
  launch(find_colleagues<Key>, blocks_for(27 * n), threads_per_block, 0, stream, code.data(), boxes,
         tree.box_of.data(), splits.count, tree.colleague.data());
  find_level_begins(tree, code.data(), splits, stream);
  if constexpr (sizeof(Key) == 8) {
    tree.code = std::move(code);
  } else {
    tree.code = DeviceBuffer<std::uint64_t>(boxes, stream);
    tree.upper_code = DeviceBuffer<std::uint64_t>(boxes, stream);
    launch(take_apart, blocks_for(boxes), threads_per_block, 0, stream, code.data(), boxes,
           tree.code.data(), tree.upper_code.data());
  }
  return tree;
}
template DeviceTree build_tree(const Cube&, const SortedKeys&, const SortedKeys*, int,
                               cudaStream_t);
template DeviceTree build_tree(const Cube&, const DeepKeys&, const DeepKeys*, int, cudaStream_t);

DeviceBuffer<std::int32_t> where(const DeviceBuffer<std::int32_t>& flags, cudaStream_t stream) {
  const auto n = static_cast<std::int32_t>(flags.size());
  if (n == 0) return {};
  DeviceBuffer<std::int32_t> offset(n, stream);
  exclusive_sum(flags.data(), offset.data(), n, stream);
  const std::int32_t last = download_one(offset.data() + n - 1, stream);
  DeviceBuffer<std::int32_t> found(last + download_one(flags.data() + n - 1, stream), stream);
  launch(place_flagged, blocks_for(n), threads_per_block, 0, stream, flags.data(), offset.data(), n,
         found.data());
  return found;
}

}  // namespace fmbem::cuda
