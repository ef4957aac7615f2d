#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/cub_primitives.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/lists.cuh"

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

/// What the tree asks for, as fmm::near_lists(): the leaf itself; the other colleagues, and the
/// children and grandchildren of those that are split; the colleagues of parent and grandparent
/// that are leaves; then those colleagues of each ancestor that hold sources. All of them with
/// sources.
struct BoxesByTree {
  const std::uint8_t* one_place;  ///< [boxes], or null: leaves that do not act on themselves

  __device__ int targets_of_an_item(int most, int /*sources*/) const { return most; }
  /// A warp calls take(box) with all lanes, again and again: −1 for lanes that have none.
  template <class Take>
  __device__ void for_row(const TreeView& tree, std::int64_t /*row*/, std::int32_t leaf,
                          Take&& take) const {
    const int place = threadIdx.x % warp_size;
    const auto offer = [&](std::int32_t b) {
      take(b >= 0 && !is_empty(tree.own_sources(b)) ? b : -1);
    };
    offer(place == 13 && !(one_place && one_place[leaf]) ? leaf : -1);
    const std::int32_t colleague = place < 27 && place != 13 ? colleague_of(tree, leaf, place) : -1;
    offer(colleague);
    const auto for_children = [&](std::int32_t box, auto&& use) {
      const std::int64_t split = box < 0 ? -1 : tree.split_of[box];
      if (__any_sync(whole_warp, split >= 0))
        for (int octant = 0; octant < 8; ++octant)
          use(split < 0 ? -1 : tree.child[8 * split + octant]);
    };
    for_children(colleague, [&](std::int32_t child) {
      offer(child);
      for_children(child, offer);
    });
    const auto offer_above = [&](std::int64_t ancestor, bool leaves) {
      const std::int32_t c = place < 27 ? tree.colleague[27 * ancestor + place] : -1;
      offer(c >= 0 && leaves == (tree.split_of[c] < 0) ? c : -1);
    };
    const auto above = [&](std::int64_t ancestor) { return tree.parent[tree.box_of[ancestor]]; };
    const std::int32_t parent = tree.parent[leaf];
    if (parent < 0) return;
    offer_above(parent, true);
    if (const std::int32_t grandparent = above(parent); grandparent >= 0)
      offer_above(grandparent, true);
    for (std::int32_t a = tree.held ? parent : -1; a >= 0; a = above(a)) offer_above(a, false);
  }
};

/// Rows that are given.
struct GivenBoxes {
  const std::int64_t* begin;
  const std::int32_t* sources;
  std::int64_t long_row;

  /// Fewer for rows that else would end long after all others.
  __device__ int targets_of_an_item(int most, int its_sources) const {
    return its_sources > long_row ? group_lanes : most;
  }
  template <class Take>
  __device__ void for_row(const TreeView& /*tree*/, std::int64_t row, std::int32_t /*leaf*/,
                          Take&& take) const {
    for (std::int64_t k = begin[row] + threadIdx.x % warp_size, end = begin[row + 1];
         __any_sync(whole_warp, k < end); k += warp_size)
      take(k < end ? sources[k] : -1);
  }
};

__device__ inline int items_of(int targets, int most) {
  return most > 0 ? (targets + most - 1) / most : 0;
}

/// What is summed up over rows.
struct RowSums {
  std::int64_t entries, pairs;
  std::int64_t slots, earlier;  ///< as of MutualRow
  std::int32_t items;
  __host__ __device__ friend RowSums operator+(const RowSums& a, const RowSums& b) {
    return {a.entries + b.entries, a.pairs + b.pairs, a.slots + b.slots, a.earlier + b.earlier,
            a.items + b.items};
  }
};

/// How a row's entries are divided: the leaf itself, later ones, and the others.
struct RowParts {
  std::int32_t own, later, later_sources;
};

/// Boxes of a row that are noted when they are counted; longer rows are looked for once more.
constexpr int most_noted = 2 * warp_size;

/// A warp a row, and one more for zeros at the end.
template <class Boxes>
__global__ void count_near(TreeView tree, Boxes boxes, const std::int32_t* leaves,
                           std::int64_t rows, int most, RowSums* sums, RowParts* parts,
                           std::int32_t* noted) {
  const std::int64_t row = thread_index() / warp_size;
  if (row > rows) return;
  const int lane = threadIdx.x % warp_size;
  if (row == rows) {
    if (lane == 0) sums[row] = {};
    return;
  }
  const std::int32_t leaf = leaves[row];
  const int first = tree.own_sources(leaf).x;
  RowParts part{};
  int entries = 0, sources = 0, earlier = 0;
  boxes.for_row(tree, row, leaf, [&](std::int32_t b) {
    const unsigned found = __ballot_sync(whole_warp, b >= 0);
    if (b >= 0) {
      const int place = entries + bits_below(found, lane);
      if (place < most_noted) noted[most_noted * row + place] = b;
      const int2 range = tree.own_sources(b);
      const int size = size_of(range);
      sources += size;
      if (b == leaf) {
        part.own = 1;
      } else if (range.x > first) {
        ++part.later;
        part.later_sources += size;
      } else {
        earlier += items_of(size, most);
      }
    }
    entries += __popc(found);
  });
  part = {sum_of_warp(part.own), sum_of_warp(part.later), sum_of_warp(part.later_sources)};
  sources = sum_of_warp(sources);
  earlier = sum_of_warp(earlier);
  if (lane > 0) return;
  const int targets = size_of(tree.targets[leaf]),
            items = items_of(targets, boxes.targets_of_an_item(most, sources));
  parts[row] = part;
  sums[row] = {entries, static_cast<std::int64_t>(sources) * targets,
               static_cast<std::int64_t>(items) * part.later_sources, earlier, items};
}

__device__ inline NearEntry entry_of(const TreeView& tree, std::int32_t target,
                                     std::int32_t source) {
  const fmm::TreeCell t = tree.cell(target), s = tree.cell(source);
  // Centres in eighths of the target's side.
  const int up = tree.level(target) - tree.level(source);
  const auto shift = [&](int axis) {
    const std::int64_t centre = 8 * std::int64_t{s[axis]} + 4;
    return static_cast<std::int8_t>((up < 0 ? centre >> -up : centre << up) -
                                    (8 * std::int64_t{t[axis]} + 4));
  };
  const int2 range = tree.own_sources(source);
  return {range.x, size_of(range), {shift(0), shift(1), shift(2)}, static_cast<std::int8_t>(up)};
}

/// The key by which items are sorted: the number of targets a lane; then the number of sources in
/// steps of half an octave from 2^4 to 2^20, the most first. Long items go first, so that none is
/// alone in the end; within a step neighbours stay together.
constexpr int length_bits = 5, key_bits = 3 + length_bits;

__device__ inline std::uint8_t item_key(int targets, std::int64_t sources) {
  constexpr std::int64_t fewest = 1 << 4, most = (1 << 20) - 1;
  const auto s = static_cast<std::uint32_t>(min(max(sources, fewest), most));
  const int octave = 31 - __clz(static_cast<int>(s)),
            length = 2 * (octave - 4) + static_cast<int>(s >> (octave - 1) & 1);
  const int targets_a_lane = (targets + group_lanes - 1) / group_lanes;
  return static_cast<std::uint8_t>((targets_a_lane + 1) << length_bits) -
         static_cast<std::uint8_t>(length + 1);
}

/// Items in the order of the rows, with their keys and numbers.
struct ItemArrays {
  NearItem* items;
  std::uint8_t* key;
  std::int32_t* index;

  /// Those of a row, by a warp: equal shares, in eights, so that no warp is left with a few.
  __device__ void list(std::int64_t row, int2 targets, std::int32_t first, int parts,
                       std::int64_t sources) const {
    const std::int64_t eights = (size_of(targets) + group_lanes - 1) / group_lanes;
    const auto begin_of = [&](int part) {
      return min(targets.x + group_lanes * static_cast<std::int32_t>(eights * part / parts),
                 targets.y);
    };
    for (int part = threadIdx.x % warp_size; part < parts; part += warp_size) {
      const std::int32_t begin = begin_of(part), count = begin_of(part + 1) - begin;
      items[first + part] = {static_cast<std::int32_t>(row), begin, count, part};
      key[first + part] = item_key(count, sources);
      index[first + part] = first + part;
    }
  }
};

/// What is made of the rows; `mutual` null where it is not wanted.
struct RowArrays {
  std::int64_t *begin, *pairs_before;
  std::int32_t* own_entries;
  MutualRow* mutual;
  NearEntry* entries;
};

/// `sums`: of the rows before. A warp a row, and one more for the ends.
template <class Boxes>
__global__ void list_near(TreeView tree, Boxes boxes, const std::int32_t* leaves, std::int64_t rows,
                          const RowSums* sums, const RowParts* parts, const std::int32_t* noted,
                          RowArrays out, ItemArrays items) {
  const std::int64_t row = thread_index() / warp_size;
  if (row > rows) return;
  const int lane = threadIdx.x % warp_size;
  const RowSums before = sums[row];
  const RowParts part = row < rows ? parts[row] : RowParts{};
  std::int64_t later = before.entries + part.own, earlier = later + part.later;
  if (lane == 0) {
    out.begin[row] = before.entries;
    out.pairs_before[row] = before.pairs;
    if (out.mutual)
      out.mutual[row] = {later, before.slots, before.earlier, part.later, part.later_sources};
    if (row < rows) out.own_entries[row] = part.own;
  }
  if (row == rows) return;
  const std::int32_t leaf = leaves[row];
  const int first = tree.own_sources(leaf).x;
  const auto list = [&](std::int32_t b) {
    const bool is_other = b >= 0 && b != leaf, is_later = is_other && tree.own_sources(b).x > first;
    const unsigned later_ones = __ballot_sync(whole_warp, is_later),
                   earlier_ones = __ballot_sync(whole_warp, is_other && !is_later);
    if (b >= 0)
      out.entries[b == leaf  ? before.entries
                  : is_later ? later + bits_below(later_ones, lane)
                             : earlier + bits_below(earlier_ones, lane)] = entry_of(tree, leaf, b);
    later += __popc(later_ones);
    earlier += __popc(earlier_ones);
  };
  const RowSums end = sums[row + 1];
  const std::int64_t entries = end.entries - before.entries;
  if (entries <= most_noted)
    for (int k = lane; k - lane < entries; k += warp_size)
      list(k < entries ? noted[most_noted * row + k] : -1);
  else
    boxes.for_row(tree, row, leaf, list);
  const int2 targets = tree.targets[leaf];
  if (end.items > before.items)
    items.list(row, targets, before.items, end.items - before.items,
               (end.pairs - before.pairs) / size_of(targets));
}

/// Puts the items in the order of their classes, and notes where each class begins.
__global__ void place_items(const NearItem* items, const std::uint8_t* key,
                            const std::int32_t* index, std::int64_t n, NearItem* sorted,
                            ItemClasses* classes) {
  const std::int64_t i = thread_index();
  if (i >= n) return;
  sorted[i] = items[index[i]];
  const int own = key[i] >> length_bits;
  for (int k = i > 0 ? (key[i - 1] >> length_bits) + 1 : 0; k <= own; ++k)
    classes->begin[k] = static_cast<std::int32_t>(i);
  if (i == n - 1)
    for (int k = own + 1; k < most_targets_of_a_lane + 2; ++k)
      classes->begin[k] = static_cast<std::int32_t>(n);
}

template <class Boxes>
NearDeviceLists lists_of(const DeviceTree& tree, const DeviceBuffer<std::int32_t>& leaves,
                         const Boxes& boxes, int most, cudaStream_t stream) {
  const auto rows = static_cast<std::int64_t>(leaves.size());
  DeviceBuffer<RowSums> counts(rows + 1, stream), sums(rows + 1, stream);
  DeviceBuffer<RowParts> parts(rows, stream);
  DeviceBuffer<std::int32_t> noted(most_noted * rows, stream);
  const unsigned blocks = blocks_for(rows + 1, warps_per_block);
  launch(count_near<Boxes>, blocks, threads_per_block, 0, stream, tree.view(), boxes, leaves.data(),
         rows, most, counts.data(), parts.data(), noted.data());
  exclusive_sum(counts.data(), sums.data(), rows + 1, stream);
  const RowSums all = download_one(sums.data() + rows, stream);

  NearDeviceLists lists;
  lists.pairs = all.pairs;
  lists.slots = all.slots;
  lists.earlier = all.earlier;
  lists.begin = DeviceBuffer<std::int64_t>(rows + 1, stream);
  lists.pairs_before = DeviceBuffer<std::int64_t>(rows + 1, stream);
  lists.own_entries = DeviceBuffer<std::int32_t>(rows, stream);
  lists.entries = DeviceBuffer<NearEntry>(all.entries, stream);
  if (most > 0) lists.mutual = DeviceBuffer<MutualRow>(rows + 1, stream);
  const std::int64_t n = all.items;
  DeviceBuffer<NearItem> items(n, stream);
  DeviceBuffer<std::uint8_t> key(n, stream), sorted_key(n, stream);
  DeviceBuffer<std::int32_t> index(n, stream), sorted_index(n, stream);
  launch(list_near<Boxes>, blocks, threads_per_block, 0, stream, tree.view(), boxes, leaves.data(),
         rows, sums.data(), parts.data(), noted.data(),
         RowArrays{lists.begin.data(), lists.pairs_before.data(), lists.own_entries.data(),
                   lists.mutual.data(), lists.entries.data()},
         ItemArrays{items.data(), key.data(), index.data()});
  if (n == 0) return lists;
  lists.items = DeviceBuffer<NearItem>(n, stream);
  DeviceBuffer<ItemClasses> classes(1, stream);
  sort_pairs(key.data(), sorted_key.data(), index.data(), sorted_index.data(), n, key_bits, stream);
  launch(place_items, blocks_for(n), threads_per_block, 0, stream, items.data(), sorted_key.data(),
         sorted_index.data(), n, lists.items.data(), classes.data());
  lists.classes = download_one(classes.data(), stream);
  return lists;
}

}  // namespace

NearDeviceLists make_near_lists(const DeviceTree& tree, const DeviceBuffer<std::int32_t>& leaves,
                                const DeviceBuffer<std::uint8_t>& one_place, int most,
                                cudaStream_t stream) {
  return lists_of(tree, leaves, BoxesByTree{one_place.data()}, most, stream);
}

NearDeviceLists near_lists_of(const DeviceTree& tree, const DeviceBuffer<std::int32_t>& leaves,
                              const NearRows& given, int most, cudaStream_t stream) {
  return lists_of(tree, leaves,
                  GivenBoxes{given.begin.data(), given.sources.data(), given.long_row}, most,
                  stream);
}

}  // namespace fmbem::cuda
