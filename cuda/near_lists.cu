#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/lists.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda {
namespace {

/// Colleague of a box at a displacement, by way of its parent.
__device__ inline std::int32_t colleague_of(const TreeView& tree, std::int32_t box, int place) {
  const std::int32_t parent = tree.parent[box];
  if (parent < 0) return place == 13 ? box : -1;
  const int octant = static_cast<int>(tree.code[box] & 7);
  const int x = 2 + (octant >> 2 & 1) + place / 9 - 1,
            y = 2 + (octant >> 1 & 1) + place / 3 % 3 - 1,
            z = 2 + (octant & 1) + place % 3 - 1;  // 1 … 4, the parent's own at 2 and 3
  const std::int32_t uncle =
      tree.colleague[27 * static_cast<std::int64_t>(parent) + 9 * (x / 2) + 3 * (y / 2) + z / 2];
  if (uncle < 0 || tree.split_of[uncle] < 0) return -1;
  return tree.child[8 * static_cast<std::int64_t>(tree.split_of[uncle]) + 4 * (x % 2) +
                    2 * (y % 2) + z % 2];
}

/// Rounds of for_near() after which everything is found.
__device__ inline int rounds_of(const TreeView& tree, std::int32_t box) {
  return tree.held ? 3 + tree.level(box) : 3;
}

/// Calls take(box) for what lane `place` (0 … 26) finds: the leaf itself; in a second round the
/// other colleagues, and the children of those that are split; in a third the parent's colleagues
/// that are leaves; then those colleagues of each ancestor that hold sources.
template <class Take>
__device__ inline void for_near(const TreeView& tree, std::int32_t box, int place, int round,
                                bool without_itself, Take&& take) {
  const auto offer = [&](std::int32_t b) {
    if (b >= 0 && !is_empty(tree.own_sources(b))) take(b);
  };
  if (round == 0) {
    if (place == 13 && !without_itself) offer(box);
  } else if (round == 1) {
    const std::int32_t c = place == 13 ? -1 : colleague_of(tree, box, place);
    if (c < 0) return;
    offer(c);
    const std::int32_t split = tree.split_of[c];
    if (split < 0) return;
    for (int octant = 0; octant < 8; ++octant)
      offer(tree.child[8 * static_cast<std::int64_t>(split) + octant]);
  } else {
    std::int32_t ancestor = tree.parent[box];  // a split
    for (int up = 3; up < round && ancestor >= 0; ++up)
      ancestor = tree.parent[tree.box_of[ancestor]];
    if (ancestor < 0) return;
    const std::int32_t c = tree.colleague[27 * static_cast<std::int64_t>(ancestor) + place];
    if (c >= 0 && (round == 2) == (tree.split_of[c] < 0)) offer(c);
  }
}

__device__ inline int items_of(int targets, int most) {
  return most > 0 ? (targets + most - 1) / most : 0;
}

/// Counts of a row: entries and items. A warp a row.
__global__ void count_near(TreeView tree, const std::int32_t* leaves, std::int64_t rows,
                           const std::uint8_t* one_place, int most, std::int32_t* entries,
                           std::int32_t* items, std::int64_t* pairs) {
  const std::int64_t row = thread_index() / warp_size;
  if (row >= rows) return;
  const int lane = threadIdx.x % warp_size;
  const std::int32_t box = leaves[row];
  const bool without_itself = one_place && one_place[box];
  int found = 0;
  long long sources = 0;
  const int rounds = rounds_of(tree, box);
  if (lane < 27)
    for (int round = 0; round < rounds; ++round)
      for_near(tree, box, lane, round, without_itself, [&](std::int32_t b) {
        ++found;
        sources += size_of(tree.own_sources(b));
      });
  for (int step = 1; step < warp_size; step *= 2) {
    found += __shfl_xor_sync(whole_warp, found, step);
    sources += __shfl_xor_sync(whole_warp, sources, step);
  }
  if (lane > 0) return;
  const int targets = size_of(tree.targets[box]);
  entries[row] = found;
  items[row] = items_of(targets, most);
  pairs[row] = sources * targets;
}

__device__ inline NearEntry entry_of(const TreeView& tree, std::int32_t target,
                                     std::int32_t source) {
  const fmm::TreeCell t = tree.cell(target), s = tree.cell(source);
  // Centres in quarters of the target's side: those of a box twice as large are at 8 c + 4.
  const int up = tree.level(target) - tree.level(source);
  const auto shift = [&](int axis) {
    const std::int64_t centre = up > 0    ? 8 * s[axis] + 4
                                : up == 0 ? 4 * s[axis] + 2
                                          : 2 * s[axis] + 1;
    return static_cast<std::int8_t>(centre - (4 * t[axis] + 2));
  };
  const int2 range = tree.own_sources(source);
  return {range.x, size_of(range), {shift(0), shift(1), shift(2)}, static_cast<std::int8_t>(up)};
}

/// The items of a row: equal shares, so that no warp is left with a few targets.
__device__ inline void list_items(std::int64_t row, int2 targets, const std::int32_t* item_begin,
                                  NearItem* items) {
  const std::int32_t first = item_begin[row], parts = item_begin[row + 1] - first;
  std::int32_t from = targets.x;
  for (std::int32_t part = 0; part < parts; ++part) {
    const int left = targets.y - from;
    const int share = min(((left + parts - part - 1) / (parts - part) + 7) / 8 * 8, left);
    items[first + part] = {static_cast<std::int32_t>(row), from, share, part};
    from += share;
  }
}

__global__ void list_near(TreeView tree, const std::int32_t* leaves, std::int64_t rows,
                          const std::uint8_t* one_place, const std::int64_t* begin,
                          const std::int32_t* item_begin, NearEntry* entries, NearItem* items,
                          std::int32_t* own_entries) {
  const std::int64_t row = thread_index() / warp_size;
  if (row >= rows) return;
  const int lane = threadIdx.x % warp_size;
  const std::int32_t box = leaves[row];
  const bool without_itself = one_place && one_place[box];
  std::int64_t place = begin[row];
  const int rounds = rounds_of(tree, box);
  for (int round = 0; round < rounds; ++round) {
    int found = 0;
    if (lane < 27) for_near(tree, box, lane, round, without_itself, [&](std::int32_t) { ++found; });
    const WarpCounts counts(found);
    std::int64_t mine = place + counts.before();
    if (lane < 27)
      for_near(tree, box, lane, round, without_itself,
               [&](std::int32_t b) { entries[mine++] = entry_of(tree, box, b); });
    place += counts.all();
  }
  if (lane > 0) return;
  own_entries[row] = !without_itself && !is_empty(tree.own_sources(box));
  list_items(row, tree.targets[box], item_begin, items);
}

/// As count_near() and list_near(), of rows that are given.
__global__ void count_given(TreeView tree, const std::int32_t* leaves, std::int64_t rows,
                            const std::int64_t* begin, const std::int32_t* sources, int most,
                            std::int32_t* items, std::int64_t* pairs) {
  const std::int64_t row = thread_index();
  if (row >= rows) return;
  std::int64_t near = 0;
  for (std::int64_t k = begin[row]; k < begin[row + 1]; ++k)
    near += size_of(tree.own_sources(sources[k]));
  const int targets = size_of(tree.targets[leaves[row]]);
  items[row] = items_of(targets, most);
  pairs[row] = near * targets;
}

__global__ void list_given(TreeView tree, const std::int32_t* leaves, std::int64_t rows,
                           const std::int64_t* begin, const std::int32_t* sources,
                           const std::int32_t* item_begin, NearEntry* entries, NearItem* items,
                           std::int32_t* own_entries) {
  const std::int64_t row = thread_index() / warp_size;
  if (row >= rows) return;
  const int lane = threadIdx.x % warp_size;
  const std::int32_t box = leaves[row];
  const std::int64_t first = begin[row], last = begin[row + 1];
  for (std::int64_t k = first + lane; k < last; k += warp_size)
    entries[k] = entry_of(tree, box, sources[k]);
  if (lane > 0) return;
  own_entries[row] = first < last && sources[first] == box;
  list_items(row, tree.targets[box], item_begin, items);
}

/// The part of the sort key that orders items of a class: by their number of sources in steps of
/// half an octave, the most first. Long items go first, so that none is alone in the end; within a
/// step neighbours stay together.
constexpr int length_bits = 6;

__device__ inline std::uint32_t shortness(std::int64_t sources) {
  const auto s = static_cast<std::uint32_t>(sources > 2 ? sources : 2);
  const int octave = 31 - __clz(static_cast<int>(s));
  return (1u << length_bits) - 1 - (2 * octave + (s >> (octave - 1) & 1));
}

/// `pairs`: of each row.
__global__ void find_classes(TreeView tree, const std::int32_t* leaves, const std::int64_t* pairs,
                             const NearItem* items, std::int64_t n, std::uint32_t* order,
                             std::int32_t* index) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  const NearItem item = items[i];
  const std::uint32_t targets_a_lane = (item.count + group_lanes - 1) / group_lanes;
  const std::int64_t sources = pairs[item.row] / size_of(tree.targets[leaves[item.row]]);
  order[i] = targets_a_lane << length_bits | shortness(sources);
  index[i] = static_cast<std::int32_t>(i);
}

/// Puts the items in the order of their classes, and notes where each class begins.
__global__ void place_items(const NearItem* items, const std::uint32_t* order,
                            const std::int32_t* index, std::int64_t n, NearItem* sorted,
                            ItemClasses* classes) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  sorted[i] = items[index[i]];
  const std::uint32_t own = order[i] >> length_bits;
  for (std::uint32_t k = i > 0 ? (order[i - 1] >> length_bits) + 1 : 0; k <= own; ++k)
    classes->begin[k] = static_cast<std::int32_t>(i);
  if (i == n - 1)
    for (std::uint32_t k = own + 1; k < most_targets_of_a_lane + 2; ++k)
      classes->begin[k] = static_cast<std::int32_t>(n);
}

template <class T>
T last_of(const DeviceBuffer<T>& buffer, cudaStream_t stream) {
  return download_one(buffer.data() + buffer.size() - 1, stream);
}

/// Of each row, and 0 at the end.
struct RowCounts {
  DeviceBuffer<std::int32_t> items, item_begin;
  DeviceBuffer<std::int64_t> pairs;

  RowCounts(std::int64_t rows, cudaStream_t stream)
      : items(rows + 1, stream), item_begin(rows + 1, stream), pairs(rows + 1, stream) {
    items.fill_bytes(0);
    pairs.fill_bytes(0);
  }
};

/// Room for entries, where lists.begin is there, and for items, whose beginnings are found.
void make_room(NearDeviceLists& lists, RowCounts& counts, cudaStream_t stream) {
  const auto ends = static_cast<std::int64_t>(counts.items.size());
  exclusive_sum(counts.items.data(), counts.item_begin.data(), ends, stream);
  lists.pairs_before = DeviceBuffer<std::int64_t>(ends, stream);
  exclusive_sum(counts.pairs.data(), lists.pairs_before.data(), ends, stream);
  lists.pairs = last_of(lists.pairs_before, stream);
  lists.entries = DeviceBuffer<NearEntry>(last_of(lists.begin, stream), stream);
  lists.items = DeviceBuffer<NearItem>(last_of(counts.item_begin, stream), stream);
  lists.own_entries = DeviceBuffer<std::int32_t>(ends - 1, stream);
}

/// By the number of targets a lane, and the number of sources within that.
void sort_items(NearDeviceLists& lists, const DeviceTree& tree, const std::int32_t* leaves,
                const std::int64_t* pairs, cudaStream_t stream) {
  const auto n = static_cast<std::int64_t>(lists.items.size());
  if (n == 0) return;
  DeviceBuffer<std::uint32_t> keys(n, stream), sorted_keys(n, stream);
  DeviceBuffer<std::int32_t> index(n, stream), sorted_index(n, stream);
  DeviceBuffer<NearItem> sorted(n, stream);
  DeviceBuffer<ItemClasses> classes(1, stream);
  launch(find_classes, blocks_for(n), threads_per_block, 0, stream, tree.view(), leaves, pairs,
         lists.items.data(), n, keys.data(), index.data());
  sort_pairs(keys.data(), sorted_keys.data(), index.data(), sorted_index.data(), n, 4 + length_bits,
             stream);
  launch(place_items, blocks_for(n), threads_per_block, 0, stream, lists.items.data(),
         sorted_keys.data(), sorted_index.data(), n, sorted.data(), classes.data());
  classes.download(&lists.classes);
  FMBEM_CUDA(cudaStreamSynchronize(stream));
  lists.items = std::move(sorted);
}

}  // namespace

NearDeviceLists make_near_lists(const DeviceTree& tree, const DeviceBuffer<std::int32_t>& leaves,
                                const DeviceBuffer<std::uint8_t>& one_place, int most,
                                cudaStream_t stream) {
  NearDeviceLists lists;
  const auto rows = static_cast<std::int64_t>(leaves.size());
  DeviceBuffer<std::int32_t> entries(rows + 1, stream);
  entries.fill_bytes(0);
  RowCounts counts(rows, stream);
  const unsigned blocks = blocks_for(rows, warps_per_block);
  launch(count_near, blocks, threads_per_block, 0, stream, tree.view(), leaves.data(), rows,
         one_place.data(), most, entries.data(), counts.items.data(), counts.pairs.data());
  lists.begin = DeviceBuffer<std::int64_t>(rows + 1, stream);
  exclusive_sum(entries.data(), lists.begin.data(), rows + 1, stream);
  make_room(lists, counts, stream);
  launch(list_near, blocks, threads_per_block, 0, stream, tree.view(), leaves.data(), rows,
         one_place.data(), lists.begin.data(), counts.item_begin.data(), lists.entries.data(),
         lists.items.data(), lists.own_entries.data());
  sort_items(lists, tree, leaves.data(), counts.pairs.data(), stream);
  return lists;
}

NearDeviceLists near_lists_of(const DeviceTree& tree, const DeviceBuffer<std::int32_t>& leaves,
                              NearRows given, int most, cudaStream_t stream) {
  NearDeviceLists lists;
  const auto rows = static_cast<std::int64_t>(leaves.size());
  RowCounts counts(rows, stream);
  lists.begin = std::move(given.begin);
  launch(count_given, blocks_for(rows), threads_per_block, 0, stream, tree.view(), leaves.data(),
         rows, lists.begin.data(), given.sources.data(), most, counts.items.data(),
         counts.pairs.data());
  make_room(lists, counts, stream);
  launch(list_given, blocks_for(rows, warps_per_block), threads_per_block, 0, stream, tree.view(),
         leaves.data(), rows, lists.begin.data(), given.sources.data(), counts.item_begin.data(),
         lists.entries.data(), lists.items.data(), lists.own_entries.data());
  sort_items(lists, tree, leaves.data(), counts.pairs.data(), stream);
  return lists;
}

}  // namespace fmbem::cuda
