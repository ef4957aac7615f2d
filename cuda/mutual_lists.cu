// What P2P by Newton's third law goes through, made from the near lists.
#include "fmbem/cuda/blocks.cuh"
#include "fmbem/cuda/launch.cuh"
#include "fmbem/cuda/p2p_close.cuh"
#include "fmbem/cuda/p2p_mutual.cuh"
#include "fmbem/cuda/primitives.cuh"

namespace fmbem::cuda {
namespace {

struct Rows {
  TreeView tree;
  const std::int32_t* leaves;
  NearListsView lists;
  std::int64_t count;
  int most;  ///< targets of an item

  __device__ int2 points(std::int64_t row) const { return tree.sources[leaves[row]]; }
  __device__ int items_of(int points) const { return (points + most - 1) / most; }
  /// Calls take(entry) for the row's entries of other leaves.
  __device__ void for_others(std::int64_t row, auto&& take) const {
    const std::int64_t end = lists.begin[row + 1];
    for (std::int64_t k = lists.begin[row] + lists.own_entries[row]; k < end; ++k)
      take(lists.entries[k]);
  }
};

struct MutualCounts {
  std::int32_t *later, *earlier;
  std::int64_t* slots;
};

__global__ void count_mutual(Rows rows, MutualCounts counts) {
  const std::int64_t row = thread_index();
  if (row >= rows.count) return;
  const int2 own = rows.points(row);
  int later = 0, earlier = 0;
  std::int64_t sources = 0;
  rows.for_others(row, [&](const NearEntry& other) {
    if (other.begin > own.x) {
      ++later;
      sources += other.count;
    } else {
      earlier += rows.items_of(other.count);
    }
  });
  counts.later[row] = later;
  counts.earlier[row] = earlier;
  counts.slots[row] = sources * rows.items_of(size_of(own));
}

struct RowBegins {
  const std::int64_t *later, *earlier, *slots;
};

/// Of all rows, and one beyond.
__global__ void list_later(Rows rows, RowBegins begins, MutualRow* out, NearEntry* later,
                           std::int32_t* row_of) {
  const std::int64_t row = thread_index();
  if (row > rows.count) return;
  MutualRow made{begins.later[row], begins.earlier[row], begins.slots[row], 0};
  if (row < rows.count) {
    const int2 own = rows.points(row);
    for (int i = own.x; i < own.y; ++i) row_of[i] = static_cast<std::int32_t>(row);
    std::int64_t place = made.later_begin;
    rows.for_others(row, [&](const NearEntry& other) {
      if (other.begin < own.x) return;
      later[place++] = other;
      made.later_sources += other.count;
    });
  }
  out[row] = made;
}

__global__ void list_earlier(Rows rows, const MutualRow* mutual, const NearEntry* later,
                             const std::int32_t* row_of, EarlierSums* earlier) {
  const std::int64_t row = thread_index();
  if (row >= rows.count) return;
  const int2 own = rows.points(row);
  std::int64_t place = mutual[row].earlier_begin;
  rows.for_others(row, [&](const NearEntry& other) {
    if (other.begin > own.x) return;
    const std::int32_t giver = row_of[other.begin];
    std::int64_t slot = mutual[giver].slot_begin;
    for (std::int64_t k = mutual[giver].later_begin; later[k].begin != own.x; ++k)
      slot += later[k].count;
    for (int item = rows.items_of(other.count); item > 0; --item) {
      earlier[place++] = {slot, other.doublings};
      slot += mutual[giver].later_sources;
    }
  });
}

/// A warp for an item; its lanes take sources.
__global__ void flag_close(PointsView<float> points, Rows rows, MutualView lists,
                           const NearItem* items, std::int64_t count, std::int32_t* flags) {
  const std::int64_t i = thread_index() / warp_size;
  if (i >= count) return;
  const NearItem item = items[i];
  const int lane = threadIdx.x % warp_size;
  const auto mark = [&](int target, int source) { flags[target] = flags[source] = 1; };
  const int2 own = rows.points(item.row);
  for (int j = own.x + lane; j < own.y && rows.lists.own_entries[item.row] > 0; j += warp_size)
    for (int t = item.first; t < item.first + item.count; ++t) {
      const float dx = (points.x[t] - points.x[j]) + (points.low_x[t] - points.low_x[j]),
                  dy = (points.y[t] - points.y[j]) + (points.low_y[t] - points.low_y[j]),
                  dz = (points.z[t] - points.z[j]) + (points.low_z[t] - points.low_z[j]);
      if (t != j && square(dx, dy, dz) < close_r2_in_parts) mark(t, j);
    }
  const std::int64_t end = lists.rows[item.row + 1].later_begin;
  for (std::int64_t k = lists.rows[item.row].later_begin; k < end; ++k) {
    const NearEntry other = lists.later[k];
    const float ratio = ldexpf(1, other.doublings), reach = sqrtf(close_r2) * fmaxf(1, ratio);
    for (int j = other.begin + lane; j < other.begin + other.count; j += warp_size) {
      const float x = ratio * points.x[j] + 0.25f * static_cast<float>(other.shift[0]),
                  y = ratio * points.y[j] + 0.25f * static_cast<float>(other.shift[1]),
                  z = ratio * points.z[j] + 0.25f * static_cast<float>(other.shift[2]);
      if (fmaxf(fmaxf(fabsf(x), fabsf(y)), fabsf(z)) >= 0.5f + reach) continue;
      for (int t = item.first; t < item.first + item.count; ++t)
        if (square(points.x[t] - x, points.y[t] - y, points.z[t] - z) < reach * reach) mark(t, j);
    }
  }
}

__global__ void add_rows(const std::int32_t* targets, const std::int32_t* row_of, std::int64_t n,
                         CloseTarget* out) {
  const std::int64_t i = thread_index();
  if (i < n) out[i] = {targets[i], row_of[targets[i]]};
}

Rows rows_of(const PlanTree& tree, int most) {
  return {tree.tree.view(), tree.far.target_leaves.data(), tree.near.view(),
          static_cast<std::int64_t>(tree.far.target_leaves.size()), most};
}

/// Sums of what is before, and of all in the end.
template <class T>
DeviceBuffer<std::int64_t> begins_of(const DeviceBuffer<T>& counts, cudaStream_t stream) {
  DeviceBuffer<std::int64_t> begins(counts.size(), stream);
  exclusive_sum(counts.data(), begins.data(), static_cast<std::int64_t>(counts.size()), stream);
  return begins;
}

}  // namespace

MutualLists make_mutual_lists(const PlanTree& tree, std::int64_t points, int most,
                              cudaStream_t stream) {
  const Rows rows = rows_of(tree, most);
  const std::int64_t n = rows.count;
  DeviceBuffer<std::int32_t> later(n + 1, stream), earlier(n + 1, stream);
  DeviceBuffer<std::int64_t> slots(n + 1, stream);
  later.fill_bytes(0);
  earlier.fill_bytes(0);
  slots.fill_bytes(0);
  launch(count_mutual, blocks_for(n), threads_per_block, 0, stream, rows,
         MutualCounts{later.data(), earlier.data(), slots.data()});
  const auto later_begin = begins_of(later, stream), earlier_begin = begins_of(earlier, stream),
             slot_begin = begins_of(slots, stream);
  MutualLists lists;
  lists.slots = download_one(slot_begin.data() + n, stream);
  lists.rows = DeviceBuffer<MutualRow>(n + 1, stream);
  lists.later = DeviceBuffer<NearEntry>(download_one(later_begin.data() + n, stream), stream);
  lists.earlier = DeviceBuffer<EarlierSums>(download_one(earlier_begin.data() + n, stream), stream);
  lists.row_of = DeviceBuffer<std::int32_t>(points, stream);
  launch(list_later, blocks_for(n + 1), threads_per_block, 0, stream, rows,
         RowBegins{later_begin.data(), earlier_begin.data(), slot_begin.data()}, lists.rows.data(),
         lists.later.data(), lists.row_of.data());
  launch(list_earlier, blocks_for(n), threads_per_block, 0, stream, rows, lists.rows.data(),
         lists.later.data(), lists.row_of.data(), lists.earlier.data());
  return lists;
}

DeviceBuffer<CloseTarget> find_close_targets(const PlanTree& tree, const MutualLists& lists,
                                             const PointsView<float>& points, cudaStream_t stream) {
  DeviceBuffer<std::int32_t> flags(points.count, stream);
  flags.fill_bytes(0);
  const auto items = static_cast<std::int64_t>(tree.near.items.size());
  launch(flag_close, blocks_for(items, warps_per_block), threads_per_block, 0, stream, points,
         rows_of(tree, 1), lists.view(), tree.near.items.data(), items, flags.data());
  const DeviceBuffer<std::int32_t> targets = where(flags, stream);
  const auto n = static_cast<std::int64_t>(targets.size());
  DeviceBuffer<CloseTarget> close(n, stream);
  launch(add_rows, blocks_for(n), threads_per_block, 0, stream, targets.data(), lists.row_of.data(),
         n, close.data());
  return close;
}

}  // namespace fmbem::cuda
